"""`evenodds`, and `python -m evenodds`.

One message explained by a model of text is what mail filters ask for thousands of times: that is answered from the
mapped file, before click or numpy are even imported. Everything else is the command line.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenodds.models.explanation import Explanation

BAD_DATA = 3


def main() -> None:
    """Answer one message at once, or start the command line."""
    _ready_streams()
    try:
        if len(sys.argv) == 4 and sys.argv[1] == "explain" and _is_message(sys.argv[3]):
            code = explain(sys.argv[2], sys.argv[3])
            if code is not None:
                sys.exit(code)
        from evenodds.cli import main as command_line

        command_line()
    finally:
        _give_up_the_rest()


def _ready_streams() -> None:
    """Somewhere for errors to go, and an output that is written whole or fails.

    An unbuffered one (PYTHONUNBUFFERED=1, as in many containers) writes what a full disk has room for, and no error.
    """
    if sys.stderr is None:  # closed: what is printed to it would go to standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        sys.stdout = open(sys.stdout.fileno(), "w", encoding=sys.stdout.encoding, closefd=False)  # noqa: SIM115


def _give_up_the_rest() -> None:
    """What could not be written, since nobody reads on or the disk is full, is not tried again when Python ends."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_message(text: str) -> bool:
    return not text.startswith("-") and "=" not in text and not os.path.exists(text)


def explain(path: str, message: str) -> int | None:
    """Print why a message is what it is; None where the command line has to say what stands in the way.

    That is where the model is not of text alone, or cannot be opened, and where there is nothing to print to.
    """
    from evenodds.errors import DataError

    if sys.stdout is None:
        return None
    try:
        found = _explanation(path, message)
    except DataError as error:
        from evenodds.show import escaped_lines

        print(f"Error: {escaped_lines(str(error))}", file=sys.stderr)
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
        return 141
    except OSError as error:  # a full disk
        print(f"Error: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _explanation(path: str, message: str) -> Explanation | None:
    from evenodds.models.explanation import Explanation, believed, difference, pair, word_terms
    from evenodds.text import quick

    model = quick.load(path)
    if model is None:
        return None
    joint, p = model.log_joint(message), model.proba(message)
    order = sorted(range(len(joint)), key=lambda c: -joint[c])
    a, b = pair(order, None, None)
    tokens = model.listed(message)
    terms = word_terms(model.column, tokens, model.constant, model.bernoulli, a, b)
    terms = believed(terms, model.exponent, model.shrink, sum(times for _, times, _ in tokens))
    return Explanation(
        model.classes[a], model.classes[b], difference(model.prior[a], model.prior[b]), tuple(terms),
        difference(joint[a], joint[b]), p[a],
    )  # fmt: skip


if __name__ == "__main__":
    main()
