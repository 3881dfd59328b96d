"""A BERT sentence encoder (gte-small, all-MiniLM) in torch: read from ONNX, trained, written as `precise.bin` and read from it.

The vector of a text is the mean over all tokens, `[CLS]` and `[SEP]` too, scaled to length one. GELU is the exact one (erf).

FORMAT of `precise.bin`, little-endian, no padding:

    magic      8 bytes    "TFENCODE"
    version    u32        2 (1 has no pieces)
    vocabulary, dimensions, layers, heads, intermediate, positions, dimensions of a piece    u32 each
    u32 length, then the pieces as UTF-8 joined by "\\n"; a piece's place is its number
    words      matrix     one row per piece
    positions  matrix     with the vector of the first token type added to every row
    norm       gamma and beta
    per layer  query, key and value as one matrix and one bias; attention's output matrix and bias; norm;
               widening matrix and bias; narrowing matrix and bias; norm
    pieces     matrix and bias, which make a short vector of each token; the last row tells how much the token says (`late.py`)

A vector is f32. A matrix is (out, in): f32 scales of its rows, then i8 rows; the value is scale[row] * i8, -128 is not used.
"""

import os
import struct

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers.implementations import BertWordPieceTokenizer
from torch.nn import functional as F

MAGIC, POSITIONS, HEADS = b"TFENCODE", 128, 12
EMBEDDINGS = "embeddings.{}_embeddings.weight"
ATTENTION = ["attention.self.query", "attention.self.key", "attention.self.value"]
LINEAR = ["attention.output.dense", "intermediate.dense", "output.dense"]
NORMS = ["attention.output.LayerNorm", "output.LayerNorm"]


class Bert(torch.nn.Module):
    """`tensors` by the names that BERT gives them, matrices as (out, in)."""

    def __init__(self, tensors, vocabulary, longest=64):
        super().__init__()
        self.vocabulary = vocabulary
        self.layers = 1 + max(int(name.split(".")[2]) for name in tensors if name.startswith("encoder"))
        self.tokenizer = BertWordPieceTokenizer({piece: number for number, piece in enumerate(vocabulary)}, lowercase=True)
        self.tokenizer.enable_truncation(longest)
        self.tensors = torch.nn.ParameterDict({k.replace(".", "/"): torch.nn.Parameter(v) for k, v in tensors.items()})
        self.pieces = None  # (weight, bias) of `late.py`

    def tensor(self, name):
        return self.tensors[name.replace(".", "/")]

    def freeze(self, layers):
        """Embeddings and the first layers stay as they are (and need no gradient)."""
        for name, parameter in self.tensors.items():
            parameter.requires_grad_(not name.startswith("embeddings") and int(name.split("/")[2]) >= layers)

    def draw_back(self, other, share):
        """Mixes the weights with those of another."""
        with torch.no_grad():
            for name, parameter in self.tensors.items():
                parameter.lerp_(other.tensors[name], share)

    def ids(self, texts):
        return [e.ids for e in self.tokenizer.encode_batch(list(texts))]

    @torch.no_grad()
    def encode(self, texts):
        return self(self.ids(texts), 32).numpy()

    def forward(self, ids, chunk=16):
        """Unit vectors in the order of `ids`; texts of one length go together, so that little is padded."""
        order = np.argsort([len(i) for i in ids], kind="stable")
        parts = [self.pooled([ids[n] for n in order[at : at + chunk]]) for at in range(0, len(order), chunk)]
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return F.normalize(torch.cat(parts)[torch.from_numpy(back)], dim=1)

    def pooled(self, ids):
        x, mask = self.outputs(ids)
        return (x * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]

    def outputs(self, ids):
        """What comes out for each token, and which of them there are."""
        width = max(map(len, ids))
        lengths = torch.tensor([len(i) for i in ids])
        padded = torch.tensor([i + [0] * (width - len(i)) for i in ids])
        mask = torch.arange(width)[None] < lengths[:, None]
        words, positions, kinds = (self.tensor(EMBEDDINGS.format(n)) for n in ("word", "position", "token_type"))
        x = self.norm(words[padded] + (positions[:width] + kinds[0]), "embeddings.LayerNorm")
        for layer in range(self.layers):
            x = self.layer(x, mask, f"encoder.layer.{layer}.")
        return x, mask

    def layer(self, x, mask, at):
        count, width, dims = x.shape
        heads = lambda name: self.linear(x, at + name).view(count, width, HEADS, -1).transpose(1, 2)
        attended = F.scaled_dot_product_attention(*map(heads, ATTENTION), attn_mask=mask[:, None, None, :])
        x = self.norm(x + self.linear(attended.transpose(1, 2).reshape(count, width, dims), at + LINEAR[0]), at + NORMS[0])
        return self.norm(x + self.linear(F.gelu(self.linear(x, at + LINEAR[1])), at + LINEAR[2]), at + NORMS[1])

    def linear(self, x, name):
        return F.linear(x, self.tensor(name + ".weight"), self.tensor(name + ".bias"))

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.tensor(name + ".weight"), self.tensor(name + ".bias"), 1e-12)

    def save(self, path):
        words = self.tensor(EMBEDDINGS.format("word"))
        wide = self.tensor(f"encoder.layer.0.{LINEAR[1]}.bias").shape[0]
        names = "\n".join(self.vocabulary).encode()
        with open(path, "wb") as file:
            version, short = (2, [len(self.pieces[1]) - 1]) if self.pieces else (1, [])
            sizes = [version, len(words), words.shape[1], self.layers, HEADS, wide, POSITIONS, *short]
            file.write(MAGIC + struct.pack(f"<{len(sizes)}I", *sizes))
            file.write(struct.pack("<I", len(names)) + names)
            for tensor in self.packed():
                file.write(matrix(tensor) if tensor.dim() == 2 else tensor.detach().numpy().astype("<f4").tobytes())

    def packed(self):
        """The tensors of the file, in its order."""
        yield self.tensor(EMBEDDINGS.format("word"))
        yield self.tensor(EMBEDDINGS.format("position"))[:POSITIONS] + self.tensor(EMBEDDINGS.format("token_type"))[0]
        for group in groups(self.layers):
            for kind in ("weight", "bias"):
                yield torch.cat([self.tensor(f"{name}.{kind}") for name in group])
        yield from self.pieces or ()


