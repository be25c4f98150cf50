"""Ways to spoil a model file: as accidents do, and as a forger does who makes the checksums right again."""

import json
import random
import zlib
from typing import Any, NamedTuple

import numpy as np

import evenodds as eo
from evenodds import file
from evenodds.families import FAMILIES, ZeroAndLog
from evenodds.tally import Tally

N = 24
ROWS: dict[str, list[Any]] = {
    "colour": ["red", "blue", "grün", None, "red", "blue"] * 4,
    "age": [None if i % 7 == 3 else 25.0 + 37 * i % 40 for i in range(N)],
    "kicks": [i * i % 5 for i in range(N)],
    "flag": [None if i % 11 == 5 else i % 2 for i in range(N)],
    "year": [1985.0 + 11 * i % 30 for i in range(N)],
    "fare": [float(17 * i % 23) for i in range(N)],
    "day": [f"2024-03-{i + 1:02}" for i in range(N)],
}
COLUMNS = {
    "colour": eo.Column(eo.Categorical, prior=eo.Dirichlet({"red": 2, "green": 1})),
    "age": eo.Column(eo.Gaussian, variance="pooled", prior=eo.NormalInverseGamma(30.0, 1.0, 1.0, 50.0)),
    "kicks": eo.Column(eo.Poisson, prior=eo.Gamma(2.0, 1.0)),
    "flag": eo.Column(eo.Bernoulli, prior=eo.Beta(2, 3), smoothing=3.0),
    "year": eo.Column(eo.Binned, origin=2000.0, bins=3),
    "fare": eo.Column(eo.LogGaussian, prior=ZeroAndLog(eo.Beta(1, 1), eo.NormalInverseGamma(2.0, 1.0, 1.0, 1.0))),
    "day": eo.Column(role="ignore", parts=("weekday",)),
    "day.weekday": eo.Column(eo.Categorical, parts=("weekday",), source="day"),
}
PLAIN = {name: eo.Column(family) for name, family in zip(ROWS, (eo.Categorical, eo.Gaussian, eo.Poisson, eo.Bernoulli))}
TARGETS: dict[str, list[Any]] = {
    "text": ["x", "y", "x", "y", "z", "x"] * 4,
    "int": [1, 2, 1, 2, -3, 1] * 4,
    "float": [0.5, 2.0, 0.5, 2.0, 1e300, 0.5] * 4,
    "bool": [True, False, True, False, True, True] * 4,
}
WEIGHTS = [0.5, 1.25, 2.0, 0.1, 1.0, 3.0] * 4
WORDS = ["", "x", "auto", "fixed", "grid", "labels", "pooled", "mle", "balanced", "feature", "ignore", "day", "\ud800"]
WORDS += ["text", "int", "float", "bool", "F64", "U8", "F16", "counts", "Beta", "Dirichlet", *FAMILIES]
NUMBERS = [0, 1, -1, 2, 8, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**4000, 0.5, -0.0, 1e-308, 1e300, 1e308]
NUMBERS += [float("nan"), float("inf")]
EXTREMES: list[float] = [0, 1, -1, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63), 255, 128]
EXTREMES += [1e-300, 1e150, 1e300, np.nan, np.inf]
THINGS: list[Any] = [None, True, False, [], [1], [1, 2, 3], [[]], {}, {"by": {}}, {"by": {"x": 1}}, {"a": 1}]
THINGS += ["x" * 5000, {"prior": "Beta", "a": 1, "b": 1}, {"prior": "Dirichlet", "concentration": [1, 1]}]
DEEP, TWICE = "\0deep", "\0twice"  # stand for what json.dumps would not write


class Spoilt(NamedTuple):
    """A spoilt file, and how it was spoilt."""

    how: str
    data: bytes


def models() -> list[eo.Model]:
    """Models with all families, settings and targets in them, and one that has seen nothing."""
    found = [eo.Model(eo.Schema(COLUMNS, "class"), Tally.nothing())]
    for kind, target in TARGETS.items():
        schema = eo.Schema(COLUMNS if kind in ("text", "int") else PLAIN, "class", kind)
        found.append(eo.Model(schema, Tally.nothing()).learn(ROWS, np.array(target)))
    text, whole = found[1].set(class_prior=eo.Dirichlet({"x": 3.0, "y": 1.0})), found[2]
    weighted = eo.Model(found[1].schema, Tally.nothing()).learn(ROWS, np.array(TARGETS["text"]), WEIGHTS)
    return [
        *found,
        text,
        weighted.set(class_weight="balanced", unseen="prior", smoothing=2.0),
        whole.set(class_prior={1: 0.5, 2: 0.25, -3: 0.25}, class_weight={1: 2.0}, estimate="mean"),
        whole.set(class_prior=[0.5, 0.25, 0.25], prior="flat", estimate="map"),
        found[3].set(estimate="mle"),
    ]


# -- accidents ---------------------------------------------------------------------------------------------------------


