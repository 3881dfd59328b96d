"""A small network across both texts: the pieces of a request and of a tool attend to each other. The second thing that was tried for the precise tier.

    python training/cross.py read  --shared ../shared --model crates/toolfold-index/data/model.bin --encoder weights/precise.bin --work WORK
    python training/cross.py learn … --work WORK
    python training/cross.py judge … --work WORK

`read` makes the pieces of all texts (the short vectors of `late.py`, at most 24 of a tool) and may be stopped and started again. `learn` trains
on the pairs of `late.py`, with its wrong tools. `judge` adds what the network says to the twin of the precise ranking and prints NDCG@10 by
weight: on servers that were kept out of training, which decide, and on the public sets.
"""

import argparse
import os
import pickle
import time

import numpy as np
import torch
from torch.nn import functional as F

import data
from bert import from_file
from evaluate import held_invented, held_out, metrics, read_all
from late import BATCH, MARGIN, MOST, NEAREST, SEED, SHARES, SHORT, WRONG
from model import load
from precise import Precise
from ranking import NEAR, clauses, spread

WIDE, HEADS, LAYERS, STEPS, RATE = 128, 4, 2, 900, 1e-3
OF_TOOL, OF_QUERY = 24, 32
LATE = 0.3  # what the nearness of pieces adds (`close.rs`)