def groups(layers):
    """Norms and linear parts after the embeddings; query, key and value are one."""
    yield ["embeddings.LayerNorm"]
    for layer in range(layers):
        at = f"encoder.layer.{layer}."
        yield [at + name for name in ATTENTION]
        for name in (LINEAR[0], NORMS[0], LINEAR[1], LINEAR[2], NORMS[1]):
            yield [at + name]


def matrix(tensor):
    values = tensor.detach().numpy()
    scale = (np.abs(values).max(1) / 127).astype("<f4")
    return scale.tobytes() + np.rint(values / np.maximum(scale, 1e-30)[:, None]).astype(np.int8).tobytes()


def from_onnx(folder, longest=64):
    """Of a package's folder: `onnx/model.onnx` (whose matrices are transposed and named by their use only) and `vocab.txt`."""
    graph = onnx.load(os.path.join(folder, "onnx/model.onnx")).graph
    every = {i.name: torch.tensor(numpy_helper.to_array(i).copy()) for i in graph.initializer}
    tensors = {name: t for name, t in every.items() if name.startswith(("embeddings", "encoder")) and t.is_floating_point()}
    for node in graph.node:
        weights = [i for i in node.input if i in every]
        if node.op_type == "MatMul" and weights:
            tensors[node.name.strip("/").removesuffix("MatMul").replace("/", ".") + "weight"] = every[weights[0]].T.contiguous()
    with open(os.path.join(folder, "vocab.txt"), encoding="utf-8") as file:
        return Bert(tensors, file.read().rstrip("\n").split("\n"), longest)


def from_file(path, longest=64):
    """Of `precise.bin`, as the Rust side reads it."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == MAGIC
    version, count, dims, layers, _, wide, positions = struct.unpack_from("<7I", data, 8)
    at = 36 if version == 1 else 40
    (length,) = struct.unpack_from("<I", data, at)
    vocabulary, at = data[at + 4 : at + 4 + length].decode().split("\n"), at + 4 + length

    def take(rows, columns=0):
        nonlocal at
        scale = np.frombuffer(data, "<f4", rows, at)
        at += 4 * rows
        if columns:
            scale = scale[:, None] * np.frombuffer(data, np.int8, rows * columns, at).reshape(rows, columns)
            at += rows * columns
        return torch.from_numpy(scale.astype(np.float32))

    tensors = {EMBEDDINGS.format("word"): take(count, dims), EMBEDDINGS.format("position"): take(positions, dims)}
    tensors[EMBEDDINGS.format("token_type")] = torch.zeros(1, dims)
    for group in groups(layers):
        rows = wide if group[0].endswith(LINEAR[1]) else dims * len(group)
        columns = 0 if group[0].endswith("Norm") else wide if group[0].endswith("output.dense") and "attention" not in group[0] else dims
        for kind, found in (("weight", take(rows, columns)), ("bias", take(rows))):
            tensors.update({f"{name}.{kind}": part for name, part in zip(group, found.chunk(len(group)))})
    bert = Bert(tensors, vocabulary, longest)
    if version > 1:
        short = 1 + struct.unpack_from("<I", data, 36)[0]
        bert.pieces = take(short, dims), take(short)
    assert at == len(data)
    return bert
