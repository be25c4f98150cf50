"""The words of a BIF text, and the lines that they are on.

One pass of a regular expression cuts the text into words; the line of a word is counted only when something is wrong
with it.

>>> words_of('node "a b" { /* note */ 0.5, .5; }', "the text")
['node', '"a b"', '{', '0.5', ',', '.5', ';', '}']
>>> line_of('node // first\\n"a b"', 1)
2
"""

from __future__ import annotations

import re

from evenodds.errors import DataError

_WORD = re.compile(  # a quote or a comment without an end is one word, up to the end of the text
    r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|(?:"|/\*).*|[^\s{}()\[\],;|"]+|[{}()\[\],;|]', re.DOTALL
)
_WHOLE = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|(?!"|/\*).*', re.DOTALL)


def words_of(text: str, name: str) -> list[str]:
    """All words but comments; the name of the text is for messages."""
    words = _WORD.findall(text)
    if words and not _WHOLE.fullmatch(last := words[-1]):
        line = text.count("\n", 0, len(text) - len(last)) + 1
        what = "quote" if last[0] == '"' else "comment"
        raise DataError(f"{name}, line {line}: a {what} begins here and does not end; end it, or take it out")
    return [word for word in words if not word.startswith(("//", "/*"))] if "/" in text else words


def line_of(text: str, at: int) -> int:
    """The line of a word; of one behind the last, the text's last line."""
    start = len(text)
    for found in _WORD.finditer(text):
        if not found[0].startswith(("//", "/*")):
            if at == 0:
                start = found.start()
                break
            at -= 1
    return text.count("\n", 0, start) + 1
