"""Which pieces the model has: those of the BERT vocabulary that can occur, and words that tools use and BERT lacks."""

import collections
import re

from words import split

PLAIN = re.compile(r"(##)?[a-z0-9]+$")


def choose(vocab_file, texts, extra=4000, at_least=6):
    """The vocabulary in order, and how often each word of `texts` occurs."""
    with open(vocab_file, encoding="utf-8") as file:
        base = [line.rstrip("\n") for line in file]
    base = [piece for piece in base if PLAIN.match(piece)]
    base = [p for p in base if not re.match(r"(##)?[0-9]+$", p) or len(p.strip("#")) <= 2]
    counts = collections.Counter(word for text in texts for word in split(text))
    known = set(base)
    new = [w for w, n in counts.most_common() if n >= at_least and re.match(r"[a-z]{3,20}$", w) and w not in known]
    return base + sorted(new[:extra]), counts
