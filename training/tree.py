"""Learns which tools belong to which node of the tree, and writes `crates/toolfold-index/data/tree.bin`.

    python training/tree.py lists --out WORK/invented
    touch WORK/none
    measure="cargo run --release -p toolfold-eval --example measure --"
    $measure --study ../shared/catalogs:WORK/none > WORK/real.tsv
    $measure --study WORK/invented:WORK/none > WORK/invented.tsv
    python training/tree.py check --work WORK      # figures for servers that had no part in training, five parts in turn
    python training/tree.py train --work WORK --out crates/toolfold-index/data/tree.bin

The labels are `tree/real.txt` and `tree/invented.txt`: names of tools and of nodes, no text of anybody's. A head names a server (or
several); each line below it is a pattern for whole names, `=>`, and the right nodes, the best first. The first pattern that matches
counts. `-` is for tools that belong to no node; nothing is learned from them.

The model is a softmax over the nodes: bias + own · (the tool's vector) + company · (the mean vector of its product or server) + words ·
(stems of its name, pairs of them, stems of its first sentence); then a share of the mean over its family, the tools of the same
server that are about the same thing. It begins with what the nodes `say` in `ontology.toml`: the cosine with all of a node's phrases and
with the best one count PHRASES from the start, and only what that gets wrong is learned. So a node that no labelled tool is in works too.
In the end the mean of its company speaks for each tool (COMPANY), which is not trained, only measured.

FORMAT of `tree.bin`, little-endian, no padding:

    magic      8 bytes    "TFTREE\\0\\0"
    version    u32        1
    dimensions u32        D
    nodes      u32        N
    family     f32        the share of the family
    phrases    f32        what half of a cosine with the best phrase counts, against that with all phrases, which is in `own` and `company`
    step       f32        what 1 in a word's weight stands for
    u32 length, then the N paths as UTF-8, names joined by "/", each ended by "\\n"
    N × (f32 bias, f32 scale, D × i8 own, f32 scale, D × i8 company)
    u32 count, then for each trait: u32 number, u8 count, count × (u8 node, i8 weight)
"""

import argparse
import collections
import glob
import json
import os
import re
import struct
import tomllib
import zlib

import numpy as np
import scipy.sparse as sparse

import model

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "crates", "toolfold-index", "data")
PARTS = 5
FAMILY = 0.5
SECOND = 0.4  # what the second of two right nodes is worth; the first has the rest
ROUNDS, BATCH, RATE = 12, 512, 0.05
DECAY = 3e-5
PHRASES = 20.0  # what a cosine with the phrases of a node counts before anything is learned
SHARE, CENTRED = 0.4, 0.5  # as in `company.rs` and `meaning.rs`
COMPANY, DOUBT = 0.5, 0.02  # as in `trained.rs`
RAREST = 2  # tools that have a trait at least
LEAST = 0.02  # a word's weight below this share of the largest is left out
MOST_SPOKEN = 24  # nodes that a trait may speak about


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def invented_servers():
    """The tools of each invented server, by the names they are listed under; the same name in two files is two servers."""
    servers = collections.OrderedDict()
    for path in sorted(glob.glob(os.path.join(HERE, "invented", "*.jsonl"))):
        part = os.path.basename(path)[: -len(".jsonl")]
        for line in open(path, encoding="utf-8"):
            tool = json.loads(line)
            servers.setdefault((part, tool["server"]), []).append(tool)
    return servers


def listed(part, server):
    return f"{part}-{slug(server)}"


def lists(out):
    os.makedirs(out, exist_ok=True)
    for (part, server), tools in invented_servers().items():
        properties = lambda tool: {name: {"type": "string", "description": about} for name, about in tool["parameters"].items()}
        defined = [
            {"name": tool["name"], "description": tool["description"], "inputSchema": {"type": "object", "properties": properties(tool)}}
            for tool in tools
        ]
        with open(os.path.join(out, listed(part, server) + ".json"), "w", encoding="utf-8") as file:
            json.dump({"tools": defined}, file)


