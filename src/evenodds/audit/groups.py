"""Does a model treat groups evenly? `Audit` counts its predictions by protected groups, in one pass.

>>> women, men = {"sex": ["f"] * 200, "repaid": [1] * 200}, {"sex": ["m"] * 200, "repaid": [1] * 200}
>>> granted = [0] * 62 + [1] * 138 + [0] * 44 + [1] * 156
>>> loans = {"sex": women["sex"] + men["sex"], "repaid": women["repaid"] + men["repaid"], "granted": granted}
>>> found = Audit(by="sex").of_columns(loans, "repaid", predicted="granted").gap("TPR", "m", "f")
>>> round(found.gap, 3), round(found.sure, 3)
(0.089, 0.815)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evenodds.arguments import is_number, tail_of
from evenodds.audit.audited import Audited, Reads
from evenodds.audit.decisions import UNSURE, Decision
from evenodds.audit.held_out import HeldOut, Predicted, of_model
from evenodds.audit.judge import tally
from evenodds.audit.protected import together
from evenodds.audit.scores import check_proba, check_said, log_of, log_of_first, log_of_second, with_said
from evenodds.cells import Coded, as_column, codes, target_kind
from evenodds.data.decide import VALUES
from evenodds.data.files import is_source, read
from evenodds.data.memory import table
from evenodds.data.reading import Cells, Reading
from evenodds.data.report import Report
from evenodds.data.source import Batch, Source
from evenodds.data.sum import cells, target_codes
from evenodds.errors import DataError, did_you_mean, remedy
from evenodds.families import Categorical, Gaussian
from evenodds.families.leaves import Floats, check_weights
from evenodds.labels import Labels, canonical
from evenodds.schema import Column, Schema
from evenodds.tally import Tally
from evenodds.texts import in_value_order
from evenodds.threads import in_order

BITS = 7  # of the log-odds' mantissa, as in the histograms of numbers: what is nearer than 1 in 256 is a tie
ROWS = 1 << 17  # counted at once


@dataclass(frozen=True)
class Audit:
    """How evenly are groups treated: rates with exact intervals, gaps and how sure they are, in one pass.

    by         the columns of the groups; every intersection is audited too. A mapping names the groups that should be
               there: those without rows are then listed
    positive   the class that is meant by TPR and the like; the second of two, or each of more
    threshold  from which probability of it on it is said to be so (of two classes), or a Decision; None: what is most
               probable is said
    margin     the gap that is asked about
    level      of the intervals
    small      rows, below which a group is marked, and pooled with the others
    """

    by: str | Sequence[str] | Mapping[str, Sequence[Any]]
    positive: Any = None
    threshold: float | Decision | None = None
    margin: float = 0.05
    level: float = 0.95
    small: float = 30

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError(f"by={self.by!r}: expected one or more columns, each once")
        tail_of(self.level)
        given = self.threshold
        decided = given is None or isinstance(given, Decision) or (is_number(given) and 0 <= given <= 1)
        for name, right, expected in (
            ("margin", is_number(self.margin) and 0 <= self.margin < 1, "0 or more, below 1"),
            ("threshold", decided, "a probability, 0 to 1, or a Decision"),
            ("small", is_number(self.small) and self.small >= 0, "a number of rows"),
        ):
            if not right:
                raise ValueError(f"{name}={getattr(self, name)!r}: expected {expected}")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the groups."""
        return (self.by,) if isinstance(self.by, str) else tuple(self.by)

    @property
    def reads(self) -> Reads:
        """How tallies are read."""
        told = {c: tuple(map(canonical, v)) for c, v in self.by.items()} if isinstance(self.by, Mapping) else None
        meant = None if self.positive is None else canonical(self.positive)
        return Reads(self.columns, meant, self.level, self.margin, self.small, told)

    # -- what can be audited -----------------------------------------------------------------------------------------

    def of(
        self, model: Any, data: Any, y: Any = None, sample_weight: Any = None, groups: Any = None,
        threads: int | None = None,
    ) -> Audited:  # fmt: skip
        """A model's predictions: naive Bayes', the bridge's, or any classifier's with scikit-learn's face.

        `data` is a table or, for the first two, files. `y` is the true classes or their column's name; if it is not
        told, the first two know it. `sample_weight` is a column's name too, or numbers. The groups are columns of the
        data, or what `of_predictions` takes, and need not be among the model's.
        """
        ours = getattr(model, "model_", model)
        known = hasattr(ours, "log_proba") and hasattr(ours, "schema")
        if known and isinstance(y, str) and y in ours.schema.sources:
            raise DataError(f"y={y!r}: the model reads this column, what it tells is {ours.schema.target!r}")
        if known and y is None:
            y = ours.schema.target
        if known and groups is None and isinstance(y, str) and isinstance(sample_weight, str | None):
            return self.of_held_out(of_model(ours, data, sample_weight, threads, self.columns, y), threads)
        if is_source(data):
            raise DataError(
                "files can be audited by naive Bayes and the bridge, with groups, classes and weights in columns, or "
                "with a column of scores (of_columns): give other rows as a table, and y"
            )
        if y is None:
            raise DataError("the true classes are not known: give y, a column's name or a class for each row")
        rows = table(data)
        groups = {name: rows[name] for name in self.columns} if groups is None else groups
        named = [name for name in (y, sample_weight) if isinstance(name, str)]
        y, sample_weight = (rows[given] if isinstance(given, str) else given for given in (y, sample_weight))
        features = _features(data, model, named)
        if hasattr(model, "predict_proba"):
            said = {"proba": model.predict_proba(features), "classes": model.classes_}
        elif known:
            said = {"proba": np.exp(ours.log_proba(features, threads)), "classes": ours.classes}
        else:
            said = {"predicted": model.predict(features)}
        return self.of_predictions(y, groups, sample_weight=sample_weight, threads=threads, **said)

    def of_predictions(
        self,
        y: Any,
        groups: Any,
        scores: Any = None,
        proba: Any = None,
        predicted: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        threads: int | None = None,
    ) -> Audited:
        """Anybody's predictions, as arrays: p(positive) in `scores`, or p of each of `classes` in `proba`, or labels.

        `groups` is a table with the columns of `by`, or one array for one column.
        """
        truth = codes(as_column(y))
        truth = target_codes(truth, len(truth.codes))
        known = table(groups if len(self.columns) > 1 or _is_table(groups) else {self.columns[0]: groups})
        columns = [codes(known[name]) for name in self.columns]
        said = None if predicted is None else codes(as_column(predicted))
        names = self._classes(truth, said, classes, target_kind(as_column(y)))
        texts = self._texts(names)
        p, read_p = self._given(scores, proba, names, said)
        n = len(truth.codes)
        given = {"predictions": None if said is None else said.codes, "probabilities": p, "groups": columns[0].codes}
        for what, found in given.items():
            if found is not None and len(found) != n:
                raise DataError(f"{len(found)} {what} for {n} rows: expected one for each row")
        if p is not None:
            check_proba(p, "scores" if proba is None else "proba")
        if said is not None:
            check_said(said, "predicted")
        w = check_weights(sample_weight, n)

        def parts() -> Iterator[Predicted]:
            for start in range(0, n, ROWS):
                rows = slice(start, start + ROWS)
                yield Predicted(
                    truth[rows],
                    None if p is None else read_p(p[rows]),
                    names,
                    None if w is None else w[rows],
                    by=together([column[rows] for column in columns]),
                    said=None if said is None else said[rows],
                )

        return self._audited(Tally.total(in_order(self._judged, parts(), threads)), texts, Report(n))

    def of_columns(
        self,
        data: Any,
        target: str,
        score: str | None = None,
        predicted: str | None = None,
        sample_weight: str | None = None,
        threads: int | None = None,
    ) -> Audited:
        """Predictions that stand in a table or in files: a column with p(positive), or with what was said, or both."""
        if score is None and predicted is None:
            raise DataError("what was predicted? Name a column of scores, or of what was said")
        source = read(data)
        schema, names = self._schema(source, target, score, predicted)
        reading, log_of_both = Reading(schema, weights=sample_weight), self._log_of_both(names)

        def predict(start: int, batch: Batch, found: Cells) -> Iterator[Predicted]:
            column = {name: cells(found.table, name, how) for name, how in schema.features.items()}
            by = together([column[name] for name in self.columns])
            said = None if predicted is None else column[predicted]
            assert found.target is not None
            kept = np.arange(batch.rows) if found.kept is None else found.kept

            def where(row: int) -> str:
                return batch.where(int(kept[row]))

            if score is not None:
                check_proba(column[score], f"column {score!r}", where)
            if predicted is not None:
                check_said(column[predicted], f"column {predicted!r}", where)
            log_p = None if score is None else log_of_both(column[score])
            yield Predicted(found.target, log_p, names, found.weights, by=by, said=said)

        return self._summed(HeldOut(source, reading, names, predict), threads)

    def of_held_out(self, held: HeldOut, threads: int | None = None) -> Audited:
        """Predictions of rows held out, by folds or each without itself, as `held_out` makes them."""
        if held.by != self.columns:
            raise DataError(f"the rows were read by {held.by}, the audit is by {self.columns}")
        return self._summed(held, threads)

    # -- the sum -----------------------------------------------------------------------------------------------------

    def _summed(self, held: HeldOut, threads: int | None) -> Audited:
        texts = self._texts(held.classes)
        return self._audited(held.total(self._judged, threads).tallies[0], texts, held.report)

    def _judged(self, part: Predicted) -> Tally:
        return tally(part.truth, part.log_p, part.classes, part.weights, part.by, self._decided(part), BITS)

    def _texts(self, classes: NDArray[Any]) -> tuple[str, ...]:
        """The classes as texts, if the one that is meant is among them."""
        texts = tuple(canonical(c) for c in classes.tolist())
        if self.reads.positive is not None and self.reads.positive not in texts:
            raise DataError(f"positive: {did_you_mean(self.reads.positive, texts, 'class')}")
        return texts

    def _audited(self, total: Tally, texts: tuple[str, ...], report: Report) -> Audited:
        if not total.columns:
            raise DataError("there are no rows with a class to audit by")
        return Audited(self.reads, total, texts, report)

    def _decided(self, part: Predicted) -> Coded | None:
        """What is said of each row, where it is given, or a threshold or a rule decides it."""
        rule = self.threshold
        if rule is not None and part.said is not None:
            raise DataError(f"threshold={rule!r} has no say where what was said is given (predicted): leave one out")
        if rule is None or part.log_p is None:
            return part.said
        if isinstance(rule, Decision):
            texts, said = [*map(canonical, rule.classes), UNSURE], rule.choose(part.proba(rule.classes))
        else:
            texts, meant = [canonical(c) for c in part.classes.tolist()], self.reads.positive
            if len(texts) != 2:
                told, cure = (f"threshold={rule}", f"--threshold {rule}"), ("give a Decision instead", "leave it out")
                raise DataError(f"{remedy(*told)} is for two classes, there are {len(texts)}: {remedy(*cure)}")
            c = 1 if meant is None else texts.index(meant)
            with np.errstate(divide="ignore"):
                at_least = part.log_p[:, c] >= np.log(float(rule))  # of logs: exp(log p) may be a rounding below p
            said = np.where(at_least, c, 1 - c)
        labels, place = Labels.coded(texts)
        return Coded(said % len(texts), labels, place, nullable=False)  # unsure is -1: the last

    def _classes(self, truth: Coded, said: Coded | None, classes: Any, kind: str) -> NDArray[Any]:
        """The classes, in the order of their values."""
        if classes is not None:
            return np.asarray(classes)
        texts = set(truth.labels.texts())
        if said is not None:
            texts = with_said(texts, said.labels.texts(), "predicted=")
        if self.positive is not None:
            texts |= {canonical(self.positive)}
        return _in_value_order(texts, kind)

    def _given(
        self, scores: Any, proba: Any, classes: NDArray[Any], said: Coded | None
    ) -> tuple[Floats | None, Callable[[Floats], Floats]]:
        """The probabilities as they were given, and what makes log p of each class of some of them."""
        if (scores is None) + (proba is None) != 1:
            if scores is None and said is not None:
                return None, log_of
            raise DataError(
                "give one of scores=, proba= and predicted= (predicted= beside scores= is what was decided)"
            )
        if scores is None:
            p = np.asarray(proba, float)
            if p.ndim != 2 or p.shape[1] != len(classes):
                shape = f"proba has the shape {p.shape}: expected rows, and {len(classes)} columns for the classes"
                raise DataError(f"{shape} of y; if there are others, name all with classes=")
            return p, log_of
        if len(classes) not in (0, 2):  # of none there are no rows, and that is said
            raise DataError(f"scores= is of two classes, y has {len(classes)}: name both in classes=, or give proba=")
        return np.asarray(as_column(scores), float), self._log_of_both(classes)

    def _log_of_both(self, classes: NDArray[Any]) -> Callable[[Floats], Floats]:
        """What makes log p of both classes of p(positive)."""
        first = len(classes) == 2 and self.reads.positive == canonical(classes.tolist()[0])
        return log_of_first if first else log_of_second

    def _schema(
        self, source: Source, target: str, score: str | None, predicted: str | None
    ) -> tuple[Schema, NDArray[Any]]:
        """The columns that are needed, read as categories and numbers; and the classes, from the first rows."""
        sample = source.sample()
        for name in [target, *self.columns, *filter(None, (score, predicted))]:
            if name not in sample.columns:
                raise DataError(f"{source.name}: {did_you_mean(name, sample.columns)}")
        kind = target_kind(sample[target])
        columns = {name: Column(Categorical) for name in self.columns}
        if predicted is not None:
            columns[predicted] = Column(Categorical, values=VALUES.get(kind, "text"))
        if score is not None:
            columns[score] = Column(Gaussian)
        texts = set(codes(sample[target]).labels.texts())
        if predicted is not None:
            texts = with_said(texts, codes(sample[predicted]).labels.texts(), f"column {predicted!r}")
        names = _in_value_order(texts, kind)
        if score is not None and len(names) != 2:
            raise DataError(
                f"column {score!r} is p of one of two classes, {target!r} has {len(names)} in its first rows"
            )
        return Schema(columns, target, kind), names


def _in_value_order(texts: Iterable[str], kind: str) -> NDArray[Any]:
    """Classes in the order of their values: 2 before 10 among numbers."""
    every = sorted(set(texts))
    return np.array(in_value_order(every) if kind in ("int", "float") else every, dtype=object)


def _features(data: Any, model: Any, named: list[str]) -> Any:
    """A table as a model takes it: without what was named; of a model that is not ours, what it knows alone."""
    from evenodds.models.shell import Shell, drop, has_frame

    left = drop(data, *named) if named and has_frame(data) else data
    names = None if isinstance(model, Shell) else getattr(model, "feature_names_in_", None)
    if names is None or not (hasattr(left, "columns") and hasattr(left, "__getitem__")):
        return left
    return left.select(list(names)) if isinstance(left, pa.Table) else left[list(names)]


def _is_table(x: Any) -> bool:
    rows = isinstance(x, list) and bool(x) and isinstance(x[0], Mapping)
    return rows or isinstance(x, Mapping) or hasattr(x, "columns")
