"""Vectors of a sentence encoder (gte-small or all-MiniLM, ONNX), which the static model starts from and follows."""

import os

import numpy as np
import onnxruntime
from tokenizers import Tokenizer


class Teacher:
    """Both encoders take the mean over all tokens. `folder` holds `onnx/model.onnx` and `tokenizer.json`; `model` overrides the former (an int8 copy, say)."""

    def __init__(self, folder, model=None, threads=2):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(model or os.path.join(folder, "onnx/model.onnx"), options)
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_padding()

    def encode(self, texts, longest=48, batch=64, note=None):
        """Unit vectors, float32, in the order of `texts`."""
        self.tokenizer.enable_truncation(longest)
        ids = [e.ids for e in self.tokenizer.encode_batch(list(texts))]
        order = np.argsort([len(i) for i in ids], kind="stable")
        vectors = np.zeros((len(ids), 384), np.float32)
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            vectors[rows] = self._pool([ids[row] for row in rows])
            if note and start % (batch * 50) == 0:
                print(f"{note}: {start} of {len(order)}", flush=True)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _pool(self, ids):
        width = max(len(i) for i in ids)
        padded = np.zeros((len(ids), width), np.int64)
        mask = np.zeros((len(ids), width), np.int64)
        for row, i in enumerate(ids):
            padded[row, : len(i)] = i
            mask[row, : len(i)] = 1
        feed = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
        hidden = self.session.run(None, feed)[0]
        weights = mask[:, :, None].astype(np.float32)
        return (hidden * weights).sum(1) / weights.sum(1)


def shrink(model, target):
    """An int8 copy of an ONNX model: a quarter of the size, about 1.6 times as fast without VNNI."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(model, target, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
