"""How good are the odds? Accuracy and log loss on 26 tables, beside scikit-learn's five naive Bayes classifiers.

    python -m benchmarks.accuracy_tables [--tables titanic,iris] [--quick] [--peers-only] [--save]

StratifiedKFold(10, shuffle=True, random_state=0); a number is the mean over the ten folds. Log loss is in nats, by
`sklearn.metrics.log_loss` on the predicted probabilities. Who takes part, and on which columns, is told in
`benchmarks/contenders.py`. A classifier that can take no column of a table gets a "-"; it is compared with ours over
the tables it has. An exception is caught, counted and shown as "error".
"""

import argparse
import math
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks import report, tables
from benchmarks.contenders import BASELINE, OURS, PEERS, Contender

FOLDS = 10
QUICK = ["titanic", "iris", "vote", "colic", "zoo"]
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
    folds: dict[str, list[float]] = {"accuracy": [], "log_loss": []}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, y))
    for train, test in splits:
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
                folds = {"accuracy": [math.nan], "log_loss": [math.nan]}
            if folds is not None:
                scores[contender.name][name] = folds
        print(".", end="", flush=True)
    print()
    return scores, errors


def mean(scores: Scores, contender: str, names: list[str], metric: str) -> float:
    """A contender's mean over some tables of its means over the folds."""
    return float(np.mean([np.mean(scores[contender][name][metric]) for name in names]))


def score_table(scores: Scores, names: list[str], metric: str, digits: int) -> str:
    """One metric: a line a table, a column a contender, the mean over each contender's own tables below."""

    def cell(contender: str, name: str) -> str:
        if name not in scores[contender]:
            return "-"
        value = float(np.mean(scores[contender][name][metric]))
        return "error" if math.isnan(value) else f"{value:.{digits}f}"

    def foot(contender: str) -> str:
        own = [name for name in names if name in scores[contender]]
        return f"{mean(scores, contender, own, metric):.{digits}f} ({len(own)})" if own else "-"

    rows = [[name, *(cell(contender, name) for contender in scores)] for name in names]
    return report.table([metric, *scores], [*rows, ["mean (tables)", *map(foot, scores)]])


def duel(scores: Scores, ours: str, peer: str, names: list[str], metric: str) -> tuple[str, dict[str, Any]]:
    """Ours against a peer on the tables both have: the means, wins, ties, losses, and every loss with its noise.

    The noise is the standard error of the mean difference over the folds (a little too small: folds share their
    training rows). A loss of more than twice that is called clear.
    """
    both = [name for name in names if name in scores[ours] and name in scores[peer]]
    sign = 1 if metric == "accuracy" else -1
    gains = {n: sign * (np.array(scores[ours][n][metric]) - np.array(scores[peer][n][metric])) for n in both}
    means = {name: float(gain.mean()) for name, gain in gains.items()}
    noise = {name: float(gain.std(ddof=1)) / math.sqrt(len(gain)) for name, gain in gains.items()}
    wins = sum(m > TIE for m in means.values())
    losses = sorted((m, name) for name, m in means.items() if m < -TIE)
    clear = [name for m, name in losses if -m > 2 * noise[name]]
    us, them = mean(scores, ours, both, metric), mean(scores, peer, both, metric)
    verdict = {
        "ours": ours,
        "peer": peer,
        "metric": metric,
        "tables": len(both),
        "wins": wins,
        "losses": len(losses),
        "clear_losses": clear,
        "our_mean": us,
        "peer_mean": them,
        "better_mean": bool(sign * (us - them) > 0),
    }
    text = (
        f"{'yes' if verdict['better_mean'] else 'NO '}  {ours} vs {peer}, {metric} over {len(both)} tables: "
        f"mean {us:.4f} vs {them:.4f}; {wins} wins, {len(both) - wins - len(losses)} ties, {len(losses)} losses, "
        f"{len(clear)} of them clear"
    )
    worst = [f"{name} {-m:.4f}±{noise[name]:.4f}{'!' if name in clear else ''}" for m, name in losses]
    return text + (f"\n     behind on: {', '.join(worst)}" if worst else ""), verdict


def verdicts(scores: Scores, names: list[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """The claims, each with yes or NO for the mean over the tables; what single tables say is beside it."""
    pairs = [("ours, numeric", "GaussianNB"), ("ours, nominal", "CategoricalNB")]
    pairs += [("ours, default", peer.name) for peer in PEERS]
    duels = [
        duel(scores, ours, peer, names, metric)
        for ours, peer in pairs
        for metric in ("accuracy", "log_loss")
        if any(name in scores[ours] and name in scores[peer] for name in names)
    ]
    return [text for text, _ in duels], [verdict for _, verdict in duels]


def main() -> None:
    parser = argparse.ArgumentParser(description="accuracy and log loss on tables, beside scikit-learn")
    parser.add_argument("--tables", help="only these tables, with commas between")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--peers-only", action="store_true", help="without evenodds")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/accuracy_tables.json")
    options = parser.parse_args()
    names = options.tables.split(",") if options.tables else QUICK if options.quick else tables.names()
    contenders = [BASELINE, *PEERS, *([] if options.peers_only else OURS)]

    scores, errors = measure(contenders, names)
    for metric in ("accuracy", "log_loss"):
        print(score_table(scores, names, metric, digits=3), end="\n\n")
    lines, claims = ([], []) if options.peers_only else verdicts(scores, names)
    print(f"{'NO ' if errors else 'yes'}  never an exception" + "".join(f"\n     {error}" for error in errors))
    print("\n".join(lines))
    if options.save:
        folds = {"folds": FOLDS, "scores": _means(scores), "errors": errors, "verdicts": claims}
        print(f"wrote {report.save('accuracy_tables', folds)}")


def _means(scores: Scores) -> dict[str, dict[str, dict[str, float]]]:
    return {
        contender: {
            name: {metric: round(float(np.mean(folds)), 6) for metric, folds in metrics.items()}
            for name, metrics in by_table.items()
        }
        for contender, by_table in scores.items()
    }


if __name__ == "__main__":
    main()
