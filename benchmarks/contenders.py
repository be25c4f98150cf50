"""Who is compared on the tables: scikit-learn's five naive Bayes classifiers and ours, each on the columns it can take.

scikit-learn, in the pipeline an ordinary careful user would write, so that nothing raises. A missing number is replaced
by the column's mean, a missing nominal cell by its most frequent value ("missing" as a value of its own was tried on
the seven tables with such cells: CategoricalNB's mean log loss is then .548 against .484, so the better way is here):

- GaussianNB: the numeric columns.
- CategoricalNB: the nominal columns, as ordinal codes from 1; code 0 is for values not seen in training.
- BernoulliNB: the nominal columns one-hot (unseen is all zeros), the numeric ones as "above the training median"
  (a missing number is then the median).
- MultinomialNB, ComplementNB: the nominal columns one-hot as above, the numeric ones scaled to 0..1.

Ours leaves missing cells missing, and needs no pipeline:

- numeric: Gaussian columns, the numeric columns alone: what GaussianNB sees.
- nominal: categorical columns, the nominal columns alone: what CategoricalNB sees.
- gaussian: Gaussian and categorical columns together.
- default: all columns, nominal ones categorical and numeric ones binned, as is our default.
- untold: the frame as `pandas.read_csv` gives it, no types told (identifiers and titanic's free text are in it, leaks
  are not).

`baseline` answers with the class frequencies.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
)

from benchmarks.tables import Table, load, load_untold


class Contender(NamedTuple):
    """One classifier of the comparison: where its table comes from, the columns it can take, and how it is made."""

    name: str
    make: Callable[[Table], Any]
    columns: Callable[[Table], list[str]]
    source: Callable[[str], Table] = load


def every(table: Table) -> list[str]:
    return list(table.frame.columns)


def numeric(table: Table) -> list[str]:
    return table.of_type("numeric")


def nominal(table: Table) -> list[str]:
    return table.of_type("nominal")


def _plus_one(codes: Any) -> Any:
    return codes + 1


def _most_frequent() -> Any:
    return SimpleImputer(strategy="most_frequent")


def _gaussian_nb(table: Table) -> Any:
    return make_pipeline(SimpleImputer(), GaussianNB())


def _categorical_nb(table: Table) -> Any:
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, dtype=int)
    return make_pipeline(_most_frequent(), encoder, FunctionTransformer(_plus_one), CategoricalNB())


def _one_hot_and(numeric_steps: Any, classifier: Any) -> Callable[[Table], Any]:
    """A maker of: nominal columns one-hot, numeric columns through some steps, then a classifier."""

    def make(table: Table) -> Any:
        one_hot = make_pipeline(_most_frequent(), OneHotEncoder(handle_unknown="ignore"))
        return make_pipeline(
            make_column_transformer((one_hot, nominal(table)), (numeric_steps, numeric(table))), classifier
        )

    return make


_ABOVE_MEDIAN = make_pipeline(SimpleImputer(strategy="median"), RobustScaler(with_scaling=False), Binarizer())
_ZERO_TO_ONE = make_pipeline(SimpleImputer(), MinMaxScaler(clip=True))

BASELINE = Contender("baseline", lambda table: DummyClassifier(strategy="prior"), every)

PEERS = [
    Contender("GaussianNB", _gaussian_nb, numeric),
    Contender("CategoricalNB", _categorical_nb, nominal),
    Contender("BernoulliNB", _one_hot_and(_ABOVE_MEDIAN, BernoulliNB()), every),
    Contender("MultinomialNB", _one_hot_and(_ZERO_TO_ONE, MultinomialNB()), every),
    Contender("ComplementNB", _one_hot_and(_ZERO_TO_ONE, ComplementNB()), every),
]


def _ours(numeric_family: str, columns: Callable[[Table], list[str]]) -> Callable[[Table], Any]:
    """A maker of our naive Bayes with the types told."""

    def make(table: Table) -> Any:
        import evenodds as eo

        families = {"numeric": getattr(eo, numeric_family), "nominal": eo.Categorical}
        return eo.NaiveBayes(columns={name: families[table.types[name]] for name in columns(table)})

    return make


def _untold(table: Table) -> Any:
    import evenodds as eo

    return eo.NaiveBayes()


OURS = [
    Contender("ours, numeric", _ours("Gaussian", numeric), numeric),
    Contender("ours, nominal", _ours("Gaussian", nominal), nominal),
    Contender("ours, gaussian", _ours("Gaussian", every), every),
    Contender("ours, default", _ours("Binned", every), every),
    Contender("ours, untold", _untold, every, load_untold),
]
