"""`evenodds`, and `python -m evenodds`.

One message explained by a model of text is what mail filters ask for thousands of times: that is answered from the
mapped file, before click or numpy are even imported. Everything else is the command line.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenodds.models.explanation import Explanation

BAD_DATA = 3


def main() -> None:
    """Answer one message at once, or start the command line."""
    if len(sys.argv) == 4 and sys.argv[1] == "explain" and _is_message(sys.argv[3]):
        code = explain(sys.argv[2], sys.argv[3])
        if code is not None:
            sys.exit(code)
    from evenodds.cli import main as command_line

    command_line()


def _is_message(text: str) -> bool:
    return not text.startswith("-") and "=" not in text and not os.path.exists(text)


def explain(path: str, message: str) -> int | None:
    """Print why a message is what it is; None where the model is not of text alone, or cannot be opened."""
    from evenodds.errors import DataError

    try:
        found = _explanation(path, message)
    except DataError as error:
        print(f"Error: {error}", file=sys.stderr)
        return BAD_DATA
    except OSError:
        return None
    if found is None:
        return None
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    try:
        print(found.coloured() if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else repr(found), flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return 0


def _explanation(path: str, message: str) -> Explanation | None:
    from evenodds.models.explanation import Explanation, believed, difference, word_terms
    from evenodds.text import quick

    model = quick.load(path)
    if model is None:
        return None
    joint, p = model.log_joint(message), model.proba(message)
    order = sorted(range(len(joint)), key=lambda c: -joint[c])
    a, b = order[0], order[1]
    tokens = model.listed(message)
    terms = word_terms(model.column, tokens, model.constant, model.bernoulli, a, b)
    terms = believed(terms, model.exponent, model.shrink, sum(times for _, times, _ in tokens))
    return Explanation(
        model.classes[a], model.classes[b], difference(model.prior[a], model.prior[b]), tuple(terms),
        difference(joint[a], joint[b]), p[a],
    )  # fmt: skip


if __name__ == "__main__":
    main()
