"""What a sentence encoder as a second dense side would give (the precise tier).

    python training/precise.py --sets ../shared/eval/dev --model crates/toolfold-index/data/model.bin \\
        --encoder SOURCES/gte-small --int8 WORK/gte-small.int8.onnx
"""

import argparse

import numpy as np

import data
from evaluate import read_all, table
from model import load
from ranking import Ranking, spread
from teacher import Teacher

ENCODER = 0.4  # share of the encoder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sets", "model", "encoder", "int8"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    sets, model, encoder = read_all(options.sets), load(options.model), Teacher(options.encoder, options.int8, threads=1)
    encoded, rankings = {}, {}
    for s in sets:
        tools = encoder.encode([data.text_of(d) for d in s.documents], longest=64)
        encoded[s.name] = dict(zip(s.queries, encoder.encode(s.queries, longest=64) @ tools.T))
        rankings[s.name] = Ranking(s.documents, s.lexical, model)
    alone = lambda s: lambda query: encoded[s.name][query]
    mixed = lambda s: lambda query: 0.3 * spread(rankings[s.name].lexical_only(query)) + 0.7 * spread(alone(s)(query))
    table("encoder alone", sets, alone)
    table("0.3 lexical, 0.7 encoder", sets, mixed)
    table("precise", sets, lambda s: lambda query: precise(rankings[s.name].fused(query), alone(s)(query)))


def precise(fast, encoder):
    """The fast tier's scores, 0 for what it did not compare piece by piece, and the encoder's."""
    compared = np.maximum(fast, fast.max() - 1.2)
    return (1 - ENCODER) * spread(compared) + ENCODER * spread(encoder)


if __name__ == "__main__":
    main()
