"""BM25F over stems and surface forms, in sparse matrices.

The fields and terms of the Rust index (`weight.rs`); saturation and length were measured here. Fields are held against usual
lengths, not against the mean of the catalog: a tool's weights then depend on nothing but the tool.
"""

import collections
import functools

import numpy as np
import scipy.sparse
import snowballstemmer

from words import LONGEST_WORD, split

# Server, name, first sentence and rest of the description, parameter names, parameter descriptions.
WEIGHTS = [1.0, 2.0, 1.0, 1.0, 0.5, 0.3]
LENGTHS = [0.0, 0.5, 0.5, 0.5, 0.5, 0.5]
USUAL = [2.0, 3.0, 11.0, 20.0, 6.0, 30.0]  # words in a field
SATURATION, SURFACE = 0.9, 0.4
STOP = set(
    "a about all am an and any are as at be been but by can could did do does each for from given had has have help hello "
    "hey hi how i if in into is it its just kindly let like ll m may me might my need of on or our please re s shall should so some t "
    "thank thanks that the their them then there these this those to tool tools us use using ve via want was we were what when where "
    "which who will with would you your d also".split()
)
_STEMMER = snowballstemmer.stemmer("english")


@functools.lru_cache(None)
def stem(word):
    return _STEMMER.stemWord(word)


class Lexical:
    def __init__(self, documents, weights=WEIGHTS, lengths=LENGTHS, saturation=SATURATION, surface=SURFACE):
        self.surface, self.numbers = surface, {}
        counts = [self._counts(d) for d in documents]
        fields = len(weights)
        totals = np.array([[len(split(text)) for text in d] for d in documents], float).reshape(len(counts), fields)
        rows, columns, amounts = [], [], []
        for number, row in enumerate(counts):
            sums = collections.defaultdict(float)
            for f in range(fields):
                norm = 1 - lengths[f] + lengths[f] * totals[number, f] / USUAL[f]
                for term, count in row[f].items():
                    sums[term] += weights[f] * count / norm
            for term, amount in sums.items():
                rows.append(self.numbers.setdefault(term, len(self.numbers)))
                columns.append(number)
                amounts.append(amount * (saturation + 1) / (amount + saturation))
        self.matrix = scipy.sparse.csr_matrix((amounts, (rows, columns)), (len(self.numbers), len(documents)))
        having = np.diff(self.matrix.indptr)
        self.rarity = np.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
        self.matrix = scipy.sparse.diags(self.rarity) @ self.matrix
        self.matrix = self.matrix.tocsr()

    @staticmethod
    def _counts(document):
        found = []
        for text in document:
            words = collections.Counter()
            for word in split(text):
                if len(word) <= LONGEST_WORD:
                    for term in {word, stem(word)}:
                        words[term] += 1
            found.append(words)
        return found

    def terms(self, text, weight_of=None):
        every = split(text)
        wanted = [w for w in every if w not in STOP] or every
        terms = {}
        for word in list(dict.fromkeys(wanted))[:64]:
            root, boost = stem(word), weight_of(word) if weight_of else 1.0
            a, b = self.numbers.get(word), self.numbers.get(root) if root != word else None
            if a is not None and b is not None:
                found = [(a, self.surface), (b, 1 - self.surface)]
            else:
                found = [(a, 1.0)] if a is not None else [(b, 1 - self.surface)] if b is not None else []
            for number, weight in found:
                terms[number] = max(terms.get(number, 0), weight * boost)
        return terms

    def scores(self, text, weight_of=None):
        terms = self.terms(text, weight_of)
        if not terms:
            return np.zeros(self.matrix.shape[1])
        return np.asarray(np.fromiter(terms.values(), float) @ self.matrix[list(terms)]).ravel()
