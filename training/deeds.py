"""Finds what each part of a deed is worth in the close comparison (`WEIGHTS` in `crates/toolfold-index/src/deed/compare.rs`).

    cargo run --release -p toolfold-eval --example measure -- --features PLACE… > features.jsonl
    python training/deeds.py features.jsonl

Listwise: the chance of a hit is the softmax of its score over the hits of its query, and the weights are those under which the
right hits are likeliest. Scores in the file already have the shipped weights in them; these are taken out first.
"""

import json
import re
import sys

import numpy as np
from scipy.optimize import minimize

NAMES = (
    "same_by_name same_by_sentence same_by_choice near_by_name near_by_sentence opposite looks_wanted_writes writes_wanted_looks "
    "destroys_unasked publishes_unasked updates_in_general server_named things_in_sentence same_deed_and_thing"
).split()
REGULAR = 3.0


def shipped(path="crates/toolfold-index/src/deed/compare.rs"):
    with open(path, encoding="utf-8") as file:
        text = re.search(r"const WEIGHTS: Features =\s*\[(.*?)\];", file.read(), re.S)[1]
    return np.array([float(number) for number in text.replace(",", " ").split()])


def read(path):
    before = shipped()
    for line in open(path, encoding="utf-8"):
        hits = json.loads(line)["hits"] if line.startswith("{") else []
        right = np.array([hit["right"] for hit in hits], dtype=float)
        if right.any():
            deeds = np.array([hit["deed"] for hit in hits])
            yield np.array([hit["score"] for hit in hits]) - deeds @ before, deeds, right


def loss(parameters, queries):
    """The negative logarithm of the chance of the right hits, and its gradient. The first parameter sharpens the softmax."""
    sharpness, weights = np.exp(parameters[0]), parameters[1:]
    total, gradient = REGULAR * (weights**2).sum(), np.concatenate([[0.0], 2 * REGULAR * weights])
    for base, deeds, right in queries:
        scores = sharpness * (base + deeds @ weights)
        chances = np.exp(scores - scores.max())
        among_right = chances * right
        total -= np.log(among_right.sum() / chances.sum())
        slope = among_right / among_right.sum() - chances / chances.sum()
        gradient[0] -= slope @ scores
        gradient[1:] -= sharpness * (slope @ deeds)
    return total, gradient


if __name__ == "__main__":
    queries = [query for path in sys.argv[1:] for query in read(path)]
    start = np.concatenate([[np.log(10)], np.zeros(len(NAMES))])
    found = minimize(loss, start, args=(queries,), jac=True, method="L-BFGS-B").x
    print(f"{len(queries)} queries, sharpness {np.exp(found[0]):.1f}")
    for name, weight in zip(NAMES, found[1:]):
        print(f"{weight:6.2f}  {name}")
