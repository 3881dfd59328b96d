"""Words and word pieces, in the form that the Rust side re-implements.

`split` is `toolfold_core::words::split`. The one thing to get right: a text is cut into words *before* it is
lower-cased, because a change of case is a boundary.
"""

LONGEST_WORD = 40
_MARKED = (
    "àáâãäåçèéêëìíîïñòóôõöøùúûüýÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĺļľłńņňōŏőŕŗřśŝşšţťŧũūŭůűųŵŷźżž"
)
_PLAIN = (
    "aaaaaaceeeeiiiinoooooouuuuyyaaaccccddeeeeegggghhiiiiijkllllnnnooorrrssssttt"
    "uuuuuuwyzzz"
)
# Lower-case Latin letters with marks and the plain letters they are read as.
FOLD = str.maketrans(_MARKED, _PLAIN)


def split(text):
    """The words of an identifier or a sentence, in lower case."""
    words = []
    for chunk in _chunks(text):
        start = 0
        for i in range(1, len(chunk)):
            before, here = chunk[i - 1], chunk[i]
            next_lower = i + 1 < len(chunk) and chunk[i + 1].islower()
            camel = before.islower() and here.isupper()
            acronym = before.isupper() and here.isupper() and next_lower
            if camel or acronym or before.isnumeric() != here.isnumeric():
                words.append(chunk[start:i].lower())
                start = i
        words.append(chunk[start:].lower())
    return words


def _chunks(text):
    return "".join(c if c.isalnum() else " " for c in text).split()


class Pieces:
    """Greedy longest match over a vocabulary; a piece inside a word is spelt with `##` in front."""

    def __init__(self, vocabulary):
        self.numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self.known = {}

    def ids(self, text):
        """The piece numbers of a text. A word that cannot be spelt from the vocabulary is left out."""
        return [number for word in split(text) for number in self.word(word)]

    def word(self, word):
        if word not in self.known:
            self.known[word] = self._word(word.translate(FOLD))
        return self.known[word]

    def _word(self, word):
        if len(word) > LONGEST_WORD:
            return []
        pieces, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self.numbers:
                    break
            else:
                return []
            pieces.append(self.numbers[piece])
            start = end
        return pieces
