"""The texts every benchmark of text reads: nine published sets, and 200 MB of them to time with.

`load(name)` gives the documents, their classes and the published split, if there is one. `corpus(bytes)` gives real
text of any length: the posts of 20 newsgroups and Enron's mail, over and over, one letter in 500 of each further copy
being another letter. Such a slip makes a new word, so the vocabulary goes on growing as that of fresh text does.

The data folder is $EVENODDS_DATA, or `../shared/data` beside the repository.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.tables import data_folder

FILES = {
    "mr": ["mr_rt_polarity/mr_rt_polarity.csv.gz"],
    "subj": ["subj/subj.csv.gz"],
    "20newsgroups": ["20newsgroups/20ng_bydate_train.csv.gz", "20newsgroups/20ng_bydate_test.csv.gz"],
    "r8": ["reuters_r8/r8_train.csv.gz", "reuters_r8/r8_test.csv.gz"],
    "webkb": ["webkb/webkb_stemmed.csv.gz"],
    "sst": ["sst/sst_binary_sentences.csv.gz"],
    "trec": ["trec_questions/trec_questions.csv"],
    "sms": ["sms_spam/sms_spam.csv"],
    "enron1": ["enron_spam/enron1.csv.gz"],
    "enron4": ["enron_spam/enron4.csv.gz"],
}
FOLDS = 10
SLIPS = 500  # letters for one that is changed in a further copy
FILED = {"spam": "misc.forsale", "ham": "talk.politics.misc"}  # where mail goes among the newsgroups
TECHNICAL = ("comp.", "sci.")  # with spam, the second of two classes; all else is the first

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]  # the rows to learn, the rows to judge by


class Documents(NamedTuple):
    """Texts, the class of each, and which of them the publishers kept for judging (None: they say nothing)."""

    texts: list[str]
    y: npt.NDArray[np.str_]
    held_out: npt.NDArray[np.bool_] | None

    def splits(self, shuffles: int = 1) -> list[Split]:
        """The published split alone; without one, ten folds for each shuffle."""
        if self.held_out is not None:
            return [(np.flatnonzero(~self.held_out), np.flatnonzero(self.held_out))]
        folds = (StratifiedKFold(FOLDS, shuffle=True, random_state=seed) for seed in range(shuffles))
        return [split for kind in folds for split in kind.split(self.y, self.y)]

    def some(self, rows: npt.NDArray[np.intp]) -> tuple[list[str], npt.NDArray[np.str_]]:
        """The texts and classes of some rows."""
        return [self.texts[i] for i in rows], self.y[rows]


def load(name: str) -> Documents:
    """One of the sets. Of a mail the subject is the first line."""
    frames = [pd.read_csv(data_folder() / file, keep_default_na=False, dtype=str) for file in FILES[name]]
    table = pd.concat([frame.assign(part=i) for i, frame in enumerate(frames)], ignore_index=True)
    texts = table["text"] if "subject" not in table else table["subject"] + "\n" + table["text"]
    held_out = None
    if "split" in table:
        held_out = (table["split"] == "test").to_numpy(bool)
    elif len(frames) == 2:
        held_out = (table["part"] == 1).to_numpy(bool)
    return Documents(texts.tolist(), table["label"].to_numpy(str), held_out)


class Corpus(NamedTuple):
    """Much text: all documents' UTF-8, where each ends, and each one's class among 2 and among 20."""

    blob: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]
    two: npt.NDArray[np.int64]
    twenty: npt.NDArray[np.int64]

    def classes(self, number: int) -> npt.NDArray[np.int64]:
        """The classes, as codes."""
        return {2: self.two, 20: self.twenty}[number]

    def first(self, size: int) -> "Corpus":
        """The documents within the first bytes, and one at least."""
        n = max(1, int(np.searchsorted(self.ends, size, side="right")))
        return Corpus(self.blob[: self.ends[n - 1]], self.ends[:n], self.two[:n], self.twenty[:n])

    def strings(self) -> list[str]:
        """The documents as a list of str."""
        blob, ends = self.blob.tobytes(), self.ends.tolist()
        return [blob[a:b].decode() for a, b in zip([0, *ends[:-1]], ends)]

    def arrow(self) -> Any:
        """The documents as an Arrow array of strings."""
        import pyarrow as pa

        offsets = np.concatenate([[0], self.ends])
        return pa.LargeStringArray.from_buffers(len(self.ends), pa.py_buffer(offsets), pa.py_buffer(self.blob))

    def save(self, path: Path) -> None:
        """Write it, for other processes to `read`."""
        np.savez(path, **self._asdict())

    @staticmethod
    def read(path: Path) -> "Corpus":
        """What `save` wrote."""
        with np.load(path) as file:
            return Corpus(*(file[name] for name in Corpus._fields))


def corpus(size: int) -> Corpus:
    """About so many bytes of posts and mail, mixed."""
    posts, *mails = (load(name) for name in ("20newsgroups", "enron1", "enron4"))
    texts = [text for part in (posts, *mails) for text in part.texts]
    topics = np.concatenate([posts.y, *([FILED[label] for label in mail.y] for mail in mails)])
    second = np.concatenate([[y.startswith(TECHNICAL) for y in posts.y], *(mail.y == "spam" for mail in mails)])
    order = np.random.default_rng(0).permutation(len(texts))
    encoded = [texts[i].encode() for i in order]
    blob = np.frombuffer(b"".join(encoded), np.uint8)
    ends = np.cumsum([len(text) for text in encoded])
    two, twenty = second[order].astype(np.int64), np.unique(topics, return_inverse=True)[1][order].astype(np.int64)
    copies = -(-size // len(blob))
    blobs = [slipped(blob, copy) for copy in range(copies)]
    all_ends = np.concatenate([ends + copy * len(blob) for copy in range(copies)])
    return Corpus(np.concatenate(blobs), all_ends, np.tile(two, copies), np.tile(twenty, copies)).first(size)


def slipped(blob: npt.NDArray[np.uint8], copy: int) -> npt.NDArray[np.uint8]:
    """Text with some of its small letters exchanged for others; copy 0 is the text itself.

    >>> text = np.frombuffer(b"the quick brown fox " * 100, np.uint8)
    >>> bool((slipped(text, 0) == text).all()), int((slipped(text, 1) != text).sum()) in range(1, 10)
    (True, True)
    """
    if copy == 0:
        return blob
    rng = np.random.default_rng([7, copy])
    places = rng.integers(0, len(blob), len(blob) // SLIPS)
    letters = (blob[places] >= ord("a")) & (blob[places] <= ord("z"))
    places = places[letters]
    changed = blob.copy()
    changed[places] = ord("a") + rng.integers(0, 26, len(places))
    return changed
