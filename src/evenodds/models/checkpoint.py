"""A folder of what was counted already: a model of each shard, under the name of what it holds.

A run that died goes on where it stopped; of a folder that grew only the new files are counted, and what is no longer
there is no longer in the sum. Each part is a model file like any other: `evenodds add` adds them too.

    schema.eo          the columns as they were decided when the folder was begun
    DIGEST.eo, .json   the model of a file (or of some of its row groups) with these bytes, and what was wrong with it
    files.json         the files' sizes and times, so that one that has not changed need not be read to know its digest
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from typing import Any

from evenodds import file
from evenodds.data.report import Report, Trouble
from evenodds.data.shards import Part, Shard
from evenodds.errors import DataError
from evenodds.models.naive_bayes import Model
from evenodds.replacing import Path, replacing
from evenodds.schema import Schema
from evenodds.tally import Tally

PART = 5  # one digest in so many is news enough to write them all again: together that is a few times the last


class Checkpoint:
    """Parts of a sum, kept in a folder."""

    def __init__(self, folder: Path, how: dict[str, Any] | None = None) -> None:
        """`how` says how files are read: a folder that was begun otherwise is refused."""
        self.folder, self.how = os.fspath(folder), how or {}
        self.counted = self.known = 0  # shards that were counted now, and before
        self._news = 0  # digests that are not in files.json yet
        os.makedirs(self.folder, exist_ok=True)
        self._files: dict[str, Any] = {}
        written = self._json("files.json")
        if isinstance(written, dict) and isinstance(written.get("files"), dict):
            if written.get("how") != self.how:
                raise DataError(
                    f"{self.folder} was begun with other settings ({written.get('how')}): use another folder"
                )
            self._files = written["files"]

    @property
    def schema(self) -> Schema | None:
        """What each column is, if it was decided before."""
        path = self._path("schema.eo")
        return Model.load(path).schema if os.path.exists(path) else None

    def begin(self, schema: Schema) -> None:
        """Keep the schema, or refuse one that is not that of the parts."""
        known = self.schema
        if known is None:
            Model(schema, Tally.nothing()).save(self._path("schema.eo"))
            self._write()
        elif known != schema:
            raise DataError(f"{self.folder} was begun with other columns: use another folder, or tell the same columns")
        self._schema = schema

    def get(self, shard: Shard) -> Part | None:
        """The tally of a shard that was counted before; a part that is damaged is counted again."""
        name = self._name(shard)
        try:
            model = Model.load(self._path(name + ".eo"))
        except (FileNotFoundError, file.FileError):
            return None
        report = _report(self._json(name + ".json"))
        if report is None or model.schema != self._schema:
            return None
        self.known += 1
        return model.tally, report

    def put(self, shard: Shard, part: Part) -> None:
        """Keep the tally of a shard, whole or not at all."""
        tally, report = part
        name = self._name(shard)
        with replacing(self._path(name + ".json")) as out:
            out.write(json.dumps(dataclasses.asdict(report)).encode())
        Model(self._schema, tally).save(self._path(name + ".eo"))  # last: with it the part is there
        self.counted += 1
        if self._news > len(self._files) // PART:
            self.note()

    def _name(self, shard: Shard) -> str:
        about = os.stat(shard.path)
        path, now = os.path.abspath(shard.path), [about.st_size, about.st_mtime_ns]
        known = self._files.get(path)
        if not (isinstance(known, list) and known[:2] == now and isinstance(known[2], str)):
            with open(shard.path, "rb") as stream:
                digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
            self._files[path] = known = [*now, digest]
            self._news += 1
        return known[2] if shard.groups is None else f"{known[2]}-{shard.groups[0]}-{shard.groups[1]}"

    def note(self) -> None:
        """Keep the digests of all files so far; one that is not kept is found again, from the file's bytes."""
        if self._news:
            self._write()

    def _write(self) -> None:
        self._news = 0
        with replacing(self._path("files.json")) as out:
            out.write(json.dumps({"how": self.how, "files": self._files}, indent=1).encode())

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _json(self, name: str) -> Any:
        try:
            with open(self._path(name), encoding="utf-8") as stream:
                return json.load(stream)
        except (FileNotFoundError, ValueError):
            return None


def _report(written: Any) -> Report | None:
    """A report as it was written; None where that is none."""
    if not isinstance(written, dict):
        return None
    troubles = {"ragged", "broken", "no_target", "no_weight"}

    def trouble(value: Any) -> Trouble:
        return Trouble(int(value["count"]), str(value["where"]), str(value["example"]))

    try:
        found: dict[str, Any] = {"rows": int(written["rows"])}
        found |= {name: None if written[name] is None else trouble(written[name]) for name in troubles}
        for name in ("cells", "encoding"):
            found[name] = {str(column): trouble(value) for column, value in written[name].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return Report(**found)
