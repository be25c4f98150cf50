"""Messages as people get them, ham and spam: 535 short texts invented for this project, in `messages.tsv`.

Family, work, school, sports club, deliveries, doctors and real invoices on one side; prizes, loans, miracle cures,
phishing, crypto and fake deliveries on the other. No person, company or number in them exists. The sides share many
words on purpose (parcel, account, prize, free, urgent), so that a good filter is right about 19 times in 20, and a few
messages fool every filter that only sees words. Too few to judge a method by: they are for demos and doctests.

>>> pairs()[0]
('ham', 'The away match is at 11, meet at the car park at 9:15 sharp. We need one more driver.')
>>> def with_word(word):
...     found = [label for label, text in pairs() if word in text.lower().split()]
...     return {label: found.count(label) for label in ("ham", "spam")}
>>> with_word("free"), with_word("meeting")
({'ham': 7, 'spam': 72}, {'ham': 9, 'spam': 1})
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("messages.tsv")
COLUMNS = ("label", "text")


@functools.cache
def pairs() -> tuple[tuple[str, str], ...]:
    """Label and text of every message, in the file's (mixed) order.

    >>> len(pairs()), sorted({label for label, _ in pairs()})
    (535, ['ham', 'spam'])
    """
    lines = FILE.read_text(encoding="utf-8").splitlines()[1:]
    return tuple((label, text) for label, text in (line.split("\t") for line in lines))


def messages() -> Any:
    """A pyarrow Table with a row for each message: label, text.

    >>> messages().shape, messages().column_names
    ((535, 2), ['label', 'text'])
    """
    import pyarrow as pa

    return pa.table(dict(zip(COLUMNS, map(list, zip(*pairs())))))
