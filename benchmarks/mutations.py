"""Would the tests notice? Core formulas are spoilt one at a time (a sign flipped, a term dropped), in a copy.

    python -m benchmarks.mutations [--only TEXT] [--workers 2] [--save]

Each mutation is tried against the tests that stand nearest to it; the first failing test is what notices.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from benchmarks import report
from benchmarks.formulas import FORMULAS

ROOT = Path(__file__).parents[1]
FAMILIES = ("tests/test_lectures.py", "tests/test_laws_estimates.py", "tests/test_laws_families.py")


class Mutation(NamedTuple):
    """What is spoilt: in which file, from what to what, and the tests that should notice."""

    where: str
    old: str
    new: str
    tests: tuple[str, ...]


F, M = "families/", "models/"
MUTATIONS = [
    Mutation(
        F + "bernoulli.py", "return self.a / (self.a + self.b)\n", "return self.a / (self.a + self.b + 1)\n", FAMILIES
    ),
    Mutation(F + "bernoulli.py", "(self.a + heads, self.b + tails)", "(self.a + tails, self.b + heads)", FAMILIES),
    Mutation(
        F + "bernoulli.py", "(a - 1) / np.where(inside, a + b - 2, 1.0)", "a / np.where(inside, a + b, 1.0)", FAMILIES
    ),
    Mutation(F + "categorical.py", "gammaln(a).sum(axis=0) - gammaln(", "gammaln(a).sum(axis=0) + gammaln(", FAMILIES),
    Mutation(
        F + "categorical.py", "type(self)(prior + times * counts, axis)", "type(self)(prior + counts, axis)", FAMILIES
    ),
    Mutation(F + "gaussian.py", "z += -0.5 * (LOG_2PI + np.log(variance))", "z += -0.5 * LOG_2PI", FAMILIES),
    Mutation(
        F + "gaussian.py",
        "kernels.add_gaussian(x, mean, 0.5 / variance,",
        "kernels.add_gaussian(x, mean, 1 / variance,",
        ("tests/test_naive_bayes.py", "tests/test_naive_bayes_laws.py"),
    ),
    Mutation(
        F + "normal_gamma.py",
        "scale = self.scale + (squares + between) / 2",
        "scale = self.scale + squares / 2",
        FAMILIES,
    ),
    Mutation(F + "normal_gamma.py", "z *= -(df + 1) / 2", "z *= -df / 2", FAMILIES),
    Mutation(F + "normal_gamma.py", "np.where(df > 2, df - 2, 1.0)", "np.where(df > 2, df - 1, 1.0)", FAMILIES),
    Mutation(
        F + "numeric.py",
        "squares = dd.value(dd.subtract(sums[:, 1],",
        "squares = dd.value(dd.add(sums[:, 1],",
        FAMILIES,
    ),
    Mutation(
        F + "numeric.py",
        "rest = dd.subtract(sums, np.stack",
        "rest = dd.add(sums, np.stack",
        ("tests/test_leave_one_out.py",),
    ),
    Mutation(
        F + "poisson.py",
        "log_p = xlogy(count, rate) - rate - gammaln(count + 1)",
        "log_p = xlogy(count, rate) - gammaln(count + 1)",
        FAMILIES,
    ),
    Mutation(F + "poisson.py", "- count * np.log1p(rate) -", "+ count * np.log1p(rate) -", FAMILIES),
    Mutation(F + "exponential.py", "np.log(rate) - rate * np.where", "-rate * np.where", FAMILIES),
    Mutation(
        F + "log_gaussian.py",
        "if zero.ndim > x.ndim else density) - logs",
        "if zero.ndim > x.ndim else density)",
        FAMILIES,
    ),
    Mutation(F + "binned.py", "inside[0] -= tails[0]", "inside[0] -= 0.0", FAMILIES),
    Mutation(
        F + "density/bells.py",
        "price = (3 * len(bells.weights) - 1)",
        "price = (3 * len(bells.weights) - 1) / 2",
        ("tests/test_gaussians_columns.py",),
    ),
    Mutation(F + "unseen.py", "np.where(mass > 0, mass, each)", "mass", ("tests/test_leave_one_out.py",)),
    Mutation(
        F + "left_out.py",
        "found[self.own] = less(found[self.own], self.amounts)",
        "pass",
        ("tests/test_leave_one_out.py",),
    ),
    Mutation(
        F + "left_out.py",
        "pooled = less(self.counts.sum(axis=1)[values], left.amounts)\n        everything",
        "pooled = self.counts.sum(axis=1)[values]\n        everything",
        ("tests/test_leave_one_out.py",),
    ),
    Mutation(
        F + "smoothing.py",
        "n - 1 + strength * (value - 1)",
        "n + strength * value",
        ("tests/test_laws_estimates.py", "tests/test_naive_bayes.py", "src/evenodds/families/smoothing.py"),
    ),
    Mutation(F + "smoothing.py", "best * max(len(tally.groups) - 1, 1) if", "best if", ("tests/test_words.py",)),
    Mutation(
        F + "telling.py",
        "rest_of, others, imagined = prior[group], n - own,",
        "rest_of, others, imagined = prior[group], n,",
        ("tests/test_words.py",),
    ),
    Mutation(F + "words.py", "weights -= np.log(totals)", "weights -= 0.0", ("tests/test_words.py",)),
    Mutation(
        F + "words.py",
        "mine = [np.log(unit * one.numbers + strength) - log",
        "mine = [np.log(unit * one.numbers + strength)",
        ("tests/test_words.py",),
    ),
    Mutation(
        M + "learnt.py",
        "everywhere / n.sum() * odds",
        "odds",
        ("tests/test_words.py", "tests/test_lectures.py", "docs/text.md"),
    ),
    Mutation(
        M + "class_prior.py",
        "shares = counts / counts.sum()",
        "shares = (counts + 1) / (counts + 1).sum()",
        ("tests/test_naive_bayes.py", "tests/test_lectures.py"),
    ),
    Mutation(
        "logs.py",
        "joint -= np.log(np.add.reduce(np.exp(joint)))",
        "joint -= 0.0",
        ("tests/test_naive_bayes.py",),
    ),
    *(
        Mutation("text/leave_kernels.py", old, new, ("tests/test_leave_one_out.py",))
        for old, new in (
            ("log_of(left(here, own), strength, table)", "log_of(here, strength, table)"),
            ("                less += own\n", ""),
            ("+= counts[row, k]\n                    continue", "+= 0.0\n                    continue"),
            ("            there += x\n", "            there += 1.0\n"),
        )
    ),
    *(
        Mutation("text/whole_kernels.py", old, new, ("tests/test_leave_one_out.py",))
        for old, new in (
            ("x * table[np.uint64(rest)]", "x * table[line[g]]"),
            ("            less += own\n", ""),
            ("            x = 0.0 if gone else x\n", ""),
            ("range(classes - skipped * gone)", "range(classes - skipped)"),
        )
    ),
    Mutation(F + "kernels.py", "+= (s - (t - b)) + (v - b)\n", "+= s - (t - b)\n", ("tests/test_laws_families.py",)),
    Mutation(
        "text/list_kernels.py",
        "numbers[at] = rows[t] = number",
        "numbers[at], rows[t] = number, at",
        ("tests/test_leave_one_out.py",),
    ),
    Mutation("text/list_kernels.py", "if np.isnan(rows[at]):", "if rows[at] == 0:", ("tests/test_text_count.py",)),
    Mutation(
        "text/list_kernels.py", "at = (keys[t] >> shift) * wide", "at = keys[t] >> shift", ("tests/test_text_count.py",)
    ),
    Mutation(M + "temper_problem.py", "w * (mine - 1.0)", "w * (mine + 1.0)", ("tests/test_temper.py",)),
    Mutation(M + "optimism.py", "w * u[o, b] * u[d, b]", "u[o, b] * u[d, b]", ("tests/test_temper.py",)),
    Mutation(M + "optimism.py", "(1.0 + moved[o] - along)", "1.0", ("tests/test_temper.py",)),
    Mutation(M + "temper_problem.py", "share *= mine", "share *= 1.0", ("tests/test_temper.py",)),
    Mutation(M + "temper_problem.py", "far = w * mean[a]", "far = mean[a]", ("tests/test_temper.py",)),
    Mutation(
        F + "left_out.py",
        "(values + 1) * left.n_groups + left.groups",
        "(values + 1) * left.n_groups",
        ("tests/test_leave_one_out.py",),
    ),
    Mutation(
        M + "glm/losses.py",
        "rate - y * score, rate - y, rate",
        "rate - y * score, rate + y, rate",
        ("tests/test_glm_fitter.py", "tests/test_glm.py"),
    ),
    Mutation(
        M + "glm/losses.py",
        "np.where(score >= 0, below, above) - y, below * above",
        "np.where(score >= 0, below, above) - y, below",
        ("tests/test_glm_fitter.py", "tests/test_glm.py"),
    ),
    Mutation(
        M + "glm/losses.py",
        "first[rows[chosen], classes[chosen]] -= 1.0",
        "first[rows[chosen], classes[chosen]] -= 0.9",
        ("tests/test_glm_fitter.py", "tests/test_glm.py"),
    ),
    Mutation(M + "bayes_rule.py", "1 - p for a, p in zip", "p for a, p in zip", ("tests/test_bayes_rule.py",)),
    Mutation(
        "double_double.py",
        "s, e = _renormalise(s, e + t)",
        "s, e = _renormalise(s, t)",
        ("tests/test_tally.py", "tests/test_laws_families.py"),
    ),
    Mutation(
        "exact.py",
        "return a + b if sign > 0 else a - b",
        "return a + b",
        ("tests/test_tally.py", "tests/test_laws_families.py"),
    ),
    Mutation("audit/delong.py", "np.cumsum(rest) - rest / 2", "np.cumsum(rest) - rest", ("tests/test_metrics.py",)),
    Mutation(
        "audit/judge.py", "np.square(p).sum(axis=1) + ~known", "np.square(p).sum(axis=1)", ("tests/test_metrics.py",)
    ),
    Mutation("audit/gaps.py", "np.clip(y + margin, 0.0, 1.0)", "np.clip(y, 0.0, 1.0)", ("tests/test_audit.py",)),
    Mutation(
        F + "bernoulli.py",
        "np.where(every, 1.0, np.where(",
        "np.where(every, high, np.where(",
        ("tests/test_audit.py",),
    ),
    Mutation("audit/counted.py", "max(found**2 - chance**2, 0.0)", "found**2", ("tests/test_shift.py",)),
    Mutation(
        "audit/word_tests.py", "betainc(some, before + 1, ", "betainc(some, before / 3 + 1, ", ("tests/test_shift.py",)
    ),
    Mutation("audit/counted.py", ", (r - 1) * (c - 1)\n", ", r * c\n", ("tests/test_stand_ins.py",)),
    Mutation(
        "audit/counted.py", "errors = variance / np.maximum(n, 1)", "errors = variance", ("tests/test_stand_ins.py",)
    ),
    Mutation("audit/crossed.py", "[1] != group", "[1] == group", ("tests/test_stand_ins.py",)),
    Mutation(M + "information.py", "self.nats - self.degrees / 2", "self.nats", ("tests/test_stand_ins.py",)),
    Mutation("audit/word_tests.py", 'events="present"', 'events="counts"', ("tests/test_shift.py",)),
    Mutation("audit/environments.py", "of.without(name)", "of.whole", ("tests/test_shift.py",)),
    Mutation("audit/graph.py", "predicted, given=target)", "predicted)", ("tests/test_audit_graph.py",)),
    Mutation("audit/graph.py", "[group], {target})", "[group], set())", ("tests/test_audit_graph.py",)),
    Mutation(M + "label_shift.py", "np.log(found.shares) - old", "np.log(found.shares)", ("tests/test_shift.py",)),
    Mutation(
        M + "label_shift.py", "np.sqrt(covariance.sum())", "np.sqrt(np.trace(covariance))", ("tests/test_shift.py",)
    ),
    Mutation(M + "mixture/fit.py", "bic + 2 * run.expected", "bic + run.expected", ("tests/test_mixture.py",)),
    Mutation(M + "explain.py", "+ belief * odds / len(spans)", "+ odds / len(spans)", ("tests/test_explain_html.py",)),
    Mutation("bandits/contexts.py", "1e9 * self.c**2", "1e9 * self.c", ("tests/test_bandits.py",)),
    Mutation("audit/counted.py", "chi / n - degrees / (n - 1)", "chi / n", ("tests/test_stand_ins.py",)),
    Mutation(
        M + "separators/perceptron.py",
        "W[worst, j] -= X[i, j]",
        "W[worst, j] += X[i, j]",
        ("tests/test_perceptron.py",),
    ),
    Mutation(
        "bandits/policies.py", "np.sqrt(math.log(t) / arms.n)", "math.log(t) / arms.n", ("tests/test_bandits.py",)
    ),
    Mutation(M + "information.py", "2 * self.nats)", "self.nats)", ("tests/test_net_learn.py",)),
    Mutation("logs.py", "safe + np.log(np.exp(joint - safe", "np.log(np.exp(joint - safe", ("tests/test_mixture.py",)),
    Mutation(F + "leaves.py", "np.where(whole > 0, whole, 1.0)", "np.maximum(whole, 1.0)", FAMILIES),
    Mutation(F + "numeric.py", "ROUNDING = 2.0**-86", "ROUNDING = 2.0**-120", FAMILIES),
    Mutation(F + "kernels.py", "error2[lane] = e - (s - t)", "error2[lane] = e", FAMILIES),
    Mutation(F + "poisson.py", "0.5 * np.log(2 * np.pi * n) + 1 /", "1 /", FAMILIES),
    Mutation(
        M + "targets.py", "return self.right / self.rows", "return self.right / self.known", ("tests/test_sklearn.py",)
    ),
    Mutation(M + "bridge/fit.py", "(problem.classes - 1) / problem.classes", "1.0", ("tests/test_bridge.py",)),
    Mutation("data/values.py", "0.05 * counts[said].sum()", "0.05 * counts.sum()", ("tests/test_files.py",)),
    *(Mutation(*formula, (tests,)) for tests, some in FORMULAS.items() for formula in some),
]


def tried(mutation: Mutation, copy: Path) -> str:
    """The first test that fails under a mutation, or what else happened."""
    path = copy / "src" / "evenodds" / mutation.where
    text = path.read_text()
    if text.count(mutation.old) != 1:
        return f"not tried: the formula is there {text.count(mutation.old)} times"
    path.write_text(text.replace(mutation.old, mutation.new))
    try:
        # plain Python instead of kernels would be another path: caches are kept apart by the copy's folder
        environment = os.environ | {"PYTHONPATH": str(copy / "src")}
        run = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", *mutation.tests]
        result = subprocess.run(run, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    finally:
        path.write_text(text)
    if result.returncode == 0:
        return "NOT NOTICED"
    failed = [line for line in result.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].removeprefix("FAILED ").partition(" - ")[0] if failed else f"failed: {result.stdout[-200:]}"


def missed(found: list[dict[str, object]]) -> list[dict[str, object]]:
    """Those that no test noticed."""
    return [one for one in found if "::" not in str(one["noticed by"])]


def shown(result: report.Result) -> str:
    """How many were noticed, and which were not."""
    found = result["mutations"]
    unseen = [f"- {one['where']}: `{str(one['new']).strip()}`: {one['noticed by']}" for one in missed(found)]
    files = len({one["where"] for one in found})
    told = (
        f"{len(found)} formulas of {files} files were spoilt, one at a time; tests noticed {len(found) - len(unseen)}."
    )
    return report.blocks(report.paragraph(told), "\n".join(unseen))


def main() -> None:
    parser = report.options(__doc__)
    parser.add_argument("--only", default="", help="mutations of files with this in their names")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutations tried at once")
    given = parser.parse_args()
    some = [mutation for mutation in MUTATIONS if given.only in mutation.where]
    copies: SimpleQueue[Path] = SimpleQueue()

    def spoil(mutation: Mutation) -> dict[str, object]:
        copy = copies.get()
        try:
            found = {**mutation._asdict(), "noticed by": tried(mutation, copy)}
        finally:
            copies.put(copy)
        print(f"{mutation.where:28} {mutation.new.strip()[:60]:60} {found['noticed by']}", flush=True)
        return found

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.workers) as pool:
        for k in range(given.workers):
            ignored = shutil.ignore_patterns(".venv", ".git", "*.nbc", "*.nbi", ".mypy_cache", ".hypothesis")
            copies.put(shutil.copytree(ROOT, Path(folder) / str(k) / "evenodds", ignore=ignored))
        found = list(pool.map(spoil, some))
    report.finish("mutations", {"mutations": found}, shown, given.save)
    sys.exit(1 if missed(found) else 0)


if __name__ == "__main__":
    main()