class Pieces:
    """What the encoder makes of texts, by text: the whole, the pieces and how much each says. Kept in a file."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if os.path.exists(path):
            with open(path, "rb") as file:
                self.known = pickle.load(file)

    def read(self, bert, texts, until):
        missing = [t for t in dict.fromkeys(texts) if t not in self.known]
        ids = bert.ids(missing)
        order = np.argsort([len(i) for i in ids], kind="stable")
        weight, bias = bert.pieces
        for at in range(0, len(order), 32):
            if time.time() > until:
                break
            some = order[at : at + 32]
            with torch.no_grad():
                found, mask = bert.outputs([ids[n] for n in some])
                short = F.normalize(found @ weight[:SHORT].T, dim=-1)
                says = found @ weight[SHORT] + bias[SHORT]
            for n, x, s, y in zip(some, short, says, found):
                length = len(ids[n])
                whole = F.normalize(y[:length].mean(0), dim=0)
                self.known[missing[n]] = (whole.half().numpy(), x[:length][:OF_QUERY].half().numpy(), s[:length][:OF_QUERY].half().numpy())
        with open(self.path + ".new", "wb") as file:
            pickle.dump(self.known, file)
        os.replace(self.path + ".new", self.path)
        return sum(t not in self.known for t in missing)

    def padded(self, texts, most):
        found = [self.known[t] for t in texts]
        width = min(most, max(len(f[1]) for f in found))
        x, says, there = np.zeros((len(found), width, SHORT), np.float32), np.zeros((len(found), width), np.float32), np.zeros((len(found), width), bool)
        for row, (_, pieces, say) in enumerate(found):
            count = min(width, len(pieces))
            x[row, :count], says[row, :count], there[row, :count] = pieces[:count], say[:count], True
        return torch.from_numpy(x), torch.from_numpy(says), torch.from_numpy(there)

    def wholes(self, texts):
        return np.stack([self.known[t][0] for t in texts]).astype(np.float32)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = torch.nn.LayerNorm(WIDE), torch.nn.LayerNorm(WIDE)
        self.three, self.out = torch.nn.Linear(WIDE, 3 * WIDE), torch.nn.Linear(WIDE, WIDE)
        self.wide, self.narrow = torch.nn.Linear(WIDE, 2 * WIDE), torch.nn.Linear(2 * WIDE, WIDE)

    def forward(self, x, mask):
        count, width, _ = x.shape
        q, k, v = (part.view(count, width, HEADS, -1).transpose(1, 2) for part in self.three(self.before(x)).chunk(3, -1))
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None])
        x = x + self.out(attended.transpose(1, 2).reshape(count, width, WIDE))
        return x + self.narrow(F.gelu(self.wide(self.after(x))))


class Cross(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into = torch.nn.Linear(SHORT + 2, WIDE)  # a piece, how near the other text comes to it, how much it says
        self.side = torch.nn.Parameter(torch.zeros(2, WIDE))
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.score = torch.nn.LayerNorm(WIDE), torch.nn.Linear(WIDE, 1)
        self.mix = torch.nn.Parameter(torch.tensor([12.0, 8.0, 6.0]))  # of nearness, encoder and static model, while it is learned
        torch.nn.init.zeros_(self.score.weight)

    def forward(self, query, tool):
        """One row for each pair: nearness as in `late.py`, and what the network says."""
        (a, says_a, asked), (b, says_b, there) = query, tool
        like = torch.einsum("nqk,ntk->nqt", a, b)
        near_a = like.masked_fill(~there[:, None], -1).max(-1).values
        near_b = like.masked_fill(~asked[:, :, None], -1).max(1).values
        share = says_a.masked_fill(~asked, -1e4).softmax(-1)
        sides = [torch.cat([x, near[..., None], says[..., None]], -1) for x, near, says in ((a, near_a, share * 10), (b, near_b, says_b / 10))]
        x = torch.cat([self.into(s) + side for s, side in zip(sides, self.side)], 1)
        mask = torch.cat([asked, there], 1)
        for layer in self.layers:
            x = layer(x, mask)
        x = self.norm(x)[:, : a.shape[1]]
        return (near_a * share).sum(-1), (self.score(x)[..., 0] * share).sum(-1)


def repeated(query, times):
    return tuple(part.repeat_interleave(times, 0) for part in query)


def material(options):
    """Documents by kind, requests with their right tools, and the places that are neither right nor wrong. As in `late.py`."""
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
        yield name, documents[name], {q: found[q] for q in kept}, away


class Group:
    def __init__(self, pieces, static, documents, requests, away):
        self.pieces, self.tools, self.queries = pieces, [data.text_of(d) for d in documents], list(requests)
        self.right = [sorted(right) for right in requests.values()]
        self.encoder = pieces.wholes(self.queries) @ pieces.wholes(self.tools).T
        self.static = (np.stack([static.query(q) for q in requests]) @ np.stack([static.document(d) for d in documents]).T).astype(np.float32)
        above = self.encoder - self.encoder.mean(1, keepdims=True)
        mixed = 0.5 * self.static / np.maximum(self.static.max(1, keepdims=True), 1e-6) + 0.5 * above / above.max(1, keepdims=True)
        mixed[:, list(away)] = -9
        first = np.argpartition(-mixed, 40, 1)[:, :40]
        self.wrong = [self._wrong(row[np.argsort(-m[row])], *rest) for row, m, *rest in zip(first, mixed, self.encoder, self.right)]

    @staticmethod
    def _wrong(order, likeness, right):
        best = max(likeness[r] for r in right)
        return [t for t in order if t not in right and likeness[t] < best + MARGIN][:NEAREST]

    def batch(self, random):
        rows = [r for r in random.choice(len(self.right), BATCH, replace=False) if len(self.wrong[r]) >= 8]
        few = lambda r: random.choice(self.wrong[r], WRONG, replace=len(self.wrong[r]) < WRONG)
        return rows, [[int(random.choice(self.right[r])), *map(int, few(r))] for r in rows]


def learn(options, pieces, static, until):
    groups = {name: Group(pieces, static, documents, requests, away) for name, documents, requests, away in material(options)}
    random, model = np.random.default_rng(SEED), Cross()
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS, pct_start=0.1)
    done, losses, path = 0, [], os.path.join(options.work, "cross.pt")
    if os.path.exists(path):
        done, losses, states, random = torch.load(path, weights_only=False)
        for part, state in zip((model, optimiser, schedule), states):
            part.load_state_dict(state)
    while done < STEPS and time.time() < until:
        group = groups[random.choice(list(SHARES), p=list(SHARES.values()))]
        rows, tools = group.batch(random)
        query = repeated(pieces.padded([group.queries[r] for r in rows], OF_QUERY), WRONG + 1)
        near, said = (x.view(len(rows), WRONG + 1) for x in model(query, pieces.padded([group.tools[t] for t in sum(tools, [])], OF_TOOL)))
        encoder, like = (torch.tensor(np.stack([side[r][t] for r, t in zip(rows, tools)])) for side in (group.encoder, group.static))
        first = torch.zeros(len(rows), dtype=torch.long)
        loss = F.cross_entropy(said + model.mix[0] * near + model.mix[1] * encoder + model.mix[2] * like, first) + 0.3 * F.cross_entropy(said, first)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        done += 1
        if done % 50 == 0:
            print(done, "loss %.3f" % np.mean(losses[-50:]), flush=True)
    torch.save((done, losses, [part.state_dict() for part in (model, optimiser, schedule)], random), path)
    print(f"{done} of {STEPS} steps")


class Kept:
    """An encoder that knows what it was read before."""

    def __init__(self, pieces):
        self.pieces = pieces

    def encode(self, texts):
        return self.pieces.wholes(texts) if len(texts) else np.zeros((0, 384), np.float32)


def judge(options, pieces, static, sets):
    model = Cross()
    model.load_state_dict(torch.load(os.path.join(options.work, "cross.pt"), weights_only=False)[2][0])
    weights = (0.0, 0.1, 0.2, 0.3, 0.5)
    means = []
    print("set            " + " ".join(f"{w:6.1f}" for w in weights), " alone")
    for s in sets:
        ranking = Precise(s.documents, s.lexical, static, Kept(pieces), s.queries)
        tools, rows = [data.text_of(d) for d in s.documents], []
        for query, relevant in zip(s.queries, s.relevant):
            scores = ranking.with_clauses(query)
            top = np.lexsort((np.arange(len(scores)), -scores))[:NEAREST]
            ids = list(dict.fromkeys(static.pieces.ids(query)))
            with torch.no_grad():
                near, said = model(repeated(pieces.padded([query], OF_QUERY), len(top)), pieces.padded([tools[t] for t in top], OF_TOOL))
            base = scores[top] + LATE * spread(near.numpy())
            if ids:
                base = base + NEAR * spread(np.array([ranking._near(ids, t) for t in top]))
            rest = np.lexsort((np.arange(len(scores)), -scores))[NEAREST : NEAREST + 10]
            chance = spread(said.numpy())
            orders = [top[np.argsort(-(base + w * chance), kind="stable")] for w in weights] + [top[np.argsort(-said.numpy(), kind="stable")]]
            rows.append([metrics([*order, *rest], relevant)[4] for order in orders])
        found = 100 * np.mean(rows, 0)
        if s.name in data.DEV_SETS:
            means.append(found)
        print(f"{s.name:14s} " + " ".join(f"{x:6.2f}" for x in found), flush=True)
    if means:
        print("mean of dev    " + " ".join(f"{x:6.2f}" for x in np.mean(means, 0)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("read", "learn", "judge"))
    for name in ("shared", "model", "encoder", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--pairs", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs"))
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long; run again to go on")
    options = parser.parse_args()
    until = time.time() + options.seconds
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    static, pieces = load(options.model), Pieces(os.path.join(options.work, "pieces.pickle"))
    if options.what == "learn":
        return learn(options, pieces, static, until)
    sets = [held_out(options.shared, options.pairs), held_invented(options.pairs), *read_all(f"{options.shared}/eval/dev")]
    if options.what == "judge":
        return judge(options, pieces, static, sets)
    texts = []
    for _, documents, requests, _ in material(options):
        texts += [data.text_of(d) for d in documents] + list(requests)
    for s in sets:
        texts += [data.text_of(d) for d in s.documents] + [t for q in s.queries for t in (q, *clauses(q))]
    print(len(set(texts)), "texts,", pieces.read(from_file(options.encoder), texts, until), "missing")


if __name__ == "__main__":
    main()
