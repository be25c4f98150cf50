"""Files that were spoilt: each is refused in a sentence, or is a model that works."""

from benchmarks import spoiling

import evenodds as eo
from evenodds import file

MANY = 250


def check(kind, originals, use, seed):
    """Spoil the originals in many ways; what can still be read must do all that `use` asks of it."""
    refused = sound = 0
    for i in range(MANY):
        spoilt = spoiling.spoil(originals, seed, i)
        try:
            model = kind.from_bytes(spoilt.data)
        except file.FileError as error:
            refused += str(error).startswith("the run of bytes ")
            continue
        sound += 1
        try:
            use(model)
        except eo.DataError:
            pass  # its columns are others, say
        except Exception as error:
            raise AssertionError(f"{spoilt.how}: {error!r}") from error
    assert refused + sound == MANY
    assert sound > 5
