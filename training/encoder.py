"""Tunes gte-small for tools and writes it for the precise tier: one command from the registry package to `precise.bin`.

    python training/encoder.py --shared ../shared --sources SOURCES --work WORK --model crates/toolfold-index/data/model.bin --out precise.bin

`--sources` and `--work` are those of `train.py`, which runs first: its teacher vectors tell which wrong tools may be right after all.
A batch is made of neighbourhoods: a pair, and pairs of tools that the static model takes for the right one. So every tool of a
batch is a hard negative for some query, and none has to be encoded for that alone.
"""

import argparse
import os
import time

import numpy as np
import torch
from torch.nn import functional as F

import data
from bert import from_onnx
from cache import Cache
from examples import OPERATIONS
from model import load

SEED, LONGEST = 7, 48
SHARES = {"own": 0.22, "invented": 0.26, "metatool": 0.14, "sealtools": 0.10, "self": 0.20, "operations": 0.08}
SEEDS, AROUND = 8, 8  # a batch: 8 neighbourhoods of 8 pairs
STEPS = 240
RATE, FROZEN, TEMPERATURE, MARGIN = 4e-5, 6, 0.02, 0.02
KEPT = 0.25  # share of the weights as they came


class Batches:
    def __init__(self, pairs, static, cache):
        self.random = np.random.default_rng(SEED)
        self.pairs = [p for p in pairs if group(p) in SHARES]
        documents = list(dict.fromkeys(p.document for p in self.pairs))
        self.place = {d: i for i, d in enumerate(documents)}
        self.vectors = np.stack([static.document(d) for d in documents])
        self.static, self.cache = static, cache
        self.of_document, self.groups, self.right = {}, {}, {}
        for number, p in enumerate(self.pairs):
            self.of_document.setdefault(self.place[p.document], []).append(number)
            self.groups.setdefault(group(p), []).append(number)
            self.right.setdefault(p.query, set()).add(p.document)

    def batch(self):
        chosen = {}
        names = self.random.choice(list(SHARES), SEEDS, p=np.array(list(SHARES.values())) / sum(SHARES.values()))
        for name in names:
            seed = int(self.random.choice(self.groups[name]))
            near = np.argsort(-(self.vectors @ self.static.query(self.pairs[seed].query)))[:24]
            around = [int(self.random.choice(self.of_document[d])) for d in self.random.choice(near, AROUND - 1, replace=False)]
            for number in [seed, *around]:
                chosen.setdefault(self.place[self.pairs[number].document], self.pairs[number])
        return list(chosen.values())

    def banned(self, pairs):
        """Tools that are right for a query though another was asked for, or that the untrained encoder clearly prefers."""
        right = np.array([[b.document in self.right[a.query] for b in pairs] for a in pairs])
        rows = lambda texts: np.array([self.cache.row(t) for t in texts])
        a, b = rows([p.query for p in pairs]), rows([data.text_of(p.document) for p in pairs])
        sims = self.cache.vectors[a].astype(np.float32) @ self.cache.vectors[b].astype(np.float32).T
        known = (a[:, None] >= 0) & (b[None] >= 0) & ((a >= 0) & (b >= 0))[:, None]
        banned = right | known & (sims > np.diag(sims)[:, None] + MARGIN)
        np.fill_diagonal(banned, False)
        return torch.from_numpy(banned)


def group(pair):
    if pair.kind == "self":
        return pair.kind if pair.source == "first" else None
    return {"own": "own", "invented": "invented", "labelled": pair.source, "outside": "operations" if pair.source in OPERATIONS else None}.get(pair.kind)


def loss_of(bert, pairs, banned):
    ids = bert.ids([p.query for p in pairs] + [data.text_of(p.document) for p in pairs])
    vectors, own = bert(ids), torch.arange(len(pairs))
    logits = (vectors[: len(pairs)] @ vectors[len(pairs) :].T / TEMPERATURE).masked_fill(banned, -1e4)
    return F.cross_entropy(logits, own) + 0.3 * F.cross_entropy(logits.T, own)


def train(bert, batches):
    bert.freeze(FROZEN)
    parameters = [p for p in bert.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS, pct_start=0.1)
    began, kept = time.time(), []
    for step in range(1, STEPS + 1):
        pairs = batches.batch()
        loss = loss_of(bert, pairs, batches.banned(pairs))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        schedule.step()
        kept.append(loss.item())
        if step % 20 == 0:
            print(step, "loss %.3f" % np.mean(kept[-20:]), "%.0f s" % (time.time() - began), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("shared", "sources", "work", "model", "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pairs", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs"))
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    folder = os.path.join(options.sources, "gte-small")
    pairs = data.everything(options.shared, options.pairs, options.sources, SEED)
    batches = Batches(pairs, load(options.model), Cache(f"{options.work}/gte", None))
    bert = from_onnx(folder, LONGEST)
    train(bert, batches)
    bert.draw_back(from_onnx(folder), KEPT)
    bert.save(options.out)


if __name__ == "__main__":
    main()