def flip(data: bytes, rng: random.Random) -> bytes:
    spoilt = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        spoilt[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def append(data: bytes, rng: random.Random) -> bytes:
    return data + rng.choice([b"\0", b"\n", data, rng.randbytes(rng.randint(1, 100))])


def splice(data: bytes, rng: random.Random) -> bytes:
    a, b, size = rng.randrange(len(data)), rng.randrange(len(data)), rng.randint(1, 200)
    piece = rng.choice([data[b : b + size], bytes(size), rng.randbytes(size), b""])
    return data[:a] + piece + data[a + size :]


# -- forgeries ---------------------------------------------------------------------------------------------------------


def change_header(data: bytes, rng: random.Random) -> bytes:
    """One to three values somewhere in the header replaced, removed, doubled or moved."""
    length = int.from_bytes(data[:8], "little")
    listed = json.loads(data[8 : 8 + length])
    inner = json.loads(listed.pop("__metadata__")["evenodds"])
    tree = {"table": listed, "inner": inner}
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        _change(tree, rng)
    return forge(tree["table"], tree["inner"], data[8 + length :])


def _places(node: Any) -> list[tuple[Any, Any]]:
    """Every value of a tree, as what holds it and under which name or number."""
    names = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
    return [place for name in names for place in [(node, name), *_places(node[name])]]


def _change(tree: dict[str, Any], rng: random.Random) -> None:
    part = tree[rng.choice(["table", "inner", "inner"])]
    places = _places(part) if isinstance(part, (dict, list)) else []
    if not places:
        return
    holder, name = rng.choice(places)
    value = holder[name]
    how = rng.randrange(8)
    if how == 0:
        holder.pop(name)
    elif how == 1 and isinstance(holder, dict):
        holder[TWICE + name] = value
    elif how == 2 and isinstance(holder, dict):
        holder[rng.choice([*WORDS, name + "x"])] = holder.pop(name)
    elif how == 3:
        other, where = rng.choice(places)
        holder[name], other[where] = json.loads(json.dumps([other[where], value]))
    elif how == 4 and isinstance(value, (int, float)):
        holder[name] = rng.choice([value + 1, value - 1, value * 2, -value, value + 8, float(value), str(value)])
    elif how == 5:
        holder[name] = rng.choice([[value], {"by": value}, {name if isinstance(name, str) else "x": value}])
    else:
        holder[name] = json.loads(json.dumps(rng.choice([*WORDS, *NUMBERS, *THINGS, DEEP])))


def forge(listed: Any, inner: Any, data: bytes) -> bytes:
    """A file of this table of arrays, header and data, with checksums that match."""
    text, names = _dumps(inner), _dumps(listed)
    names = names[1:] if names.startswith("{") else f'"x":{names}}}'
    rest = json.dumps(text).encode() + (b"}" if names == "}" else b"},") + names.encode()
    begin = file.BEGINS + b'00000000","data":"%08x","bytes":"%d","evenodds":'
    length = -(-(len(begin) + 20 + len(rest)) // 8) * 8
    return signed((begin % (zlib.crc32(data), 8 + length + len(data)) + rest).ljust(length)) + data


def _dumps(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"))
    deep = "[" * 100_000 + "]" * 100_000
    return text.replace(json.dumps(DEEP), deep).replace(json.dumps(TWICE)[1:-1], "")


def signed(header: bytes) -> bytes:
    """A header whose checksum is eight zeros, with its length before it and its checksum in it."""
    head = len(header).to_bytes(8, "little") + header
    return head[: file.AT] + b"%08x" % zlib.crc32(head) + head[file.AT + 8 :]


def change_array(data: bytes, rng: random.Random) -> bytes:
    """A few numbers of one array replaced by others."""
    arrays, header = file.unpack(data)
    name = rng.choice([name for name, array in arrays.items() if array.size] or ["none"])
    if name == "none":
        return data
    array = arrays[name].copy()
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        for _ in range(rng.choice([1, 1, 2, 5])):
            at = rng.randrange(flat.size)
            flat[at] = rng.choice(
                [np.array(rng.choice(EXTREMES)).astype(array.dtype), -flat[at], flat[at] + flat.dtype.type(1)]
            )
    if rng.random() < 0.1:
        flat[:] = flat[::-1].copy()
    header.pop("format")
    return file.pack({**arrays, name: array}, header)


def change_shape(data: bytes, rng: random.Random) -> bytes:
    """One array longer, shorter, of another type or shape, gone, or under another's name; the table says so."""
    arrays, header = file.unpack(data)
    name, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    array = arrays.pop(name)
    types = [np.float64, np.int64, np.uint64, np.int32, np.uint8]
    with np.errstate(all="ignore"):
        other_type = array.astype(rng.choice(types))
    longer, flat, pair = np.concatenate([array, array], axis=-1), array.reshape(-1), np.zeros((2, *array.shape))
    changed = rng.choice(
        [array, array[..., :-1], array[:0], longer, other_type, flat, array[None], flat[:, None], pair]
    )
    if rng.random() < 0.9:
        arrays[rng.choice([name, name, name, name, other, name + "x"])] = changed
    header.pop("format")
    return file.pack(arrays, header)


ACCIDENTS = (flip, flip, cut, append, splice)
FORGERIES = (change_header, change_header, change_header, change_header, change_array, change_array, change_shape)


def spoil(originals: list[bytes], seed: int, i: int) -> Spoilt:
    """The i-th spoilt file: even ones by accident, odd ones forged."""
    rng = random.Random(f"{seed}/{i}")
    how = rng.choice(FORGERIES if i % 2 else ACCIDENTS)
    return Spoilt(how.__name__.replace("_", " "), how(rng.choice(originals), rng))
