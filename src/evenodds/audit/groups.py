"""Does a model treat groups evenly? `Audit` counts its predictions by protected groups, in one pass.

>>> women, men = {"sex": ["f"] * 200, "repaid": [1] * 200}, {"sex": ["m"] * 200, "repaid": [1] * 200}
>>> granted = [0] * 62 + [1] * 138 + [0] * 44 + [1] * 156
>>> loans = {"sex": women["sex"] + men["sex"], "repaid": women["repaid"] + men["repaid"], "granted": granted}
>>> found = Audit(by="sex").of_columns(loans, "repaid", predicted="granted").gap("TPR", "m", "f")
>>> round(found.gap, 3), round(found.sure, 3)
(0.089, 0.815)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evenodds.audit.audited import Audited, Reads
from evenodds.audit.decisions import Decision
from evenodds.audit.held_out import HeldOut, Predicted, of_model
from evenodds.audit.judge import tally
from evenodds.audit.protected import together
from evenodds.audit.scores import log_of, log_of_first, log_of_second
from evenodds.cells import Coded, as_column, codes, target_kind
from evenodds.data.decide import VALUES
from evenodds.data.files import is_source, read
from evenodds.data.memory import table
from evenodds.data.reading import Cells, Reading
from evenodds.data.report import Report
from evenodds.data.source import Batch, Source
from evenodds.data.sum import cells
from evenodds.data.threads import in_order
from evenodds.errors import DataError
from evenodds.families import Categorical, Gaussian
from evenodds.families.leaves import Floats
from evenodds.labels import Labels, canonical
from evenodds.schema import Column, Schema, did_you_mean, first_of
from evenodds.tally import Tally

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
        given: Any = self.threshold
        number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        for name, right, expected in (
            ("margin", 0 <= self.margin < 1, "0 or more, below 1"),
            ("level", 0 < self.level < 1, "between 0 and 1"),
            ("threshold", not number or 0 <= given <= 1, "a probability, 0 to 1"),
            ("small", self.small >= 0, "a number of rows"),
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
        self, model: Any, data: Any, y: Any = None, weights: Any = None, groups: Any = None, threads: int | None = None
    ) -> Audited:
        """A model's predictions: naive Bayes', the bridge's, or any classifier's with scikit-learn's face.

        `data` is a table or, for the first two, files. `y` is the true classes, or their column's name, which the first
        two know. The groups are columns of the data, or of `groups`, and need not be among the model's.
        """
        ours = getattr(model, "model_", model)
        if (
            hasattr(ours, "log_proba")
            and hasattr(ours, "schema")
            and groups is None
            and (y is None or isinstance(y, str))
        ):
            if isinstance(y, str) and y != ours.schema.target:
                raise DataError(f"the model's target is {ours.schema.target!r}, not {y!r}: leave y out")
            source = data if hasattr(data, "batches") else read(data)
            return self.of_held_out(of_model(ours, source, weights, threads, self.columns), threads)
        if is_source(data):
            raise DataError(
                "files can be audited by naive Bayes and the bridge, or with a column of scores (of_columns): "
                "give another model's rows as a table, and y"
            )
        if y is None:
            raise DataError("the true classes are not known: give y, a column's name or a class for each row")
        known = table(groups if groups is not None else data)
        features = data
        if isinstance(y, str):
            from evenodds.models.shell import drop, has_frame

            features, y = drop(data, y) if has_frame(data) else data, table(data)[y]
        names = getattr(model, "feature_names_in_", None)
        if names is not None and hasattr(features, "columns") and hasattr(features, "__getitem__"):
            features = features.select(list(names)) if isinstance(features, pa.Table) else features[list(names)]
        if hasattr(model, "predict_proba"):
            said = {"proba": model.predict_proba(features), "classes": model.classes_}
        else:
            said = {"predicted": model.predict(features)}
        return self.of_predictions(y, {name: known[name] for name in self.columns}, weights=weights, **said)

    def of_predictions(
        self,
        y: Any,
        groups: Any,
        scores: Any = None,
        proba: Any = None,
        predicted: Any = None,
        classes: Any = None,
        weights: Any = None,
        threads: int | None = None,
    ) -> Audited:
        """Anybody's predictions, as arrays: p(positive) in `scores`, or p of each of `classes` in `proba`, or labels.

        `groups` is a table with the columns of `by`, or one array for one column.
        """
        truth = codes(as_column(y))
        known = table(groups if len(self.columns) > 1 or _is_table(groups) else {self.columns[0]: groups})
        columns = [codes(known[name]) for name in self.columns]
        said = None if predicted is None else codes(as_column(predicted))
        names = self._classes(truth, said, classes, target_kind(as_column(y)))
        p, read_p = self._given(scores, proba, names, said)
        n = len(truth.codes)
        given = {"predictions": None if said is None else said.codes, "probabilities": p, "groups": columns[0].codes}
        for what, found in given.items():
            if found is not None and len(found) != n:
                raise DataError(f"{len(found)} {what} for {n} rows: expected one for each row")
        w = None if weights is None else np.asarray(weights, float)

        def parts() -> Iterator[Predicted]:
            for start in range(0, n, ROWS):
                rows = slice(start, start + ROWS)
                yield Predicted(
                    truth[rows],
                    None if p is None else read_p(p[rows], start),
                    names,
                    None if w is None else w[rows],
                    by=together([column[rows] for column in columns]),
                    said=None if said is None else said[rows],
                )

        return self._audited(Tally.total(in_order(self._judged, parts(), threads)), names, Report(n))

    def of_columns(
        self,
        data: Any,
        target: str,
        score: str | None = None,
        predicted: str | None = None,
        weights: str | None = None,
        threads: int | None = None,
    ) -> Audited:
        """Predictions that stand in a table or in files: a column with p(positive), or with what was said, or both."""
        if score is None and predicted is None:
            raise DataError("what was predicted? Name a column of scores, or of what was said")
        source = data if hasattr(data, "batches") else read(data)
        schema, names = self._schema(source, target, score, predicted)
        reading = Reading(schema, weights=weights)

        def predict(start: int, batch: Batch, found: Cells) -> Iterator[Predicted]:
            column = {name: cells(found.table, name, how) for name, how in schema.features.items()}
            by = together([column[name] for name in self.columns])
            said = None if predicted is None else column[predicted]
            assert found.target is not None
            log_p = None if score is None else log_of_second(column[score], start, score)
            yield Predicted(found.target, log_p, names, found.weights, by=by, said=said)

        return self._summed(HeldOut(source, reading, names, predict), threads)

    def of_held_out(self, held: HeldOut, threads: int | None = None) -> Audited:
        """Predictions of rows held out, by folds or each without itself, as `held_out` makes them."""
        if held.by != self.columns:
            raise DataError(f"the rows were read by {held.by}, the audit is by {self.columns}")
        return self._summed(held, threads)

    # -- the sum -----------------------------------------------------------------------------------------------------

    def _summed(self, held: HeldOut, threads: int | None) -> Audited:
        total = held.total(self._judged, threads).tallies[0]
        return self._audited(total, held.classes, held.report)

    def _judged(self, part: Predicted) -> Tally:
        said = part.said if part.said is not None else self._decided(part)
        return tally(part.truth, part.log_p, part.classes, part.weights, part.by, said, BITS)

    def _audited(self, total: Tally, classes: NDArray[Any], report: Report) -> Audited:
        texts = tuple(canonical(c) for c in classes.tolist())
        if not total.columns:
            raise DataError("there are no rows with a class to audit by")
        reads = self.reads
        if reads.positive is not None and reads.positive not in texts:
            raise DataError(f"positive={self.positive!r} is not among the classes {', '.join(map(repr, texts))}")
        return Audited(reads, total, texts, report)

    def _decided(self, part: Predicted) -> Coded | None:
        """What is said of each row, where a threshold or a rule decides it."""
        rule = self.threshold
        if rule is None or part.log_p is None:
            return None
        if isinstance(rule, Decision):
            return codes(as_column([canonical(label) for label in rule.apply(part.proba(np.array(rule.classes)))]))
        texts = [canonical(c) for c in part.classes.tolist()]
        c = texts.index(canonical(self.positive)) if self.positive is not None else 1
        if len(texts) != 2:
            raise DataError(f"threshold={rule} is for two classes, there are {len(texts)}: give a Decision instead")
        labels, place = Labels.coded(texts)
        return Coded(np.where(np.exp(part.log_p[:, c]) >= float(rule), c, 1 - c), labels, place, nullable=False)

    def _classes(self, truth: Coded, said: Coded | None, classes: Any, kind: str) -> NDArray[Any]:
        """The classes, in the order of their values."""
        if classes is not None:
            return np.asarray(classes)
        texts = set(truth.labels.texts())
        if said is not None:
            texts = _with_said(texts, said.labels.texts(), "predicted=")
        if self.positive is not None:
            texts |= {canonical(self.positive)}
        return in_value_order(texts, kind)

    def _given(
        self, scores: Any, proba: Any, classes: NDArray[Any], said: Coded | None
    ) -> tuple[Floats | None, Callable[[Floats, int], Floats]]:
        """The probabilities as they were given, and what makes log p of each class of some of them."""
        if (scores is None) + (proba is None) != 1:
            if scores is None and said is not None:
                return None, log_of
            raise DataError(
                "give one of scores=, proba= and predicted= (predicted= beside scores= is what was decided)"
            )
        if scores is None:
            return np.asarray(proba, float), log_of
        if len(classes) > 2:
            raise DataError(f"scores= is for two classes, there are {len(classes)}: give proba= and classes=")
        meant = None if self.positive is None else canonical(self.positive)
        first = len(classes) == 2 and meant == canonical(classes.tolist()[0])
        return np.asarray(as_column(scores), float), log_of_first if first else log_of_second

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
            texts = _with_said(texts, codes(sample[predicted]).labels.texts(), f"column {predicted!r}")
        names = self._classes(codes(sample[target]), None, sorted(texts), kind)
        names = in_value_order(map(canonical, names.tolist()), kind)
        if score is not None and len(names) != 2:
            raise DataError(
                f"column {score!r} is p of one of two classes, {target!r} has {len(names)} in its first rows"
            )
        return Schema(columns, target, kind), names


def _with_said(classes: set[str], said: Iterable[str], where: str) -> set[str]:
    """The classes, and what else was said; refused where nothing that was said is one of several classes."""
    every = set(said)
    if every and len(classes) > 1 and classes.isdisjoint(every):
        ours, theirs = (first_of(sorted(some)) for some in (classes, every))
        raise DataError(
            f"{where} has {theirs}, and no row is of such a class: the classes are {ours}; write both in the same words"
        )
    return classes | every


def in_value_order(texts: Iterable[str], kind: str) -> NDArray[Any]:
    """Classes in the order of their values: 2 before 10 among numbers."""
    every = sorted(set(texts))
    if kind in ("int", "float"):
        with contextlib.suppress(ValueError):
            every = sorted(every, key=float)
    return np.array(every, dtype=object)


def _is_table(x: Any) -> bool:
    rows = isinstance(x, list) and bool(x) and isinstance(x[0], Mapping)
    return rows or isinstance(x, Mapping) or hasattr(x, "columns")
