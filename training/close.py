"""Learns what the nearness of pieces counts in the close comparison (`close.rs`), on requests for servers that were kept out of training.

    python training/close.py --shared ../shared --model crates/toolfold-index/data/model.bin

Listwise, as in `deeds.py`: the chance of a tool is the softmax of its score over the best, and the weight is the one under which the right
tools are likeliest. Both sets count alike, however many requests they have.
"""

import argparse
import os

import numpy as np
from scipy.optimize import minimize

from evaluate import held_invented, held_out
from model import load
from ranking import NEAREST, Ranking, spread

REGULAR = 1.0


def hits(ranking, query):
    """The best tools, their mixed scores, and how near their pieces come."""
    scores, ids = ranking.with_clauses(query), list(dict.fromkeys(ranking.model.pieces.ids(query)))
    top = np.lexsort((np.arange(len(scores)), -scores))[:NEAREST]
    near = spread(np.array([ranking._near(ids, tool) for tool in top])) if ids else np.zeros(len(top))
    return top, np.stack([scores[top], near], 1)


def loss(weights, queries):
    total, gradient = REGULAR * weights[1] ** 2, np.array([0.0, 2 * REGULAR * weights[1]])
    for features, right, share in queries:
        chances = np.exp(features @ weights - (features @ weights).max())
        among_right = chances * right
        total -= share * np.log(among_right.sum() / chances.sum())
        gradient -= share * ((among_right / among_right.sum() - chances / chances.sum()) @ features)
    return total, gradient


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("shared", "model"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pairs", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs"))
    options = parser.parse_args()
    model, queries = load(options.model), []
    for held in (held_out(options.shared, options.pairs), held_invented(options.pairs)):
        ranking = Ranking(held.documents, held.lexical, model)
        found = [(hits(ranking, query), relevant) for query, relevant in zip(held.queries, held.relevant)]
        found = [(features, np.isin(top, list(relevant)).astype(float)) for (top, features), relevant in found]
        found = [(features, right) for features, right in found if right.any()]
        queries += [(features, right, 1000 / len(found)) for features, right in found]
    weights = minimize(loss, np.array([10.0, 0.0]), args=(queries,), jac=True, method="L-BFGS-B").x
    print(f"{len(queries)} queries, sharpness {weights[0]:.1f}, nearness {weights[1] / weights[0]:.2f}")


if __name__ == "__main__":
    main()