def rules(path):
    found, current = {}, []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("## "):
            current = []
            found.update({server: current for server in line[3:].split(",")})
        elif line and not line.startswith("#"):
            pattern, nodes = line.rsplit(" => ", 1)
            current.append((re.compile(pattern), [node.strip() for node in nodes.split(" + ")]))
    return found


def label(found, tool):
    return next((nodes for pattern, nodes in found if pattern.fullmatch(tool)), None)


def labels():
    """The right nodes by server and tool."""
    real, made = rules(os.path.join(HERE, "tree", "real.txt")), rules(os.path.join(HERE, "tree", "invented.txt"))
    servers = {listed(*key): made.get("/".join(key), made.get(key[1], [])) for key in invented_servers()}
    return {**servers, **real}


def nodes():
    with open(os.path.join(DATA, "ontology.toml"), "rb") as file:
        tree = tomllib.load(file)
    return [(f"{root['name']}/{node['name']}", node) for root in tree["root"] for node in root["node"]]


class Examples:
    """What is learned from: vectors of tools and companies, traits, and the share of each node in what is right."""

    def __init__(self):
        self.ids, self.servers, self.own, self.company, self.traits, self.right, self.family = ([] for _ in range(7))
        self.companies = []

    def read(self, path, by_server, number):
        rows = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8") if "\t" in line]
        groups, families, vectors = collections.defaultdict(list), collections.defaultdict(list), []
        for place, (id, company, family, scale, packed, _) in enumerate(rows):
            server = id.split(".", 1)[0]
            vectors.append(np.frombuffer(bytes.fromhex(packed), np.int8).astype(np.float32) * np.float32(scale))
            groups[server, company].append(place)
            if family != "-1":
                families[server, family].append(place)
        means = {key: np.mean([vectors[place] for place in places], 0) for key, places in groups.items()}
        for place, (id, company, family, _, _, traits) in enumerate(rows):
            server, tool = id.split(".", 1)
            right = label(by_server.get(server, []), tool)
            counts = dict(pair.split(":") for pair in traits.split())
            counts = {int(number): float(value) for number, value in counts.items()}
            right = [number[node] for node in right or [] if node != "-"]
            group = None if family == "-1" else (server, family)
            one = (id, server, vectors[place], means[server, company], counts, right, group, company)
            all = (self.ids, self.servers, self.own, self.company, self.traits, self.right, self.family, self.companies)
            for values, value in zip(all, one):
                values.append(value)


def unit(vector):
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def meanings(static):
    """For each node the direction of all its phrases and of each, without half of what all nodes have in common."""
    said = [[static.query(text) for text in node["says"]] for _, node in nodes()]
    wholes = [unit(np.sum(phrases, 0)) for phrases in said]
    common = CENTRED * np.mean(wholes, 0)
    return [(unit(whole - common), [unit(phrase - common) for phrase in phrases]) for whole, phrases in zip(wholes, said)]


class Data:
    """Examples as matrices. Families are joined as placing joins them: it is linear, so features may be mixed instead."""

    def __init__(self, examples, meant):
        e, count = examples, len(meant)
        seen = collections.Counter(number for traits in e.traits for number in traits)
        self.numbers = sorted(number for number, times in seen.items() if times >= RAREST)
        column = {number: place for place, number in enumerate(self.numbers)}
        entries = [(row, column[n], v) for row, traits in enumerate(e.traits) for n, v in traits.items() if n in column]
        row, col, value = zip(*entries)
        words = sparse.csr_matrix((np.float32(value), (row, col)), (len(e.ids), len(self.numbers)))
        dense = np.hstack([np.float32(e.own), np.float32(e.company)])
        groups = collections.defaultdict(list)
        for place, family in enumerate(e.family):
            if family is not None:
                groups[family].append(place)
        mix = sparse.lil_matrix((len(e.ids), len(e.ids)), dtype=np.float32)
        mix.setdiag(1.0)
        for places in groups.values():
            for place in places:
                mix[place, place] = 1 - FAMILY
            for place in places:
                for other in places:
                    mix[place, other] += FAMILY / len(places)
        mix = mix.tocsr()
        self.dense, self.words = mix @ dense, mix @ words
        half = dense.shape[1] // 2
        alone, joined = (x[:, :half] + SHARE * x[:, half:] for x in (dense, self.dense))
        best = lambda whole, phrases: (alone @ np.float32(phrases).T).max(1) - alone @ whole
        self.said = np.stack([joined @ whole + best(whole, phrases) / 2 for whole, phrases in meant], 1) * PHRASES
        self.wholes = np.float32([whole for whole, _ in meant]) * PHRASES
        self.companies = [(server, key) for server, key in zip(e.servers, e.companies)]
        self.right = np.zeros((len(e.ids), count), np.float32)
        for place, right in enumerate(e.right):
            for rank, node in enumerate(right):
                self.right[place, node] = 1.0 if len(right) == 1 else (SECOND if rank else 1 - SECOND)
        self.servers = e.servers
        self.accepted = [set(right) for right in e.right]


