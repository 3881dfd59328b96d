"""Pairs as piece numbers in flat arrays, and batches of them."""

import numpy as np

import data
from model import FIELDS, LIMITS

# Share of a batch by source.
SHARES = {"metatool": 0.12, "sealtools": 0.08, "own": 0.22, "invented": 0.24, "self": 0.20, "debian": 0.03, "wordnet": 0.05, "operations": 0.06}
OPERATIONS = {"botocore", "google", "github"}
# How often a field is hidden from a document while training, so that no field is leant on alone.
HIDDEN = [0.4, 0.15, 0.1, 0.3, 0.3, 0.4]


def group(pair):
    if pair.kind in ("own", "invented", "self"):
        return pair.kind
    return "operations" if pair.source in OPERATIONS else pair.source


class Examples:
    """Documents are numbered once; a pair is (query, document)."""

    def __init__(self, pairs, pieces, cache, seed):
        self.random = np.random.default_rng(seed)
        self.numbers, self.documents, self.texts = {}, [], []
        self.pairs = [p for p in pairs if p.kind != "held"]
        self.wanted = np.array([self._document(p.document, pieces) for p in self.pairs])
        self.queries = [np.array(pieces.ids(p.query)[:64], np.int64) for p in self.pairs]
        self.query_rows = np.array([cache.row(p.query) for p in self.pairs])
        self.document_rows = np.array([cache.row(t) for t in self.texts])
        usable = [bool(len(q)) and self.documents[w] is not None for q, w in zip(self.queries, self.wanted)]
        self.groups = {}
        for number, pair in enumerate(self.pairs):
            if usable[number]:
                self.groups.setdefault(group(pair), []).append(number)
        self.groups = {name: np.array(numbers) for name, numbers in self.groups.items()}
        self.other_right = self._other_right()
        self.hard = {}

    def _document(self, document, pieces):
        if document not in self.numbers:
            self.numbers[document] = len(self.documents)
            fields = [np.array(pieces.ids(text)[:limit], np.int64) for text, limit in zip(document, LIMITS)]
            self.documents.append(fields if any(len(f) for f in fields) else None)
            self.texts.append(data.text_of(document))
        return self.numbers[document]

    def _other_right(self):
        """Documents that share a query: {query text: set of documents}."""
        right = {}
        for pair, wanted in zip(self.pairs, self.wanted):
            right.setdefault(pair.query, set()).add(int(wanted))
        return right

    def batch(self, size):
        """Pair numbers, in the shares above."""
        parts = [
            self.random.choice(self.groups[name], max(1, int(size * share)), replace=len(self.groups[name]) < size)
            for name, share in SHARES.items() if name in self.groups
        ]
        return np.concatenate(parts)

    def negatives(self, numbers, count):
        """Hard documents for these pairs: `count` each where some are known."""
        found = []
        for number in numbers:
            choices = self.hard.get(int(number))
            if choices is not None and len(choices):
                found.append(self.random.choice(choices, count))
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def flat_queries(self, numbers):
        """Ids, and which row each belongs to."""
        ids = [self.queries[n] for n in numbers]
        return np.concatenate(ids), np.repeat(np.arange(len(ids)), [len(i) for i in ids])

    def flat_documents(self, numbers, hide=True):
        """Ids, rows, fields and 1/sqrt(pieces of the field)."""
        ids, rows, fields, shares = [], [], [], []
        hidden = self.random.random((len(numbers), len(FIELDS))) < np.array(HIDDEN) * hide
        for row, number in enumerate(numbers):
            present = [f for f, i in enumerate(self.documents[number]) if len(i)]
            shown = [f for f in present if not hidden[row, f]] or present
            for f in shown:
                i = self.documents[number][f]
                ids.append(i)
                rows.append(np.full(len(i), row))
                fields.append(np.full(len(i), f))
                shares.append(np.full(len(i), len(i) ** -0.5, np.float32))
        return tuple(np.concatenate(part) for part in (ids, rows, fields, shares))
