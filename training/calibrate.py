"""The numbers of `confidence.rs`: a logistic regression of "this hit is right" on what the ranking knows about the hit.

    python training/calibrate.py --shared ../shared --pairs training/pairs --model crates/toolfold-index/data/model.bin

Fitted on own requests for servers that the model was not trained on, real and invented ones, searched in catalogs of several
sizes (one server to all of them), now and then without the right tool in the catalog; and on the repository's own sets. Wishes
that share no word with the tool are rarer in life than in our files, so they count less. Never on `eval/dev`.
"""

import argparse
import random

import numpy as np

import data
from evaluate import held_invented, held_out, read_all
from lexical import STOP, Lexical
from model import load
from ranking import Ranking
from words import split

FEATURES = ["base", "semantic", "near", "ahead", "words"]
HITS = 5  # of each query
LATER, WISH = 0.2, 0.3  # what a hit counts that is not the first, and one for a wish
SIZES, MOST = (1, 3, 10, 30, 100, 1000), 400  # servers in a catalog, and queries asked of it


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("shared", "pairs", "model"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--own", default="eval")
    options = parser.parse_args()
    model, chance = load(options.model), random.Random(7)
    rows, labels, weights, first = [], [], [], []

    def add(documents, asked):
        ranking = Ranking(documents, Lexical(documents), model)
        for query, right, style in asked:
            found = features(ranking, query)
            rows.extend(row for _, row in found)
            labels.extend(tool in right for tool, _ in found)
            weights.extend((1.0 if place == 0 else LATER) * (WISH if style == "wish" else 1.0) for place in range(len(found)))
            first.extend(place == 0 for place in range(len(found)))

    for whole in (held_out(options.shared, options.pairs), held_invented(options.pairs)):
        for size in SIZES:
            for _ in range(max(1, 40 // size)):
                add(*part(whole, size, chance))
    for s in read_all(options.own):
        add(s.documents, list(zip(s.queries, s.relevant, s.styles)))
    solved = fit(np.array(rows), np.array(labels, float), np.array(weights))
    print(len(rows), "hits,", int(sum(labels)), "right")
    for name, value in zip(FEATURES, solved):
        print(f"const {name.upper()}: f32 = {value:.2f};")
    first = np.array(first)
    reliability("fitted", np.array(rows)[first], np.array(labels)[first], solved)
    for s in read_all(f"{options.shared}/eval/dev"):
        ranking = Ranking(s.documents, s.lexical, model)
        hits = [(f[0], right) for query, right in zip(s.queries, s.relevant) if (f := features(ranking, query)[:1])]
        reliability(s.name, np.array([f[1] for f, _ in hits]), np.array([f[0] in right for f, right in hits]), solved)


def part(whole, size, chance):
    """A catalog of some servers, a third of them with queries; and the queries for these and some for tools that are not in it."""
    servers = {}
    for place, document in enumerate(whole.documents):
        servers.setdefault(document.server, []).append(place)
    asked = sorted({whole.documents[place].server for right in whole.relevant for place in right})
    chosen = chance.sample(asked, min(len(asked), max(1, size // 3)))
    others = sorted(set(servers) - set(chosen))
    chosen += chance.sample(others, min(len(others), size - len(chosen)))
    places = [place for server in sorted(chosen) for place in servers[server]]
    new = {old: place for place, old in enumerate(places)}
    every = [(q, {new[r] for r in right if r in new}, style) for q, right, style in zip(whole.queries, whole.relevant, whole.styles)]
    have, lack = [a for a in every if a[1]], [a for a in every if not a[1]]
    have = chance.sample(have, min(len(have), MOST))
    return [whole.documents[p] for p in places], have + chance.sample(lack, min(len(lack), len(have) // 10 + 1))


def features(ranking, query):
    """Of the best hits: the tool, and what is known about it."""
    fused, meaning = ranking.fused(query), ranking.dense_only(query)
    terms = ranking.lexical.terms(query)
    lexical = ranking.lexical.scores(query) / max(best(ranking.lexical, query, terms), 1e-9)
    ids = list(dict.fromkeys(ranking.model.pieces.ids(query)))
    top = np.lexsort((np.arange(len(fused)), -fused))[:HITS]
    words = np.log1p(sum(word not in STOP for word in split(query)))
    found = []
    for place, tool in enumerate(top):
        other = fused[top[1 if place == 0 else 0]] if len(top) > 1 else 0.0
        near = ranking._near(ids, tool) if ids else 0.0
        shared, alike = min(lexical[tool], 1), meaning[tool]
        # Scores are relative to the best: how far ahead it is says little where even the best is hardly alike.
        ahead = float(np.clip(fused[tool] - max(other, 0), -1, 1)) * max(shared, alike, 0)
        found.append((tool, [1.0, alike, near, ahead, words]))
    return found


def best(lexical, query, terms):
    """What a tool would earn that has all the words and nothing else."""
    from lexical import SATURATION, stem
    every = split(query)
    known = sum(weight * lexical.rarity[number] for number, weight in terms.items())
    unknown = sum(w not in lexical.numbers and stem(w) not in lexical.numbers for w in dict.fromkeys(w for w in every if w not in STOP))
    count = lexical.matrix.shape[1]
    return (SATURATION + 1) * (known + unknown * np.log(1 + (count + 0.5) / 0.5))


def fit(x, y, weights, steps=60, ridge=1.0):
    """Newton's method."""
    solved = np.zeros(x.shape[1])
    for _ in range(steps):
        chance = 1 / (1 + np.exp(-x @ solved))
        gradient = x.T @ (weights * (y - chance)) - ridge * solved
        curve = (x * (weights * chance * (1 - chance))[:, None]).T @ x + ridge * np.eye(x.shape[1])
        solved += np.linalg.solve(curve, gradient)
    return solved


def reliability(name, x, y, solved):
    chance = 1 / (1 + np.exp(-x @ solved))
    cells = []
    for low in np.arange(0, 1, 0.1):
        inside = (chance >= low) & (chance < low + 0.1)
        if inside.sum():
            cells.append(f"{low:.1f}: {100 * y[inside].mean():3.0f} % of {inside.sum()}")
    print(f"{name:14s} " + " | ".join(cells))


if __name__ == "__main__":
    main()
