"""The static model: a table of vectors, one per word piece, and how a text becomes a vector.

A query is the sum of the vectors of its pieces. A tool is the weighted sum of its fields, each the sum of the vectors
of its pieces divided by the square root of their number. Both are scaled to length one; similarity is the dot product.

FORMAT of `model.bin`, little-endian, no padding:

    magic      8 bytes    "TFSTATIC"
    version    u32        1
    dimensions u32        D
    pieces     u32        V
    fields     u32        F
    F × (u32 limit, f32 weight)   pieces of the field that count, and its weight; in the order of FIELDS
    u32 length, then the V pieces as UTF-8, each ended by "\\n"; a piece's place is its number
    V × f32    scale of each row
    V × D × i8 rows; the vector of piece i is scale[i] * row[i]. How much a piece says is the length of its vector.
"""

import struct

import numpy as np

from words import Pieces

MAGIC = b"TFSTATIC"
FIELDS = ["server", "name", "first", "rest", "parameters", "prose"]
LIMITS = [8, 16, 48, 64, 32, 64]


class Static:
    def __init__(self, vocabulary, vectors, weights, limits=LIMITS):
        self.vocabulary, self.vectors = vocabulary, vectors
        self.weights, self.limits = np.asarray(weights, np.float32), limits
        self.pieces = Pieces(vocabulary)

    def query(self, text):
        ids = self.pieces.ids(text)
        return unit(self.vectors[ids].sum(0)) if ids else np.zeros(self.vectors.shape[1], np.float32)

    def document(self, document, weights=None):
        total = np.zeros(self.vectors.shape[1], np.float32)
        weights = self.weights if weights is None else weights
        for text, weight, limit in zip(document, weights, self.limits):
            ids = self.pieces.ids(text)[:limit]
            if ids and weight:
                total += weight / np.sqrt(len(ids)) * self.vectors[ids].sum(0)
        return unit(total)

    def save(self, path):
        scale = np.maximum(np.abs(self.vectors).max(1), 1e-9).astype(np.float32) / 127
        rows = np.round(self.vectors / scale[:, None]).astype(np.int8)
        names = "".join(piece + "\n" for piece in self.vocabulary).encode()
        with open(path, "wb") as file:
            file.write(MAGIC + struct.pack("<4I", 1, rows.shape[1], len(rows), len(FIELDS)))
            for limit, weight in zip(self.limits, self.weights):
                file.write(struct.pack("<If", limit, weight))
            file.write(struct.pack("<I", len(names)) + names + scale.tobytes() + rows.tobytes())


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == MAGIC
    _, dimensions, count, fields = struct.unpack_from("<4I", data, 8)
    at = 24
    limits, weights = zip(*(struct.unpack_from("<If", data, at + 8 * i) for i in range(fields)))
    at += 8 * fields
    (length,) = struct.unpack_from("<I", data, at)
    vocabulary = data[at + 4 : at + 4 + length].decode().split("\n")[:-1]
    at += 4 + length
    scale = np.frombuffer(data, "<f4", count, at)
    rows = np.frombuffer(data, np.int8, count * dimensions, at + 4 * count).reshape(count, dimensions)
    return Static(vocabulary, rows * scale[:, None], weights, list(limits))


def unit(vector):
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector
