"""From a query to one score per tool: lexical, dense, and both."""

import numpy as np


def spread(scores):
    """Scaled to 0..1 within one query."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


class Ranking:
    def __init__(self, documents, lexical, model, dense=0.5):
        self.lexical, self.model, self.dense = lexical, model, dense
        self.vectors = np.stack([model.document(d) for d in documents])

    def lexical_only(self, query):
        return self.lexical.scores(query)

    def dense_only(self, query):
        return self.vectors @ self.model.query(query)

    def simple(self, query):
        return (1 - self.dense) * spread(self.lexical_only(query)) + self.dense * spread(self.dense_only(query))

    def fused(self, query):
        return self.simple(query)
