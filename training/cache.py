"""Teacher vectors by text, kept between runs: the slow part of training is done once."""

import os

import numpy as np


class Cache:
    def __init__(self, folder, teacher):
        self.path, self.teacher = os.path.join(folder, "vectors"), teacher
        self.rows, self.vectors = {}, np.zeros((0, 384), np.float16)
        if os.path.exists(self.path + ".npy"):
            self.vectors = np.load(self.path + ".npy")
            with open(self.path + ".txt", encoding="utf-8", newline="") as file:
                self.rows = {text: row for row, text in enumerate(file.read().split("\0"))}
        assert len(self.rows) == len(self.vectors), "texts and vectors do not belong together"

    def encode(self, texts, note, chunk=12800):
        """Encodes what is not yet known, saving after every chunk."""
        new = list(dict.fromkeys(t for t in texts if t not in self.rows))
        for start in range(0, len(new), chunk):
            part = new[start : start + chunk]
            found = self.teacher.encode(part, note=f"{note} {start}/{len(new)}").astype(np.float16)
            self.rows.update({text: len(self.rows) + i for i, text in enumerate(part)})
            self.vectors = np.concatenate([self.vectors, found])
            self._save()

    def _save(self):
        np.save(self.path + ".npy", self.vectors)
        with open(self.path + ".txt", "w", encoding="utf-8", newline="") as file:  # a text may hold a carriage return
            file.write("\0".join(self.rows))

    def row(self, text):
        return self.rows.get(text, -1)
