"""A tiny encoder with random weights, and what it must answer: the test data of `crates/toolfold-encoder`.

    python training/tiny_encoder.py crates/toolfold-encoder/tests/data

Writes `tiny.bin` (version 1 of the format that is described in `bert.py`) and `tiny.json`: a text, its pieces by `tokenizers`,
its vector by this file's own arithmetic in 64 bits; and `pieces.bin` and `pieces.json`, the same network in version 2, with what
each piece says and its vector. Sizes are odd on purpose, so that nothing divides evenly.
"""

import json
import math
import string
import struct
import sys

import numpy as np
from tokenizers.implementations import BertWordPieceTokenizer

DIMS, LAYERS, HEADS, WIDE, POSITIONS, SHORT = 36, 2, 3, 75, 40, 10
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["create", "file", "issue", "weather", "the", "in", "##y", "##ing", "##ther", "wea", "東", "京", "ß"]
VOCABULARY = SPECIAL + list(string.ascii_lowercase) + ["##" + c for c in string.ascii_lowercase[:21]] + WORDS
VOCABULARY += [c for c in ".,-_()'$[]"] + ["##é", "##1", "1", "2", "и"]
TEXTS = [
    "",
    "create an issue",
    "Créer un FILE à la carte",
    "the weather in 東京 (forecast)",
    "issues, files - and 'weathering'; $12",
    "snake_case camelCase UPPER",
    "\u00a0blank\u2003and\u200bnothing\u0000\ufffd\ttab",
    "e\u0301 ﬁ ½ İ ß é1",
    "привет и 한국어 ไทย 🎉",
    "a" * 101 + " " + "a" * 100,
    "the file in the weather " * 50,
    "[SE] [CLS",
]


def main(folder):
    random = np.random.default_rng(7)
    tensors = list(weights(random))
    short = list(linear(random, SHORT + 1, DIMS))
    write(f"{folder}/tiny.bin", [1], tensors)
    write(f"{folder}/pieces.bin", [2, SHORT], tensors + short)
    tokenizer = BertWordPieceTokenizer({piece: number for number, piece in enumerate(VOCABULARY)}, lowercase=True)
    tokenizer.enable_truncation(POSITIONS)
    every = [tokenizer.encode(text).ids for text in TEXTS]
    rows = [outputs(in_numbers(tensors), pieces) for pieces in every]
    rounded = lambda numbers: [round(x, 6) for x in numbers]
    save(f"{folder}/tiny.json", [[text, pieces, rounded(unit(x.mean(0)))] for text, pieces, x in zip(TEXTS, every, rows)])
    matrix, bias = in_numbers(short)
    each = [x @ matrix.T + bias for x in rows]
    says = [np.exp(x[:, -1] - x[:, -1].max()) for x in each]
    save(f"{folder}/pieces.json", [[t, rounded(s / s.sum()), [rounded(unit(v)) for v in x[:, :-1]]] for t, s, x in zip(TEXTS, says, each)])


def write(path, versions, tensors):
    with open(path, "wb") as file:
        names = "\n".join(VOCABULARY).encode()
        sizes = [versions[0], len(VOCABULARY), DIMS, LAYERS, HEADS, WIDE, POSITIONS, *versions[1:]]
        file.write(b"TFENCODE" + struct.pack(f"<{len(sizes)}I", *sizes))
        file.write(struct.pack("<I", len(names)) + names)
        for tensor in tensors:
            file.write(b"".join(part.tobytes() for part in (tensor if isinstance(tensor, tuple) else (tensor,))))


def save(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(e) for e in lines) + "\n]\n")


def in_numbers(tensors):
    return [t[0][:, None].astype(np.float64) * t[1] if isinstance(t, tuple) else t.astype(np.float64) for t in tensors]


def weights(random):
    """In the order of the file: pairs of scales and bytes for a matrix, one array for a vector."""
    norm = lambda: [vector(random, DIMS, 1), vector(random, DIMS)]
    yield from [matrix(random, len(VOCABULARY), DIMS), matrix(random, POSITIONS, DIMS), *norm()]
    for _ in range(LAYERS):
        yield from [*linear(random, 3 * DIMS, DIMS), *linear(random, DIMS, DIMS), *norm()]
        yield from [*linear(random, WIDE, DIMS), *linear(random, DIMS, WIDE), *norm()]


def matrix(random, rows, columns):
    scales = (random.uniform(0.5, 1.5, rows) * 2 / 127 / math.sqrt(columns)).astype("<f4")
    return scales, random.integers(-127, 128, (rows, columns)).astype(np.int8)


def vector(random, length, around=0):
    return (around + random.normal(0, 0.2, length)).astype("<f4")


def linear(random, rows, columns):
    return [matrix(random, rows, columns), vector(random, rows)]


def outputs(values, pieces):
    """What comes out for each piece."""
    values = iter(values)
    take = lambda count: [next(values) for _ in range(count)]
    words, positions, gain, shift = take(4)
    x = normalised(words[pieces] + positions[: len(pieces)], gain, shift)
    for _ in range(LAYERS):
        into, into_bias, out, out_bias, gain, shift, wide, wide_bias, narrow, narrow_bias, gain2, shift2 = take(12)
        x = normalised(x + attended(x @ into.T + into_bias) @ out.T + out_bias, gain, shift)
        h = x @ wide.T + wide_bias
        h = h * 0.5 * (1 + np.vectorize(math.erf)(h / math.sqrt(2)))
        x = normalised(x + h @ narrow.T + narrow_bias, gain2, shift2)
    return x


def unit(x):
    return x / np.linalg.norm(x)


def attended(x):
    split = lambda part: part.reshape(len(x), HEADS, -1).swapaxes(0, 1)
    query, key, value = map(split, np.split(x, 3, axis=1))
    scores = query @ key.swapaxes(1, 2) / math.sqrt(DIMS // HEADS)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return (shares / shares.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(x), DIMS)


def normalised(x, gain, shift):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12) * gain + shift


if __name__ == "__main__":
    main(sys.argv[1])
