"""Figures of a ranking on sets in the evaluation format (`tools.jsonl`, `queries.jsonl`).

    python training/evaluate.py --sets ../shared/eval/dev --model crates/toolfold-index/data/model.bin
"""

import argparse
import os

import numpy as np

import data
from lexical import Lexical
from model import load
from ranking import Ranking


def metrics(order, relevant):
    """Hit@1, Hit@5, R@5, R@10, NDCG@10 of one query: `order` are positions best first."""
    gains = [1.0 if position in relevant else 0.0 for position in order[:10]]
    dcg = sum(g / np.log2(i + 2) for i, g in enumerate(gains))
    ideal = sum(1 / np.log2(i + 2) for i in range(min(10, len(relevant))))
    found = lambda k: sum(gains[:k]) / len(relevant)
    return [gains[0], float(any(gains[:5])), found(5), found(10), dcg / ideal]


class Set:
    def __init__(self, name, tools, queries):
        self.name = name
        self.documents = [data.document(t) for t in tools]
        self.lexical = Lexical(self.documents)
        place = {t["id"]: i for i, t in enumerate(tools)}
        self.queries = [q["query"] for q in queries]
        self.styles = [q.get("style") for q in queries]
        self.relevant = [{place[r] for r in q["relevant"]} for q in queries]

    def figures(self, score):
        """Mean metrics of `score(query) -> array`, ties broken by position."""
        rows = []
        for query, relevant in zip(self.queries, self.relevant):
            values = score(query)
            best = np.argpartition(-values, min(30, len(values) - 1))[:30] if len(values) > 30 else np.arange(len(values))
            rows.append(metrics(list(best[np.lexsort((best, -values[best]))]), relevant))
        return 100 * np.mean(rows, axis=0)


def read(folder):
    return Set(os.path.basename(folder.rstrip("/")), data.jsonl(f"{folder}/tools.jsonl"), data.jsonl(f"{folder}/queries.jsonl"))


def read_all(folder):
    return [read(f"{folder}/{name}") for name in sorted(os.listdir(folder)) if os.path.isdir(f"{folder}/{name}")]


def held_out(shared, pairs):
    """The servers kept out of training, searched among the tools of all catalogs."""
    forbidden = data.Forbidden(shared)
    servers = data.catalogs(shared, forbidden)
    tools = [dict(t, id=f"{s}::{t['name']}") for s, ts in servers.items() for t in ts]
    queries = [
        {"query": p["query"], "relevant": [f"{s}::{p['tool']}"], "style": p["style"]}
        for s in sorted(data.held(servers)) if os.path.exists(f"{pairs}/{s}.jsonl") for p in data.jsonl(f"{pairs}/{s}.jsonl")
    ]
    known = {t["id"] for t in tools}
    unique = {t["id"]: t for t in tools}
    return Set("held_out", list(unique.values()), [q for q in queries if q["relevant"][0] in known])


def held_invented(pairs):
    """The invented servers kept out of training, searched among all invented tools."""
    servers = data.invented(pairs)
    tools = [dict(tool, id=f"{s}::{tool['name']}") for s, ts in servers.items() for tool, _ in ts]
    queries = [
        {"query": request, "relevant": [f"{s}::{tool['name']}"], "style": style}
        for s in sorted(data.held(servers)) for tool, requests in servers[s] for style, request in requests.items()
    ]
    return Set("held_invented", list({t["id"]: t for t in tools}.values()), queries)


def table(title, sets, score_of):
    print(f"{title:28s} | " + " | ".join(f"{s.name[:14]:^23s}" for s in sets))
    rows = np.array([s.figures(score_of(s)) for s in sets])
    cells = [f"{r[0]:4.1f} {r[1]:4.1f} {r[2]:4.1f} {r[3]:4.1f} {r[4]:4.1f}" for r in rows]
    dev = [r[4] for s, r in zip(sets, rows) if s.name in data.DEV_SETS]
    print(f"{'mean NDCG@10 %.2f' % np.mean(dev or [0]):28s} | " + " | ".join(cells), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--pairs", help="folder of own pairs: adds the held-out servers (needs --shared)")
    parser.add_argument("--shared")
    options = parser.parse_args()
    sets, model = read_all(options.sets), load(options.model)
    if options.pairs:
        sets += [held_out(options.shared, options.pairs), held_invented(options.pairs)]
    rankings = {s.name: Ranking(s.documents, s.lexical, model) for s in sets}
    print("columns: Hit@1 Hit@5 R@5 R@10 NDCG@10")
    for kind in ("lexical_only", "dense_only", "simple", "with_clauses", "fused"):
        table(kind, sets, lambda s: getattr(rankings[s.name], kind))


if __name__ == "__main__":
    main()
