"""Teaches the encoder's pieces to be compared one by one, and writes them into `precise.bin`.

    python training/late.py --shared ../shared --model crates/toolfold-index/data/model.bin --encoder weights/precise.bin --out precise.bin

The encoder stays as it is. What is learned is a matrix that makes a short vector of what comes out for each token, and how much a
token says. A request is as near to a tool as its tokens come, in the mean, to the nearest token of the tool (`close.rs`). Wrong tools to
tell from the right one are those that the static model and the encoder take for it; a tool that the encoder prefers is not held to be wrong.
"""

import argparse
import os

import numpy as np
import torch
from torch.nn import functional as F

import data
from bert import from_file
from model import load

SEED, SHORT, STEPS, RATE, BATCH = 3, 128, 800, 2e-3, 24
SHARES = {"own": 0.35, "invented": 0.35, "metatool": 0.12, "sealtools": 0.18}
MOST = {"invented": 8000, "metatool": 2000, "sealtools": 2000}  # requests that are read
WRONG, NEAREST, MARGIN = 15, 30, 0.02


class Texts:
    """What comes out for every token of some texts."""

    def __init__(self, bert, texts):
        ids = bert.ids(texts)
        self.rows = [None] * len(ids)
        with torch.no_grad():
            order = np.argsort([len(i) for i in ids], kind="stable")
            for at in range(0, len(order), 32):
                some = order[at : at + 32]
                found, _ = bert.outputs([ids[n] for n in some])
                for n, row in zip(some, found):
                    self.rows[n] = row[: len(ids[n])].half().numpy()
        self.means = np.stack([row.astype(np.float32).mean(0) for row in self.rows])
        self.means /= np.linalg.norm(self.means, axis=1, keepdims=True)

    def padded(self, places):
        rows = [torch.from_numpy(self.rows[p].astype(np.float32)) for p in places]
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones(len(r), dtype=torch.bool) for r in rows], batch_first=True)
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), mask


class Head(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.matrix = torch.nn.Parameter(torch.empty(SHORT, dims))
        torch.nn.init.orthogonal_(self.matrix)
        self.says, self.bias = torch.nn.Parameter(torch.zeros(dims)), torch.nn.Parameter(torch.zeros(1))
        self.mix = torch.nn.Parameter(torch.tensor([12.0, 8.0, 6.0]))  # of nearness, encoder and static model, while it is learned

    def near(self, query, asked, tools, there):
        """One row for each query: how near it comes to each of its tools."""
        a, b = F.normalize(query @ self.matrix.T, dim=-1), F.normalize(tools @ self.matrix.T, dim=-1)
        best = torch.einsum("bqk,bntk->bnqt", a, b).masked_fill(~there[:, :, None], -1).max(-1).values
        says = (query @ self.says + self.bias).masked_fill(~asked, -1e4).softmax(-1)
        return (best * says[:, None]).sum(-1)


class Group:
    """The requests for one kind of tools, with the wrong tools to tell apart."""

    def __init__(self, bert, static, documents, requests, away):
        self.tools, self.queries = Texts(bert, [data.text_of(d) for d in documents]), Texts(bert, list(requests))
        self.right = [sorted(right) for right in requests.values()]
        self.encoder = self.queries.means @ self.tools.means.T
        vectors = np.stack([static.document(d) for d in documents])
        self.static = np.stack([static.query(q) for q in requests]) @ vectors.T
        above = self.encoder - self.encoder.mean(1, keepdims=True)
        mixed = 0.5 * self.static / np.maximum(self.static.max(1, keepdims=True), 1e-6) + 0.5 * above / above.max(1, keepdims=True)
        mixed[:, list(away)] = -9
        self.wrong = [self._wrong(*row) for row in zip(np.argsort(-mixed, 1)[:, :40], self.encoder, self.right)]

    @staticmethod
    def _wrong(order, likeness, right):
        best = max(likeness[r] for r in right)
        return [t for t in order if t not in right and likeness[t] < best + MARGIN][:NEAREST]

    def batch(self, random):
        rows = [r for r in random.choice(len(self.right), BATCH, replace=False) if len(self.wrong[r]) >= 8]
        few = lambda r: random.choice(self.wrong[r], WRONG, replace=len(self.wrong[r]) < WRONG)
        return rows, [[int(random.choice(self.right[r])), *map(int, few(r))] for r in rows]


def groups(options, bert, static):
    """Servers that are kept out of training are neither right nor wrong here."""
    forbidden = data.Forbidden(options.shared)
    pairs = [*data.labelled(options.shared, forbidden), *data.own(options.shared, forbidden, options.pairs), *data.invented_pairs(options.pairs, forbidden)]
    documents = {
        "own": [data.document(t) for tools in data.catalogs(options.shared, forbidden).values() for t in tools],
        "invented": [data.document(t) for tools in data.invented(options.pairs).values() for t, _ in tools],
    }
    for name in ("metatool", "sealtools"):
        documents[name] = [data.document(t) for t in data.jsonl(f"{options.shared}/eval/train/{name}/tools.jsonl")]
    documents = {name: list(dict.fromkeys(found)) for name, found in documents.items()}
    place = {d: (name, at) for name, found in documents.items() for at, d in enumerate(found)}
    requests, held = {name: {} for name in documents}, {d.server for _, d, kind, _ in pairs if kind == "held"}
    for query, document, kind, _ in pairs:
        if kind != "held":
            name, at = place[document]
            requests[name].setdefault(query, set()).add(at)
    random = np.random.default_rng(SEED)
    for name, found in requests.items():
        kept = sorted(found)
        kept = [kept[i] for i in random.permutation(len(kept))[: MOST.get(name, len(kept))]]
        away = [at for at, d in enumerate(documents[name]) if d.server in held]
        yield name, Group(bert, static, documents[name], {q: found[q] for q in kept}, away)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("shared", "model", "encoder", "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pairs", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs"))
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    bert = from_file(options.encoder)
    learned, random = dict(groups(options, bert, load(options.model))), np.random.default_rng(SEED)
    head = Head(bert.tensor("embeddings.LayerNorm.weight").shape[0])
    optimiser = torch.optim.AdamW(head.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS, pct_start=0.1)
    losses = []
    for step in range(1, STEPS + 1):
        group = learned[random.choice(list(SHARES), p=list(SHARES.values()))]
        rows, tools = group.batch(random)
        found, there = group.tools.padded(sum(tools, []))
        near = head.near(*group.queries.padded(rows), found.view(len(rows), WRONG + 1, -1, found.shape[-1]), there.view(len(rows), WRONG + 1, -1))
        encoder, static = (torch.tensor(np.stack([side[r][t] for r, t in zip(rows, tools)])) for side in (group.encoder, group.static))
        first = torch.zeros(len(rows), dtype=torch.long)
        loss = F.cross_entropy(head.mix[0] * near + head.mix[1] * encoder + head.mix[2] * static, first) + 0.3 * F.cross_entropy(30 * near, first)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        if step % 50 == 0:
            print(step, "loss %.3f" % np.mean(losses[-50:]), flush=True)
    bert.pieces = torch.cat([head.matrix, head.says[None]]).detach(), torch.cat([torch.zeros(SHORT), head.bias]).detach()
    bert.save(options.out)


if __name__ == "__main__":
    main()