def fit(data, rows):
    """Adam on some examples at a time, in the same order in every run."""
    rows = np.array([row for row in rows if data.accepted[row]])
    dense, words, right, said = data.dense[rows], data.words[rows], data.right[rows], data.said[rows]
    shapes = [(dense.shape[1], right.shape[1]), (words.shape[1], right.shape[1]), (right.shape[1],)]
    values = [np.zeros(shape, np.float32) for shape in shapes]
    first, second = [np.zeros_like(v) for v in values], [np.zeros_like(v) for v in values]
    order = np.random.default_rng(7)
    step, steps = 0, ROUNDS * -(-len(right) // BATCH)
    for _ in range(ROUNDS):
        shuffled = order.permutation(len(right))
        for start in range(0, len(right), BATCH):
            some, step = shuffled[start : start + BATCH], step + 1
            x, w = dense[some], words[some]
            off = (softmax(x @ values[0] + w @ values[1] + values[2] + said[some]) - right[some]) / len(some)
            rate = RATE * (1 - step / (steps + 1))
            for place, slope in enumerate([x.T @ off, w.T @ off, off.sum(0)]):
                slope = slope + DECAY * values[place]
                first[place] += 0.1 * (slope - first[place])
                second[place] += 0.001 * (slope * slope - second[place])
                by = np.sqrt(second[place] / (1 - 0.999**step)) + 1e-8
                values[place] -= rate * (first[place] / (1 - 0.9**step)) / by
    return values


def softmax(scores):
    scores = np.exp(scores - scores.max(1, keepdims=True))
    return scores / scores.sum(1, keepdims=True)


def chances(data, values, rows):
    scores = data.dense[rows] @ values[0] + data.words[rows] @ values[1] + values[2] + data.said[rows]
    alone, groups = softmax(scores), collections.defaultdict(list)
    for place, row in enumerate(rows):
        groups[data.companies[row]].append(place)
    for places in groups.values():
        scores[places] += COMPANY * np.log(alone[places].mean(0) + DOUBT)
    return softmax(scores)


def rounded(values):
    """What is left of the weights in the file."""
    dense, words, bias = values
    half = dense.shape[0] // 2
    kept = []
    for part in (dense[:half], dense[half:]):
        scale = np.maximum(np.abs(part).max(0), 1e-9) / 127
        kept.append(np.round(part / scale) * scale)
    largest = np.abs(words).max() or 1.0
    step = np.float32(largest / 127)
    small = np.round(words / step)
    small[np.abs(words) < LEAST * largest] = 0
    order = np.argsort(-np.abs(small), 1)[:, MOST_SPOKEN:]
    np.put_along_axis(small, order, 0, 1)
    return [np.float32(np.vstack(kept)), np.float32(small * step), bias], small.astype(np.int8), step


def save(path, values, data, paths):
    _, small, step = rounded(values)
    dense, _, bias = values
    dense = dense + np.vstack([data.wholes.T, SHARE * data.wholes.T])
    numbers = data.numbers
    half = dense.shape[0] // 2
    names = "".join(path + "\n" for path in paths).encode()
    out = [b"TFTREE\0\0", struct.pack("<IIIfff", 1, half, len(paths), FAMILY, PHRASES / 2, step), struct.pack("<I", len(names)), names]
    for place in range(len(paths)):
        out.append(struct.pack("<f", bias[place]))
        for part in (dense[:half, place], dense[half:, place]):
            scale = max(float(np.abs(part).max()), 1e-9) / 127
            out += [struct.pack("<f", scale), np.round(part / scale).astype(np.int8).tobytes()]
    speaking = [place for place in range(len(numbers)) if small[place].any()]
    out.append(struct.pack("<I", len(speaking)))
    for place in speaking:
        spoken = np.nonzero(small[place])[0]
        out.append(struct.pack("<IB", numbers[place], len(spoken)))
        out += [struct.pack("<Bb", node, small[place, node]) for node in spoken]
    with open(path, "wb") as file:
        file.write(b"".join(out))
    return sum(map(len, out))


def figures(data, rows, found, also):
    """Tools with a right node, wrong placements, tools only in wrong nodes, and how many nodes a tool has."""
    best = np.argsort(-found, 1)[:, :2]
    right = wrong = only = placed = 0
    for place, row in enumerate(rows):
        chosen = [best[place, 0]] + ([best[place, 1]] if found[place, best[place, 1]] >= also else [])
        good = [node in data.accepted[row] for node in chosen]
        right += any(good)
        only += not any(good)
        wrong += good.count(False)
        placed += len(good)
    n = max(len(rows), 1)
    return f"right {100 * right / n:.1f}, wrong placements {100 * wrong / placed:.1f}, only wrong {100 * only / n:.1f}, nodes {placed / n:.2f} ({len(rows)} tools)"


def load(work):
    paths = [path for path, _ in nodes()]
    number = {path.split("/")[1]: place for place, path in enumerate(paths)}
    by_server, examples = labels(), Examples()
    examples.read(os.path.join(work, "real.tsv"), by_server, number)
    real = len(examples.ids)
    examples.read(os.path.join(work, "invented.tsv"), by_server, number)
    made = len(examples.ids)
    meant = meanings(model.load(os.path.join(DATA, "model.bin")))
    return examples, Data(examples, meant), paths, real, made


def part_of(server):
    return zlib.crc32(server.encode()) % PARTS


def check(work, show):
    examples, data, paths, real, made = load(work)
    found = np.zeros_like(data.right)
    for part in range(PARTS):
        held = [row for row in range(made) if part_of(data.servers[row]) == part]
        kept = [row for row in range(made) if part_of(data.servers[row]) != part]
        found[held] = chances(data, rounded(fit(data, kept))[0], held)
    for name, rows in (("real", range(real)), ("invented", range(real, made))):
        rows = [row for row in rows if data.accepted[row]]
        for also in (0.25, 0.3, 0.35, 0.4, 2.0):
            print(f"unseen servers, {name}, second from {also}: {figures(data, rows, found[rows], also)}")
    if show:
        for row in range(made):
            best = np.argsort(-found[row])[:2]
            good = "ok " if best[0] in data.accepted[row] else "BAD"
            print(good, examples.ids[row], *(f"{paths[n]} {found[row, n]:.2f}" for n in best), "|", [paths[n] for n in data.accepted[row]])


def train(work, out):
    examples, data, paths, real, made = load(work)
    values = fit(data, range(len(data.servers)))
    size = save(out, values, data, paths)
    kept, _, _ = rounded(values)
    for name, rows in (("real", range(real)), ("invented", range(real, made))):
        rows = [row for row in rows if data.accepted[row]]
        print(f"what was learned from, {name}: {figures(data, rows, chances(data, kept, rows), 0.3)}")
    print(f"{out}: {size} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["lists", "check", "train"])
    parser.add_argument("--work")
    parser.add_argument("--out")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    if args.what == "lists":
        lists(args.out)
    elif args.what == "check":
        check(args.work, args.show)
    else:
        train(args.work, args.out)
