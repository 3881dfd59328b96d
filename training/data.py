"""Where the training pairs come from. A pair is (what is asked for, a document, the kind of source).

Nothing of `eval/dev` is used: tools that occur there are left out of every other source too, and so are queries.
Kinds: `labelled` (public queries for tools), `own` (queries written for this project), `invented` (the same, for tools that do
not exist), `held` (both, of servers kept out of training), `self` (two parts of one tool's text), `outside` (texts that are not about tools of this kind).
"""

import collections
import glob
import gzip
import html
import json
import lzma
import os
import random
import re

import numpy as np
import scipy.sparse

from words import split

DEV_SETS = ["api_bank", "azure", "bfcl", "mcp308", "metatool", "metatool_multi"]
Document = collections.namedtuple("Document", "server name first rest parameters prose")
Pair = collections.namedtuple("Pair", "query document kind source")
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*[-*A-Z])")


def jsonl(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def plain(text):
    return re.sub(r"\W+", " ", (text or "").lower()).strip()


def document(tool):
    """The fields of a tool, as evaluation and the index see them."""
    first, rest = cut(tool.get("description") or "")
    names, prose = parameters(tool.get("input_schema") or tool.get("inputSchema") or {})
    server = re.sub(r"(?i)\b(mcp|server|modelcontextprotocol)\b", " ", re.sub(r"[^\w]|_", " ", tool.get("server") or ""))
    return Document(" ".join(server.split()), tool["name"], first, rest, " ".join(names), " ".join(prose)[:1500])


def cut(description):
    """The first sentence of a description, and the rest of it."""
    parts = SENTENCE.split(description.strip(), maxsplit=1)
    return parts[0][:400], (parts[1] if len(parts) > 1 else "")[:1500]


def parameters(schema, depth=0):
    names, prose = [], []
    if not isinstance(schema, dict) or depth > 3:
        return names, prose
    for name, inner in (schema.get("properties") or {}).items() if isinstance(schema.get("properties"), dict) else []:
        names.append(name)
        if isinstance(inner, dict):
            if isinstance(inner.get("description"), str):
                prose.append(inner["description"])
            prose += [v for v in inner.get("enum") or [] if isinstance(v, str)][:20]
            for below in (inner, inner.get("items")):
                more = parameters(below, depth + 1)
                names += more[0]
                prose += more[1]
    return names[:40], prose[:40]


def text_of(document):
    """A document as one text, for the teacher."""
    name = " ".join(split(document.name))
    return f"{document.server} {name}: {document.first} {document.rest}"[:400].strip()


class Forbidden:
    """What the development sets contain. A tool counts as theirs when its text is nearly the same, not only when it is equal:
    real servers' lists hold later wordings of tools that the sets took from the same servers."""

    def __init__(self, shared):
        self.tools = [t for s in DEV_SETS for t in jsonl(f"{shared}/eval/dev/{s}/tools.jsonl")]
        self.names = {(plain(t["server"]), plain(t["name"])) for t in self.tools}
        self.servers = {plain(t["server"]) for t in self.tools if "::" in t["id"]}
        self.queries = {plain(q["query"]) for s in DEV_SETS for q in jsonl(f"{shared}/eval/dev/{s}/queries.jsonl")}

    def without(self, tools, whole_servers=False, others=()):
        """The tools that are neither in the sets nor nearly the same as one there (or one of `others`)."""
        near = near_copies(tools, self.tools + list(others))
        return [t for t, n in zip(tools, near) if not n and not self._named(t, whole_servers)]

    def _named(self, tool, whole_servers):
        server = plain(tool.get("server"))
        return (
            (server, plain(tool["name"])) in self.names
            or whole_servers and server in self.servers
            or server.startswith("azure") and "devops" not in server
        )


def near_copies(tools, others, alike=0.6, alike_with_name=0.4):
    """Which tools share most words of their description with one of `others`, or many words and the name."""
    vectorise = lambda these: [set(plain(t.get("description")).split()) for t in these]
    left, right = vectorise(tools), vectorise(others)
    numbers = {}
    matrix = lambda sets: scipy.sparse.csr_matrix(
        (np.ones(sum(map(len, sets)), np.float32), ([i for i, w in enumerate(sets) for _ in w], [numbers.setdefault(x, len(numbers)) for w in sets for x in w])),
        (len(sets), 400_000))
    a, b = matrix(left), matrix(right).T.tocsc()
    sizes = np.array([len(w) for w in right], np.float32)
    squashed = [plain(t["name"]).replace(" ", "") for t in others]
    same_name = {}
    for i, name in enumerate(squashed):
        same_name.setdefault(name, []).append(i)
    found = np.zeros(len(tools), bool)
    for start in range(0, len(tools), 1000):
        shared = (a[start : start + 1000] @ b).toarray()
        for row in range(len(shared)):
            number = start + row
            share = shared[row] / np.maximum(len(left[number]) + sizes - shared[row], 1)
            called = same_name.get(plain(tools[number]["name"]).replace(" ", ""), [])
            found[number] = share.max() >= alike or any(share[i] >= alike_with_name for i in called)
    return found


def labelled(shared, forbidden):
    for name in ("metatool", "sealtools"):
        tools = {t["id"]: t for t in jsonl(f"{shared}/eval/train/{name}/tools.jsonl")}
        for query in jsonl(f"{shared}/eval/train/{name}/queries.jsonl"):
            if plain(query["query"]) in forbidden.queries:
                continue
            for wanted in query["relevant"]:
                yield Pair(query["query"], document(tools[wanted]), "labelled", name)


def catalogs(shared, forbidden):
    """The tools of the real servers: {server: [tool]}."""
    servers = {}
    for path in sorted(glob.glob(f"{shared}/catalogs/*.json")):
        server = os.path.basename(path)[:-5]
        if server.startswith("_") or server == "azure":
            continue
        with open(path, encoding="utf-8") as file:
            tools = [dict(tool, server=server) for tool in json.load(file).get("tools") or []]
        servers[server] = tools
    kept = forbidden.without([t for tools in servers.values() for t in tools])
    return {server: [t for t in kept if t["server"] == server] for server in servers}


def held(servers):
    """One server in ten is never seen in training."""
    return set(sorted(servers)[3::10])


def own(shared, forbidden, pairs):
    servers = catalogs(shared, forbidden)
    away = held(servers)
    for path in sorted(glob.glob(f"{pairs}/*.jsonl")):
        server = os.path.basename(path)[:-6]
        tools = {t["name"]: t for t in servers.get(server, [])}
        for pair in jsonl(path):
            if pair["tool"] in tools and plain(pair["query"]) not in forbidden.queries:
                yield Pair(pair["query"], document(tools[pair["tool"]]), "held" if server in away else "own", server)


def invented(pairs):
    """Tools that do not exist and requests for them by style, written for this project: {server: [(tool, requests)]}."""
    servers, folder = {}, os.path.join(os.path.dirname(pairs.rstrip("/")), "invented")
    for path in sorted(glob.glob(f"{folder}/*.jsonl")):
        for line in jsonl(path):
            properties = {name: {"description": text} if text else {} for name, text in line["parameters"].items()}
            tool = {"server": line["server"], "name": line["name"], "description": line["description"], "input_schema": {"properties": properties}}
            servers.setdefault(line["server"], []).append((tool, line["queries"]))
    return servers


def invented_pairs(pairs, forbidden):
    servers = invented(pairs)
    away = held(servers)
    kept = {id(t) for t in forbidden.without([tool for tools in servers.values() for tool, _ in tools])}
    for server, tools in servers.items():
        for tool, requests in tools:
            for request in requests.values():
                if id(tool) in kept and plain(request) not in forbidden.queries:
                    yield Pair(request, document(tool), "held" if server in away else "invented", server)


def tool_texts(shared, forbidden):
    """Tools without queries, one of each description, and none that is nearly one of the servers kept out."""
    servers = catalogs(shared, forbidden)
    away = held(servers)
    tools = [t for server, ts in servers.items() if server not in away for t in ts]
    tools += [t for t in jsonl(f"{shared}/eval/scale/tools.jsonl.gz") if t["server"] not in away]
    seen = set()
    for tool in forbidden.without(tools, whole_servers=True, others=[t for s in away for t in servers[s]]):
        key = plain(tool.get("description"))
        if len(key) >= 12 and key not in seen:
            seen.add(key)
            yield document(tool)


def self_pairs(documents):
    """Two pairs of each tool: its name for its description, and its first sentence for everything else."""
    for d in documents:
        random_ = random.Random(f"{d.name} {d.first}")  # a tool's pairs do not change when another tool comes or goes
        name = " ".join(split(d.name))
        if random_.random() < 0.3 and d.server:
            name = f"{d.server} {name}"
        yield Pair(name, d._replace(name="", parameters=""), "self", "name")
        yield Pair(wish(d.first, random_), d._replace(first=""), "self", "first")


OPENINGS = [
    "", "", "", "please ", "can you ", "could you ", "I want to ", "I need to ", "help me ", "I'd like to ",
    "how do I ", "is there a way to ", "we have to ", "let's ", "tool to ", "something that can ",
]


def wish(sentence, random_):
    """A description's first sentence as somebody might ask for it."""
    text = re.sub(r"(?i)^(this (tool|api|function|endpoint)|the api|an? api|tool|use this)( (is|can|will|to))* (for |to )?", "", sentence)
    words = text.split()[:30]
    if words and len(words) > 3:
        words[0] = re.sub(r"(?<=[a-z]{3})s$", "", words[0].lower())
    if random_.random() < 0.3:
        words = [w for w in words if random_.random() > 0.2]
    return random_.choice(OPENINGS) + " ".join(words)


def debian(path):
    """Packages: the short description for the long one (`Translation-en.xz` of a release)."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    for block in text.split("\n\n"):
        name = re.search(r"^Package: (\S+)", block, re.M)
        found = re.search(r"^Description(?:-en)?: (.+)\n((?: .*\n?)*)", block, re.M)
        if name and found and not re.search(r"-(dev|dbg|doc|dbgsym)$|^(lib|fonts-|golang|node-|r-|ruby-|python3-)", name[1]):
            rest = re.sub(r"\s+", " ", found[2].replace("\n .", "\n"))
            yield Pair(found[1], Document("", name[1], "", rest[:600], "", ""), "outside", "debian")


def wordnet(folder):
    for path in sorted(glob.glob(f"{folder}/data.*")):
        with open(path, encoding="latin-1") as lines:
            for line in lines:
                if line.startswith("  "):
                    continue
                head, gloss = line.split("|", 1)
                fields = head.split()
                words = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
                if words[0][:1].islower():
                    yield Pair(" ".join(words[:4]), Document("", "", gloss.split('"')[0].strip(" ;\n"), "", "", ""), "outside", "wordnet")


def strip_tags(text):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text or ""))).strip()


def botocore(folder):
    """Operations of AWS's services: PyPI `botocore`."""
    newest = {}
    for path in sorted(glob.glob(f"{folder}/*/*/service-2.json.gz")):
        newest[path.split(os.sep)[-3]] = path
    for service, path in newest.items():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            model = json.load(file)
        title = model["metadata"].get("serviceId") or service
        for name, operation in model["operations"].items():
            members = model["shapes"].get((operation.get("input") or {}).get("shape"), {}).get("members", {})
            yield title, name, strip_tags(operation.get("documentation")), list(members)[:20]


def google(folder):
    """Methods of Google's interfaces: PyPI `google-api-python-client`."""
    for path in sorted(glob.glob(f"{folder}/*.json")):
        with open(path, encoding="utf-8") as file:
            model = json.load(file)
        yield from _methods(model.get("canonicalName") or model.get("title", ""), "", model)


def _methods(title, above, node):
    for name, method in (node.get("methods") or {}).items():
        yield title, f"{above}_{name}", strip_tags(method.get("description")), list(method.get("parameters") or {})
    for name, inner in (node.get("resources") or {}).items():
        yield from _methods(title, name, inner)


def github(path):
    """GitHub's operations: npm `@octokit/openapi`."""
    with open(path, encoding="utf-8") as file:
        model = json.load(file)
    for ways in model["paths"].values():
        for operation in ways.values():
            if isinstance(operation, dict) and operation.get("summary"):
                yield "github", operation["operationId"].split("/")[-1], operation["summary"] + ". " + operation.get("description", ""), []


def operation_pairs(operations, source, random_):
    seen = set()
    for title, name, text, names in operations:
        first, rest = cut(text)
        if len(first) < 15 or plain(first) in seen:
            continue
        seen.add(plain(first))
        d = Document(title, name, first, rest[:600], " ".join(names), "")
        if random_.random() < 0.5:
            yield Pair(" ".join(split(name)), d._replace(name="", parameters=""), "outside", source)
        else:
            yield Pair(wish(first, random_), d._replace(first=""), "outside", source)


def outside(sources, random_):
    """Everything that is not about tools of this kind. `sources`: folder of unpacked packages."""
    kinds = {
        "debian": (list(debian(f"{sources}/Translation-en.xz")), 14000),
        "wordnet": (list(wordnet(f"{sources}/wordnet")), 24000),
        "botocore": (list(operation_pairs(botocore(f"{sources}/botocore/data"), "botocore", random_)), 12000),
        "google": (list(operation_pairs(google(f"{sources}/googleapiclient/discovery_cache/documents"), "google", random_)), 9000),
        "github": (list(operation_pairs(github(f"{sources}/github.json"), "github", random_)), 2000),
    }
    for pairs, limit in kinds.values():
        yield from random_.sample(pairs, min(limit, len(pairs)))


def everything(shared, pairs, sources, seed=7):
    random_ = random.Random(seed)
    forbidden = Forbidden(shared)
    result = list(labelled(shared, forbidden)) + list(own(shared, forbidden, pairs))
    result += list(invented_pairs(pairs, forbidden))
    result += list(self_pairs(tool_texts(shared, forbidden)))
    return result + list(outside(sources, random_))
