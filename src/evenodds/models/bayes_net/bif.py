"""The Bayesian interchange format (BIF), read and written.

The text is cut into words first (`bif_words.py`). Names that hold blanks, commas or brackets are written in quotes.
What is written is read back the same.

>>> states, parents, tables = parse('''
... network lawn { }
... variable rain { type discrete [ 2 ] { yes, no }; }
... variable wet { type discrete [ 2 ] { yes, no }; }
... probability ( rain ) { table 0.2, 0.8; }
... probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.1, 0.9; }
... ''')
>>> states["wet"], parents["wet"], tables["wet"].tolist()
(('yes', 'no'), ('rain',), [[0.9, 0.1], [0.1, 0.9]])
"""

from __future__ import annotations

import codecs
import math
import os
import re
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from evenodds.errors import DataError, brief, did_you_mean
from evenodds.families.leaves import Floats
from evenodds.file import small
from evenodds.models.bayes_net.bif_words import line_of, words_of
from evenodds.models.bayes_net.structure import Structure
from evenodds.models.bayes_net.tables import check_size, checked_states, configurations, normalised
from evenodds.replacing import Path, replacing

_MARKS = frozenset("{}()[],;|")
_PLAIN = re.compile(r"[^\s{}()\[\],;|\"/\\][^\s{}()\[\],;|\"]*")
END = ""  # the word behind the last

Parts = tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]], dict[str, Floats]]


def read(path: Path, encoding: str | None = None) -> Parts:
    """States, parents and tables of a BIF file; UTF-8 or UTF-16 by its mark, otherwise Latin-1, if not told."""
    return parse(_decoded(small(path), encoding, os.fspath(path)), os.fspath(path))


def _decoded(data: bytes, encoding: str | None, name: str) -> str:
    if encoding is None and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        return data.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError:
        if encoding is None:
            return data.decode("latin-1")
        raise DataError(f"{name} is not in the encoding {encoding}; name another in encoding=") from None
    except (LookupError, ValueError):  # the name of none, or no name at all
        raise DataError(f"encoding={encoding!r} is none that Python knows; 'utf-8' and 'latin-1' are") from None


def parse(text: str, name: str = "the text") -> Parts:
    """States, parents and tables of a BIF text."""
    return _Reader(text, name).network()


