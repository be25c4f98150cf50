"""Writes unicode.bin, the frozen Unicode table: `python -m evenodds.text.make_table`.

Words must stay the same words when Python gets a newer Unicode, or models would forget them. So the table is made
once, from the `unicodedata` of one Python, and a new version of it is a new version of the file format.
"""

from __future__ import annotations

import unicodedata
import zlib
from itertools import accumulate
from pathlib import Path

from evenodds.text.unicode import BLOCK, DIGIT, GAP, LETTER, MARK, POINTS, TABLE


def kind(c: str) -> int:
    """What a character is to the tokeniser; letters and digits are what `re` calls `\\w`."""
    if c.isalnum() or c == "_":
        return DIGIT if c.isdecimal() else LETTER
    return MARK if unicodedata.category(c)[0] in "PS" else GAP


def stripped(c: str) -> str:
    """A character without its accents: NFKD, less what combines."""
    return "".join(part for part in unicodedata.normalize("NFKD", c) if not unicodedata.combining(part))


def table() -> bytes:
    """The file: a line with the Unicode version, then the compressed arrays that `unicode.py` reads."""
    characters = [chr(point) for point in range(POINTS)]
    kinds = bytes(kind(c) for c in characters)
    blocks = [kinds[start : start + BLOCK] for start in range(0, POINTS, BLOCK)]
    distinct = list(dict.fromkeys(blocks))
    number = {block: i for i, block in enumerate(distinct)}
    lower = [(i, ord(c.lower()[0])) for i, c in enumerate(characters) if c.lower() != c]
    # Hangul syllables are decomposed by arithmetic (Unicode 3.12), not by a list of eleven thousand
    bare = [(i, stripped(c)) for i, c in enumerate(characters) if not 0xAC00 <= i <= 0xD7A3 and stripped(c) != c]
    lists = [
        [number[block] for block in blocks],
        [pair[0] for pair in lower],
        [pair[1] for pair in lower],
        [pair[0] for pair in bare],
        [0, *accumulate(len(text) for _, text in bare)],
        [ord(c) for _, text in bare for c in text],
    ]
    kinds = b"".join(distinct)
    sizes = [*map(len, lists), len(kinds)]
    body = b"".join(n.to_bytes(4, "little") for numbers in (sizes, *lists) for n in numbers) + kinds
    return f"evenodds unicode {unicodedata.unidata_version}\n".encode() + zlib.compress(body, 9)


if __name__ == "__main__":
    Path(TABLE).write_bytes(table())
