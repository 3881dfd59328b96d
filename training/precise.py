"""What the precise tier gives: the sentence encoder (`precise.bin`) as the larger part of the dense side.

    python training/precise.py --sets ../shared/eval/dev --model crates/toolfold-index/data/model.bin --encoder precise.bin
"""

import argparse

import numpy as np

import data
from bert import from_file
from evaluate import held_invented, held_out, read_all, table
from model import load
from ranking import Ranking, clauses

ENCODER, DENSE = 0.6, 0.8  # share of the encoder in the dense side, and of the dense side in the mix
SAMPLE = 256  # tools whose mean similarity is the zero of a query


class Precise(Ranking):
    share = DENSE

    def __init__(self, documents, lexical, model, encoder, queries):
        super().__init__(documents, lexical, model)
        self.tools = encoder.encode([data.text_of(d) for d in documents])
        texts = [t for q in queries for t in (q, *clauses(q))]
        self.encoded = dict(zip(texts, encoder.encode(texts)))

    def encoder_only(self, query):
        return self.tools @ self.encoded[query]

    def meaning(self, query):
        return (1 - ENCODER) * super().meaning(query) + ENCODER * above_mean(self.encoder_only(query))


def above_mean(scores):
    """An encoder's cosines lie close together: the mean of a sample counts as nothing, the best as one."""
    low = scores[:: -(-len(scores) // SAMPLE)].mean()
    return np.maximum(scores - low, 0) / max(scores.max() - low, 1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sets", "model", "encoder"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pairs", help="folder of own pairs: adds the held-out servers (needs --shared)")
    parser.add_argument("--shared")
    options = parser.parse_args()
    sets, model, encoder = read_all(options.sets), load(options.model), from_file(options.encoder)
    if options.pairs:
        sets += [held_out(options.shared, options.pairs), held_invented(options.pairs)]
    rankings = {s.name: Precise(s.documents, s.lexical, model, encoder, s.queries) for s in sets}
    for kind in ("encoder_only", "fused"):
        table(kind, sets, lambda s: getattr(rankings[s.name], kind))


if __name__ == "__main__":
    main()
