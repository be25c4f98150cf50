"""How good are the odds? Accuracy and log loss on 26 tables, beside scikit-learn's five naive Bayes classifiers.

    python -m benchmarks.accuracy_tables [--tables titanic,iris] [--quick] [--peers-only] [--save]

StratifiedKFold(10, shuffle=True, random_state=0); a number is the mean over the ten folds. Log loss is in nats, by
`sklearn.metrics.log_loss` on the predicted probabilities. Who takes part, and on which columns, is told in
`benchmarks/contenders.py`. A classifier that can take no column of a table gets a "-"; it is compared with ours over
the tables it has. An exception is caught, counted and shown as "error".
"""

import math
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss

from benchmarks import report, tables
from benchmarks.contenders import BASELINE, OURS, PEERS, Contender

QUICK = ["titanic", "iris", "vote", "colic", "zoo"]
METRICS = {"accuracy": "accuracy", "log_loss": "log loss"}
TIE = 0.0005  # differences below the third decimal are ties

Scores = dict[str, dict[str, dict[str, list[float]]]]  # contender → table → metric → one number a fold


def cross_validate(contender: Contender, name: str) -> dict[str, list[float]] | None:
    """Accuracy and log loss of every fold; None where the contender can take no column of the table."""
    table = contender.source(name)
    columns = contender.columns(table)
    if not columns:
        return None
    frame, y = table.frame[columns], table.y
    labels = np.unique(y)
    folds: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for train, test in tables.splits(y):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="column ")  # what our schema says of identifiers and free text
            model = contender.make(table).fit(frame.iloc[train], y[train])
        proba = np.asarray(model.predict_proba(frame.iloc[test]))
        folds["accuracy"].append(float(accuracy_score(y[test], labels[proba.argmax(axis=1)])))
        folds["log_loss"].append(float(log_loss(y[test], proba, labels=labels)))
    return folds


def measure(contenders: list[Contender], names: list[str]) -> tuple[Scores, list[str]]:
    """The scores of all contenders on all tables, and a sentence for every exception."""
    scores: Scores = {contender.name: {} for contender in contenders}
    errors = []
    for name in names:
        for contender in contenders:
            try:
                folds = cross_validate(contender, name)
            except Exception as error:
                errors.append(f"{contender.name} on {name}: {type(error).__name__}: {error}")
                folds = {metric: [math.nan] for metric in METRICS}
            if folds is not None:
                scores[contender.name][name] = folds
        print(".", end="", flush=True)
    print()
    return scores, errors


def duel(scores: Scores, ours: str, peer: str, metric: str) -> dict[str, Any]:
    """Ours against a peer on the tables both have: the means, wins and losses, and which losses are clear.

    Clear is a loss of more than twice its noise, the standard error of the mean difference over the folds (a little too
    small: folds share their training rows).
    """
    both = [name for name in scores[ours] if name in scores[peer]]
    sign = 1 if metric == "accuracy" else -1
    gains = {n: sign * (np.array(scores[ours][n][metric]) - np.array(scores[peer][n][metric])) for n in both}
    losses = sorted((float(gain.mean()), name) for name, gain in gains.items() if gain.mean() < -TIE)
    noise = {name: float(gain.std(ddof=1)) / math.sqrt(len(gain)) for name, gain in gains.items()}
    return {
        "ours": ours,
        "peer": peer,
        "metric": metric,
        "tables": len(both),
        "wins": sum(bool(gain.mean() > TIE) for gain in gains.values()),
        "losses": len(losses),
        "clear_losses": [name for loss, name in losses if -loss > 2 * noise[name]],
        "our_mean": float(np.mean([np.mean(scores[ours][name][metric]) for name in both])),
        "peer_mean": float(np.mean([np.mean(scores[peer][name][metric]) for name in both])),
    }


def verdicts(scores: Scores) -> list[dict[str, Any]]:
    """Ours and a peer on the same columns, and our default and each of the five."""
    pairs = [("ours, numeric", "GaussianNB"), ("ours, nominal", "CategoricalNB")]
    pairs += [("ours, default", peer.name) for peer in PEERS]
    return [
        duel(scores, ours, peer, metric)
        for ours, peer in pairs
        for metric in METRICS
        if scores.get(ours, {}).keys() & scores[peer].keys()
    ]


def shown(result: report.Result) -> str:
    """Accuracy and log loss of every table, and on how many of them which is better."""
    header = [
        "ours",
        "beside",
        "measure",
        "tables",
        "our mean",
        "its mean",
        "better",
        "as good",
        "worse",
        "clearly worse",
    ]
    lines = [
        [
            one["ours"],
            one["peer"],
            METRICS[one["metric"]],
            str(one["tables"]),
            f"{one['our_mean']:.3f}",
            f"{one['peer_mean']:.3f}",
            str(one["wins"]),
            str(one["tables"] - one["wins"] - one["losses"]),
            str(one["losses"]),
            ", ".join(one["clear_losses"]),
        ]
        for one in result["verdicts"]
    ]
    return report.blocks(
        *(_table(result["scores"], metric) for metric in METRICS),
        report.table(header, lines, left=3) if lines else "",
        "\n".join(f"- {error}" for error in result["errors"]),
    )


def _table(scores: dict[str, dict[str, dict[str, float]]], metric: str) -> str:
    """One metric: a line a table, a column a contender, the mean over each contender's own tables below."""

    def cell(contender: str, name: str) -> str:
        if name not in scores[contender]:
            return "-"
        value = scores[contender][name][metric]
        return "error" if math.isnan(value) else f"{value:.3f}"

    def foot(contender: str) -> str:
        own = [by_metric[metric] for by_metric in scores[contender].values()]
        return f"{np.mean(own):.3f} ({len(own)})" if own else "-"

    rows = [[name, *(cell(contender, name) for contender in scores)] for name in scores[BASELINE.name]]
    return report.table([METRICS[metric], *scores], [*rows, ["mean (tables)", *map(foot, scores)]])


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--tables", type=report.names, help="only these tables, with commas between")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--peers-only", action="store_true", help="without evenodds")
    given = parser.parse_args()
    names = given.tables or (QUICK if given.quick else tables.names())
    scores, errors = measure([BASELINE, *PEERS, *([] if given.peers_only else OURS)], names)
    means = {
        contender: {
            name: {metric: round(float(np.mean(folds)), 6) for metric, folds in metrics.items()}
            for name, metrics in by_table.items()
        }
        for contender, by_table in scores.items()
    }
    result = {"folds": tables.FOLDS, "scores": means, "errors": errors, "verdicts": verdicts(scores)}
    report.finish("accuracy_tables", result, shown, given.save)


if __name__ == "__main__":
    main()
