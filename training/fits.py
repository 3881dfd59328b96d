"""The second regression of `confidence.rs`: whether anything in a catalog can be what a short request is about.

    cargo build --release -p toolfold-eval --example measure
    python training/fits.py --catalogs CATALOGS --real eval/real --measure target/release/examples/measure

Fitted on `chosen` and `later`, for which something is there, and on `nothing`, for which nothing is; in the whole catalog, in
catalogs that lack every server with a right tool, and in those of 2 to 40 servers. `kept`, `fresh`, `unread` and `nothing_kept` have no part in it.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile

import numpy as np

from calibrate import fit
from lexical import STOP
from words import split

FEATURES = ["base", "semantic", "least_near", "lexical", "deed", "subject", "words", "size"]
GROUPS = 8  # parts of the servers that are left out in turn
DRAWS = ((2, 40), (5, 25), (15, 15), (40, 8))  # servers in a catalog, and how many such catalogs
HAVE, LACK, NOTHING = 40, 15, 5  # requests asked of each
SHORT, WITHIN = 4, 5  # words of a short request, and hits among which a right one counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("catalogs", "real", "measure"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    chance = random.Random(11)
    servers = sorted(p.stem for p in pathlib.Path(options.catalogs).glob("*.json") if not p.stem.startswith("_"))
    asked = [q for name in ("chosen", "later") for q in read(options.real, name)]
    nothing = read(options.real, "nothing")
    rows, labels = [], []

    def add(chosen, queries):
        for line in answers(options, chosen, queries):
            right = any(hit["right"] for hit in line["hits"][:WITHIN])
            words = sum(word not in STOP for word in split(line["query"]))
            if line["hits"] and words <= SHORT and right == bool(line["relevant"]):
                rows.append(features(line, words))
                labels.append(right)

    add(servers, asked + nothing)
    mixed = chance.sample(servers, len(servers))
    for group in (set(mixed[part::GROUPS]) for part in range(GROUPS)):
        add([s for s in servers if s not in group], [without(q) for q in asked if homes(q) <= group])
    for size, draws in DRAWS:
        for _ in range(draws):
            chosen = set(chance.sample(servers, size))
            have = [q for q in asked if homes(q) & chosen]
            lack = [without(q) for q in asked if not homes(q) & chosen]
            # As many for nothing as for something, whatever the size: which there are more of is not known.
            some = [(have, HAVE), (lack, min(LACK, len(have) + 2)), (nothing, NOTHING)]
            add(chosen, [q for queries, most in some for q in chance.sample(queries, min(most, len(queries)))])
    solved = fit(np.array(rows), np.array(labels, float), np.ones(len(rows)))
    print(len(rows), "requests,", sum(labels), "of them for something that is there")
    for name, value in zip(FEATURES, solved):
        print(f"const FITS_{name.upper()}: f32 = {value:.2f};")


def read(folder, name):
    return [json.loads(line) for line in open(f"{folder}/{name}.jsonl")]


def homes(query):
    return {right.split(".")[0] for right in query["relevant"]}


def without(query):
    return {**query, "relevant": []}


def answers(options, chosen, queries):
    """What the ranking knows of the best hits for each query in a catalog of some servers."""
    with tempfile.TemporaryDirectory() as place:
        for server in chosen:
            pathlib.Path(place, f"{server}.json").symlink_to(pathlib.Path(options.catalogs, f"{server}.json").resolve())
        own = [{**q, "relevant": [r for r in q["relevant"] if r.split(".")[0] in chosen]} for q in queries]
        file = pathlib.Path(place, "queries.jsonl")
        file.write_text("".join(json.dumps(query) + "\n" for query in own))
        command = [options.measure, "--features", f"{place}:{file}"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def features(line, words):
    best = line["hits"][0]
    deed, subject = best["deed"][13], best["deed"][12]
    return [1.0, best["semantic"], best["least_near"], min(best["lexical"], 1.0), deed, subject, np.log1p(words), np.log(line["entries"])]


if __name__ == "__main__":
    main()
