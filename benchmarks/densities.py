"""Kernel densities beside scikit-learn, scipy, statsmodels and KDEpy: how fast, how exact; and what they do for tuning.

    python -m benchmarks.densities [--part 10] [--save]            speed and agreement
    python -m benchmarks.densities --tables [--folds 3] [--save]   NaiveBayes(tune="loo") with kernels and without

Speed: 100,000 normal points at 10,000 places, by everyone's exact sum (scikit-learn with rtol = atol = 0), and
1,000,000 points on a grid of 1,024. With `--part 10` the others, whose time is the number of places times that of all
points, answer at a tenth of the places, and their seconds are times ten. Fitting is part of ours and of theirs. Our
error is that against the sum by its definition in long doubles, at 100 places. Agreement: the largest difference from
each, of the peak, at equal bandwidth; KDEpy calls by that name the kernel's standard deviation.
A library that cannot be imported is left out, with a sentence.

Tables: the ten of the 26 with most numeric columns, on the first of the ten folds of `benchmarks.tune_tables`.
"""

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import report, tables
from benchmarks.tables import FOLDS, splits
from benchmarks.timing import best_of, once, there, warm
from benchmarks.tune_tables import typed

POINTS, QUERIES, GRID_POINTS, GRID = 100_000, 10_000, 1_000_000, 1024
BANDWIDTH = 0.1
CHECKED = 100  # places at which our error is measured
MOST_NUMERIC = 10
R = "R's bw.SJ, 0.1109613"
SCIKIT = {"boxcar": "tophat", "triangular": "linear", "epanechnikov": "epanechnikov", "cosine": "cosine"}
KDEPY = {"gaussian": "gaussian", "boxcar": "box", "triangular": "tri", "epanechnikov": "epa", "biweight": "biweight"}
STATSMODELS = {"gaussian": "gau", "boxcar": "uni", "triangular": "tri", "epanechnikov": "epa", "biweight": "biw"}


