"""From a query to one score per tool: lexical, dense, and both. REPORT.md has the formulas and what each part gives."""

import re

import numpy as np

from lexical import STOP
from words import split

DENSE = 0.75  # share of the dense side in the mix
CLAUSE = 0.2  # share of the best clause in a request of several
NEAREST, NEAR = 20, 0.2  # how many are compared piece by piece, and what that may add
PIECES = 32  # of a tool, that are compared
BREAK = re.compile(r"[.?!;:\n]+\s+|,\s+|\s+(?:and|then|also|because|but|while)\s+", re.I)


def spread(scores):
    """Scaled to 0..1 within one query."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def share_of_best(scores):
    """As a share of the best score within one query; what is below zero counts nothing. The minimum of all tools is not needed."""
    high = scores.max()
    return np.maximum(scores, 0) / high if high > 0 else np.zeros_like(scores)


def clauses(query):
    """The parts of a request that could stand alone (three words that mean something), if there are several."""
    parts = [c for c in BREAK.split(query) if sum(word not in STOP for word in split(c)) >= 3]
    return parts if len(parts) > 1 else []


class Ranking:
    share = DENSE

    def __init__(self, documents, lexical, model):
        self.lexical, self.model = lexical, model
        self.vectors = np.stack([model.document(d) for d in documents])
        self.says = np.linalg.norm(model.vectors, axis=1)
        self.units = model.vectors / np.maximum(self.says, 1e-9)[:, None]
        self.pieces = [self._pieces(d) for d in documents]

    def _pieces(self, document):
        """The distinct pieces of name, first sentence, server and parameter names, in this order."""
        ids = [i for f in (1, 2, 0, 4) for i in self.model.pieces.ids(document[f])[: self.model.limits[f]]]
        return list(dict.fromkeys(ids))[:PIECES]

    def lexical_only(self, query):
        return self.lexical.scores(query)

    def dense_only(self, query):
        return self.vectors @ self.model.query(query)

    def meaning(self, query):
        return share_of_best(self.dense_only(query))

    def simple(self, query):
        return (1 - self.share) * share_of_best(self.lexical_only(query)) + self.share * self.meaning(query)

    def with_clauses(self, query):
        whole, parts = self.simple(query), [self.simple(c) for c in clauses(query)]
        return (1 - CLAUSE) * whole + CLAUSE * np.max(parts, axis=0) if parts else whole

    def fused(self, query):
        scores = self.with_clauses(query)
        ids = list(dict.fromkeys(self.model.pieces.ids(query)))
        if not ids:
            return scores
        top = np.lexsort((np.arange(len(scores)), -scores))[:NEAREST]
        result = scores - 2  # whatever is not compared stays behind, in its order
        result[top] = scores[top] + NEAR * spread(np.array([self._near(ids, tool) for tool in top]))
        return result

    def _near(self, ids, tool):
        """How near the pieces of the query come to some piece of the tool, by how much each says."""
        if not self.pieces[tool]:
            return 0.0
        best = (self.units[ids] @ self.units[self.pieces[tool]].T).max(1)
        return float(best @ self.says[ids] / self.says[ids].sum())