class _Reader:
    """Words, one after the other, and the network they describe."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.words = words_of(text, name)
        self.words += [END, END]
        self.at = 0
        self.states: dict[str, tuple[str, ...]] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, Floats] = {}
        self.cells = 0  # of all tables so far

    def network(self) -> Parts:
        """All of it."""
        while (word := self.words[self.at]) != END:
            if word == "network":
                self.skip_to("{")
                self.block(lambda: self.wrong("'property' or '}'"))
            elif word == "variable":
                self.variable()
            elif word == "probability":
                self.probability()
            elif word == "property":
                self.skip_to(";")
            else:
                self.wrong("'network', 'variable' or 'probability'")
        if not self.states:
            raise DataError(f"{self.name} is no BIF network: it has no variables")
        for node in self.states:
            if node not in self.tables:
                raise DataError(f"{self.name}: the variable {brief(node)} has no probability block; add one")
        return self.states, {node: self.parents[node] for node in self.states}, self.tables

    def wrong(self, expected: str, at: int | None = None) -> NoReturn:
        """Refuse the word that is next, or another one."""
        at = self.at if at is None else at
        word = self.words[at]
        found = brief(word) if word != END else "the end of the file"
        raise DataError(f"{self.where(at)}: found {found}, expected {expected}")

    def where(self, at: int | None = None) -> str:
        """The file and the line of the word that is next, or of another one."""
        return f"{self.name}, line {line_of(self.text, self.at if at is None else at)}"

    def refuse(self, sentence: str, at: int | None = None) -> NoReturn:
        """Say what is wrong, and where."""
        raise DataError(f"{self.where(at)}: {sentence}")

    def skip_to(self, mark: str) -> None:
        """Go behind the next such mark."""
        try:
            self.at = self.words.index(mark, self.at) + 1
        except ValueError:
            self.at = len(self.words) - 1
            self.wrong(repr(mark))

    def take(self, mark: str) -> None:
        """Go behind a mark that must be next."""
        if self.words[self.at] != mark:
            self.wrong(repr(mark))
        self.at += 1

    def block(self, statement: Any) -> None:
        """Statements up to a closing bracket; properties are passed over."""
        while (word := self.words[self.at]) != "}":
            if word == "property":
                self.skip_to(";")
            elif word == END:
                self.wrong("'}'")
            else:
                statement()
        self.at += 1

    def a_name(self, what: str) -> str:
        """A name, out of its quotes if it has them."""
        word = self.words[self.at]
        if word in _MARKS or word == END:
            self.wrong(what)
        self.at += 1
        return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL) if word[0] == '"' else word

    def names(self, closing: str, what: str) -> list[str]:
        """Names up to a closing mark, apart by commas or blanks."""
        found = []
        while self.words[self.at] != closing:
            if self.words[self.at] == ",":
                self.at += 1
                continue
            found.append(self.a_name(f"{what} or {closing!r}"))
        self.at += 1
        return found

    def node(self) -> str:
        """The name of a variable that was declared."""
        name = self.a_name("the name of a variable")
        if name not in self.states:
            self.refuse(did_you_mean(name, self.states, "variable"), self.at - 1)
        return name

    def variable(self) -> None:
        """variable NAME { type discrete [ 2 ] { yes, no }; }"""
        self.at += 1
        begin = self.at
        name = self.a_name("a variable's name")
        if name in self.states:
            self.refuse(f"the variable {brief(name)} is declared twice: rename one", begin)

        def statement() -> None:
            for word in ("type", "discrete", "["):
                self.take(word)
            many = self.a_name("a number of states")
            self.take("]")
            self.take("{")
            found = self.names("}", "a state")
            if not many.isdecimal() or int(many[:9]) != len(found):
                self.refuse(f"the variable {brief(name)} says [ {many} ] and has {len(found)} states")
            self.take(";")
            if name in self.states:
                self.refuse(f"the variable {brief(name)} has two types: leave one out")
            try:
                self.states[name] = checked_states(name, found)
            except DataError as error:
                self.refuse(str(error), begin)

        self.take("{")
        self.block(statement)
        if name not in self.states:
            self.refuse(f"the variable {brief(name)} has no states: add 'type discrete [ 2 ] {{ yes, no }};'", begin)

    def probability(self) -> None:
        """probability ( NAME | PARENTS ) { (yes, no) 0.1, 0.9; }"""
        self.at += 1
        begin = self.at
        self.take("(")
        node, parents = self.node(), list[str]()
        if self.words[self.at] == "|":
            self.at += 1
            while self.words[self.at] != ")":
                if self.words[self.at] == ",":
                    self.at += 1
                    continue
                parents.append(self.node())
        self.take(")")
        if node in self.tables:
            self.refuse(f"the variable {brief(node)} has two probability blocks: leave one out", begin)
        if node in parents or len(set(parents)) < len(parents):
            self.refuse(f"the variable {brief(node)} has itself, or one parent twice, behind the |", begin)
        shape = tuple(len(self.states[name]) for name in (*parents, node))
        self.parents[node] = tuple(parents)
        try:
            check_size(node, shape, self.cells)
            self.cells += math.prod(shape)
            self.take("{")
            self.tables[node] = normalised(node, self.rows(node, parents, shape), tuple(parents), self.states)
        except DataError as error:
            if str(error).startswith(f"{self.name}, line"):
                raise
            self.refuse(str(error), begin)

    def rows(self, node: str, parents: list[str], shape: tuple[int, ...]) -> Floats:
        """The statements of a probability block: a whole table, rows, or a default for the rows that are not there."""
        many = stride = math.prod(shape[:-1])
        places, known = [], dict[int, list[float]]()
        for parent in parents:
            stride //= len(self.states[parent])
            places.append({state: i * stride for i, state in enumerate(self.states[parent])})
        default: list[list[float]] = []

        def statement() -> None:
            word, begin = self.words[self.at], self.at
            self.at += 1
            if word == "(":
                values = self.names(")", "a state")
                if len(values) != len(parents):
                    self.refuse(f"a row of {brief(node)} has {len(values)} values for {len(parents)} parents", begin)
                try:
                    where = sum([place[value] for place, value in zip(places, values)])
                except KeyError:
                    parent, value = next((p, v) for p, v in zip(parents, values) if v not in self.states[p])
                    self.refuse(f"variable {brief(parent)}: {did_you_mean(value, self.states[parent], 'state')}", begin)
                if where in known:
                    self.refuse(f"the table of {brief(node)} has the row ({', '.join(values)}) twice", begin)
                known[where] = self.numbers(shape[-1], begin)
            elif word == "table":  # the node's own states change last: `table p(on | a), p(on | b), p(off | a), …`
                if known:
                    self.refuse(f"the table of {brief(node)} is given twice", begin)
                flat = self.numbers(math.prod(shape), begin)
                known.update((i, flat[i::many]) for i in range(many))
            elif word == "default":
                if default:
                    self.refuse(f"the table of {brief(node)} has two defaults: leave one out", begin)
                default.append(self.numbers(shape[-1], begin))
            else:
                self.wrong("'(', 'table' or 'default'", begin)

        block = self.at
        self.block(statement)
        if len(known) < many and not default:
            lost = np.unravel_index(next(i for i in range(many) if i not in known), shape[:-1])
            values = ", ".join(self.states[parent][i] for parent, i in zip(parents, lost))
            self.refuse(f"the table of {brief(node)} has no row ({values})", block - 1)
        found = np.empty((many, shape[-1]))
        if default:
            found[:] = default[0]
        if known:
            found[list(known)] = list(known.values())
        return found.reshape(shape)

    def numbers(self, many: int, begin: int) -> list[float]:
        """So many numbers and a semicolon."""
        words = self.words
        try:
            stop = words.index(";", self.at)
        except ValueError:
            self.refuse("a row has no ';' at its end", begin)
        found = words[self.at : stop : 2]
        if stop - self.at != 2 * many - 1 or words[self.at + 1 : stop : 2].count(",") != many - 1:
            found = [word for word in words[self.at : stop] if word != ","]  # commas are missing, or are too many
        try:
            values = [float(word) for word in found]
        except ValueError:
            self.wrong("a number", next(i for i in range(self.at, stop) if words[i] != "," and not _number(words[i])))
        if len(values) != many:
            self.refuse(f"a row has {len(values)} numbers: expected {many}", begin)
        self.at = stop + 1
        for value in values:
            if not 0 <= value < math.inf:
                self.refuse(f"a row holds {value:g}: expected probabilities", begin)
        return values


def _number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


# -- writing -----------------------------------------------------------------------------------------------------------


def _name(name: str) -> str:
    """A name as BIF has it: in quotes if it is not plain.

    >>> _name("yes"), _name("no, never"), _name('5"')
    ('yes', '"no, never"', '"5\\\\""')
    """
    if _PLAIN.fullmatch(name) and name not in ("property",):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_text(structure: Structure, states: Mapping[str, tuple[str, ...]], tables: Mapping[str, Floats]) -> str:
    """A network as BIF."""
    lines = ["network unknown {", "}"]
    for node in structure.nodes:
        listed = ", ".join(map(_name, states[node]))
        lines += [f"variable {_name(node)} {{", f"  type discrete [ {len(states[node])} ] {{ {listed} }};", "}"]
    for node, parents in structure.parents.items():
        rows = tables[node].reshape(-1, len(states[node])).tolist()
        if not parents:
            lines += [f"probability ( {_name(node)} ) {{", f"  table {', '.join(map(repr, rows[0]))};", "}"]
            continue
        lines.append(f"probability ( {_name(node)} | {', '.join(map(_name, parents))} ) {{")
        for values, row in zip(configurations(parents, states), rows):
            lines.append(f"  ({', '.join(map(_name, values))}) {', '.join(map(repr, row))};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def write(path: Path, text: str) -> None:
    """Write a BIF file, which replaces an old one only when all of it is on the disk."""
    with replacing(path) as file:
        file.write(text.encode("utf-8", "surrogatepass"))