def speed(part: int) -> dict[str, Any]:
    """Seconds of each, and the largest difference from ours, of the peak."""
    from scipy.stats import gaussian_kde
    from sklearn.neighbors import KernelDensity as Peer

    import evenodds as eo

    rng = np.random.default_rng(0)
    x, at = rng.normal(size=POINTS), rng.normal(size=QUERIES)
    few = at[: QUERIES // part]
    width = BANDWIDTH / x.std(ddof=1)

    def mine_of(kernel: Any) -> Any:
        return eo.KernelDensity(BANDWIDTH, kernel=kernel).fit(x).pdf(at)

    def scikit_learns(kernel: str) -> Any:
        fitted = Peer(kernel=kernel, bandwidth=BANDWIDTH, rtol=0, atol=0).fit(x[:, None])
        return np.exp(fitted.score_samples(few[:, None]))

    ours: dict[str, Callable[[], Any]] = {kernel: partial(mine_of, kernel) for kernel in ("gaussian", "epanechnikov")}
    warm(ours)
    best = {kernel: took.seconds for kernel, took in best_of(ours, 5).items()}
    found: dict[str, Any] = {
        f"ours, {kernel}": {"seconds": seconds, "error": error(kernel, x, at[:CHECKED], ours[kernel]()[:CHECKED])}
        for kernel, seconds in best.items()
    }
    peers: dict[str, tuple[str, Callable[[], Any]]] = {
        "scipy, gaussian": ("gaussian", lambda: gaussian_kde(x, bw_method=width)(few)),
        **{
            f"scikit-learn, {kernel}": (kernel, partial(scikit_learns, kernel))
            for kernel in ("epanechnikov", "gaussian")
        },
    }
    for name, (kernel, task) in peers.items():
        took, says = once(task)
        mine = ours[kernel]()[: len(few)]
        found[name] = {
            "seconds": took.seconds * part,
            "times ours": took.seconds * part / best[kernel],
            "difference": float(np.abs(mine - says).max() / says.max()),
        }
        print(name, found[name], flush=True)
    return found


def error(kernel: str, x: Any, at: Any, says: Any) -> float:
    """The largest difference, of the peak, from the sum by its definition in long doubles."""
    exact = np.empty(len(at), np.longdouble)
    for i, place in enumerate(at):
        u = (np.longdouble(place) - x.astype(np.longdouble)) / np.longdouble(BANDWIDTH)
        if kernel == "gaussian":
            each = np.exp(-u * u / 2) / np.sqrt(2 * np.longdouble("3.14159265358979323846"))
        else:
            each = np.where(np.abs(u) <= 1, (1 - u * u) * 3 / 4, 0)
        exact[i] = each.sum() / len(x) / np.longdouble(BANDWIDTH)
    return float(np.abs(exact - says).max() / exact.max())


def grids() -> dict[str, float]:
    """Seconds for a million points on a grid, KDEpy's beside ours."""
    import evenodds as eo

    x = np.random.default_rng(0).normal(size=GRID_POINTS)
    tasks: dict[str, Callable[[], Any]] = {"ours": lambda: eo.KernelDensity(BANDWIDTH).fit(x).grid(GRID)}
    kdepy = there("KDEpy")
    if kdepy is not None:
        tasks["KDEpy"] = lambda: kdepy.FFTKDE(kernel="gaussian", bw=BANDWIDTH).fit(x).evaluate(GRID)
    warm(tasks)
    return {name: took.seconds for name, took in best_of(tasks, 7).items()}


def agreement() -> dict[str, float]:
    """By library and kernel, the largest difference from ours, of the peak; and from R's bandwidth."""
    from scipy.stats import gaussian_kde
    from sklearn.neighbors import KernelDensity as Peer

    import evenodds as eo
    from evenodds.families.density.shapes import SHAPES

    x, h = np.random.default_rng(1).gamma(2.0, size=500), 0.37
    at = np.linspace(-1, 10, 301)
    ours = {kernel: eo.KernelDensity(h, kernel=kernel).fit(x).pdf(at) for kernel in SHAPES}
    theirs: dict[tuple[str, str], Any] = {("scipy", "gaussian"): gaussian_kde(x, bw_method=h / x.std(ddof=1))(at)}
    for kernel, name in SCIKIT.items():
        peer = Peer(kernel=name, bandwidth=h).fit(x[:, None])
        theirs["scikit-learn", kernel] = np.exp(peer.score_samples(at[:, None]))
    kdepy, statsmodels = there("KDEpy"), there("statsmodels.api")
    if kdepy is not None:
        for kernel, name in KDEPY.items():
            deviation = h * math.sqrt(SHAPES[kernel].variance)
            theirs["KDEpy", kernel] = kdepy.NaiveKDE(kernel=name, bw=deviation).fit(x).evaluate(at)
    if statsmodels is not None:
        for kernel, name in STATSMODELS.items():
            fitted = statsmodels.nonparametric.KDEUnivariate(x)
            fitted.fit(kernel=name, fft=False, bw=h)
            each = [np.squeeze(fitted.evaluate(float(place))) for place in at]  # NaN where no point is near
            theirs["statsmodels", kernel] = np.nan_to_num(np.array(each, float))
    found = {
        f"{who}, {kernel}": float(np.abs(says - ours[kernel]).max() / ours[kernel].max())
        for (who, kernel), says in theirs.items()
    }
    even = eo.KernelDensity("sj").fit(np.linspace(0, 1, 96)).bandwidth_
    found[R] = abs(even / 0.1109613 - 1)
    return found


def tuned(name: str, folds: int, bells: tuple[int | None, ...]) -> dict[str, float]:
    """Mean log loss with kernels (and mixtures) among the alternatives and without, and the seconds each takes."""
    from sklearn.metrics import log_loss

    import evenodds as eo
    from evenodds.families import Gaussians, Kernel
    from evenodds.models import alternatives

    table = tables.load(name)
    frame, y = typed(table), table.y
    every, labels = (alternatives.WIDTHS, alternatives.BELLS), np.unique(y)
    losses: dict[str, list[float]] = {"without": [], "with": [], "seconds without": [], "seconds with": []}
    chosen: list[list[int]] = []
    try:
        for train, test in splits(y, folds):
            for which, some in (("without", ((), ())), ("with", (every[0], bells))):
                alternatives.WIDTHS, alternatives.BELLS = some
                took, nb = once(lambda: eo.NaiveBayes(tune="loo").fit(frame.iloc[train], y[train]))  # noqa: B023
                says = nb.predict_proba(frame.iloc[test])
                losses[which].append(float(log_loss(y[test], says, labels=labels)))
                losses[f"seconds {which}"].append(took.seconds)
            families = [column.family for column in nb.model_.schema.features.values()]
            chosen.append([families.count(Kernel), families.count(Gaussians)])
    finally:
        alternatives.WIDTHS, alternatives.BELLS = every
    kernels, mixtures = np.mean(chosen, axis=0).tolist()
    means = {which: float(np.mean(some)) for which, some in losses.items()}
    return {**means, "kernels": kernels, "mixtures": mixtures}


def shown(result: report.Result) -> str:
    """Seconds and errors; a grid; how far others are from ours."""
    fast, grid, apart = result["speed"], result["grid"], dict(result["difference"])
    lines = [
        [
            name,
            f"{row['seconds']:.4f}" if "error" in row else f"{row['seconds']:.1f}",
            report.times(row["times ours"]) if "times ours" in row else "",
            f"{row['error']:.1e}" if "error" in row else "",
        ]
        for name, row in fast.items()
    ]
    bandwidth = apart.pop(R)
    grids = report.listed(f"{name} {1e3 * seconds:.1f} ms" for name, seconds in grid.items())
    who = report.listed(dict.fromkeys(name.split(", ")[0] for name in apart))
    return report.blocks(
        report.table(["", "seconds", "times ours", "error"], lines),
        report.paragraph(
            f"A million points on a grid of {GRID:,}: {grids}. At equal bandwidth {who} are at most",
            f"{max(apart.values()):.0e} of the peak from ours, kernel by kernel; Sheather and Jones' bandwidth of 96",
            f"even values is R's to {bandwidth:.0e}.",
        ),
    )


def shown_tables(result: report.Result) -> str:
    """Log losses with kernels and without."""
    found = result["tables"]
    ratios = {name: row["with"] / row["without"] for name, row in found.items()}
    mean = math.exp(np.mean(np.log(list(ratios.values()))))
    rows = [
        [
            name,
            str(row["folds"]),
            f"{row['without']:.4f}",
            f"{row['with']:.4f}",
            f"{ratios[name]:.3f}",
            f"{row['kernels']:.1f}",
        ]
        for name, row in found.items()
    ]
    return report.blocks(
        report.paragraph(
            f"At most {max(ratios.values()):.3f} times the log loss without, {mean:.3f} times in the geometric mean of "
            f"{len(ratios)} tables."
        ),
        report.table(["table", "folds", "without", "with", "ratio", "columns as kernels"], rows),
    )


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--part", type=int, default=1, help="the others answer at one in so many of the places")
    parser.add_argument("--tables", action="store_true", help="naive Bayes tuned with kernels, and without")
    parser.add_argument("--mixtures", action="store_true", help="with mixtures of Gaussians too")
    parser.add_argument("--only", type=report.names, help="of the tables these, with commas between")
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the ten folds")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message="column ")
    if not given.tables:
        result = {"part": given.part, "speed": speed(given.part), "grid": grids(), "difference": agreement()}
        report.finish("densities", result, shown, given.save)
        return
    ranked = sorted(tables.names(), key=lambda name: -len(tables.load(name).of_type("numeric")))
    found = {}
    for name in given.only or ranked[:MOST_NUMERIC]:
        found[name] = {"folds": given.folds, **tuned(name, given.folds, (None,) if given.mixtures else ())}
        print(name.ljust(16), "  ".join(f"{key} {value:.3f}" for key, value in found[name].items()), flush=True)
    report.finish("densities_tables", {"tables": found}, shown_tables, given.save)


if __name__ == "__main__":
    main()
