"""More formulas that `mutations` spoils: what is what, and what instead, under the tests that stand nearest to them."""

FORMULAS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "tests/test_tally.py": (
        ("exact.py", "_largest(numbers) * _largest(factors) < 2**62", "True"),
        ("exact.py", "2.0**-53 * np.maximum", "2.0**-20 * np.maximum"),
        ("tally.py", "counts.scaled(np.full(len(a.groups), -1))", "counts"),
    ),
    "tests/test_dialect.py": (
        ("data/dialect.py", "many > len(rows) / 2 and score > best", "score > best"),
        ("data/dialect.py", "round(many / len(rows), 1), -order", "round(many / len(rows), 1), order"),
        ("data/dialect.py", "max(lengths) <= 3", "max(lengths) <= 4"),
        ("data/dialect.py", ">= 0.9 * len(below)", "> 0.5 * len(below)"),
        ("data/dialect.py", "1800 <= value <= 2100", "1000 <= value <= 2100"),
        ("data/dialect.py", "1 if 2 * len(set(below)) <= len(below) else 0", "1"),
    ),
    "tests/test_inputs.py": (
        ("kinds.py", ">= MANY and whole else", ">= MANY else"),
        ("kinds.py", "nearly = often < 1 / 0.9 and", "nearly = often < 1 / 0.5 and"),
    ),
    "tests/test_files.py": (
        ("data/values.py", "numeric.sum() >= 20", "numeric.sum() >= 1"),
        ("data/values.py", "<= int(text) < 2**64", "<= int(text) < 2**63"),
    ),
    "tests/test_text_neighbours.py": (("text/neighbours.py", "differ <= 2 * distance - longer", "differ <= distance"),),
    "tests/test_reliability.py": (
        ("audit/reliability.py", "(n.cumsum() - n / 2) / n.sum()", "n.cumsum() / (n.sum() + 1)"),
        ("audit/reliability.py", "first = each if new else first", "first = each"),
        ("audit/reliability.py", "mean - own, -spread * SLOPES)", "mean - own, -spread)"),
    ),
    "tests/test_audit.py": (
        ("audit/gaps.py", "one.small or other.small", "one.small and other.small"),
        ("audit/gaps.py", "key=lambda g: (g.sure, g.gap)", "key=lambda g: (g.gap, g.sure)"),
        ("audit/rates.py", '"pooled", COLUMN), 2.0)', '"pooled", COLUMN), 0.0)'),
        ("audit/audited.py", "/ m - mean**2, 0.0) / (m - 1)", "/ m - mean**2, 0.0) / m"),
        ("audit/delong.py", "(placed - mean) ** 2 / (m - 1) / m", "(placed - mean) ** 2 / m / m"),
    ),
    "tests/test_stand_ins.py": (
        ("audit/counted.py", "squares / np.maximum(n - 1, 1)", "squares / np.maximum(n, 1)"),
        ("audit/counted.py", "p[log_p <= log_p[first == a] + 1e-9]", "p[first >= a]"),
        ("audit/word_tests.py", "np.arange(len(values), 0, -1)", "len(values)"),
        ("audit/word_tests.py", "np.logical_and.accumulate(values[order]", "np.asarray(values[order]"),
        ("audit/word_tests.py", "float(p.min()) * len(p)", "float(p.min())"),
        ("audit/word_tests.py", "order[: within[-1] + 1]", "order[: within[0] + 1]"),
        ("audit/stand_ins.py", "(tests.totals.sum() - tests.totals[top] + 1)", "(tests.totals.sum() + 1)"),
    ),
    "tests/test_shift.py": (
        ("audit/environments.py", "totals[at] - table[:, at] + 0.5", "totals[at] + 0.5"),
        ("audit/shift.py", "((found.table[found.sure] + 0.5) / here)", "(found.table[found.sure] + 0.5)"),
    ),
    "tests/test_compare.py": (
        ("audit/compare.py", "stdtr(gains.shape[1] - 1,", "stdtr(gains.shape[1],"),
        ("audit/compare.py", "shape[2] - 1, 1 - tail_of(LEVEL)", "shape[2], 1 - tail_of(LEVEL)"),
        ("audit/compare.py", "1 / repeats + self.held_out / self.learnt", "1 / repeats"),
        ("audit/compare.py", "2 * counts.sum() / counts[1]", "counts.sum() / counts[1]"),
    ),
    "tests/test_bandit_offline.py": (
        ("bandits/offline.py", "learn(known, float(len(earned)), arm", "learn(known, float(len(earned) + 1), arm"),
        ("bandits/offline.py", "np.std(earned, ddof=1)", "np.std(earned)"),
        ("bandits/offline.py", "np.std(w * r, ddof=1)", "np.std(w * r)"),
    ),
    "tests/test_bandits.py": (
        ("bandits/policies.py", "-arms.n if t <= self.T0", "-arms.n if t < self.T0"),
        ("bandits/simulation.py", "values.std(ddof=1) /", "values.std() /"),
        ("bandits/simulation.py", "np.quantile(values, [tail, 1 - tail]", "np.quantile(values, [tail, 1 - 2 * tail]"),
        ("bandits/study.py", "behind[-1] + 1]", "behind[-1]]"),
    ),
    "tests/test_glm.py": (
        ("models/glm/regression.py", "is Gaussian and self.settings.variance is None", "is Gaussian"),
        ("models/glm/notes.py", "settings.variance if settings.variance is not None else rss / n", "rss / n"),
        ("models/glm/inference.py", "count / max(count - rank, 1.0)", "count / max(count - 1, 1.0)"),
        ("models/glm/inference.py", " + loss.spread(tile.y)", ""),
        (
            "models/glm/inference.py",
            "settings.variance is None and settings.prior is None",
            "settings.variance is None",
        ),
        ("models/glm/losses.py", "return np.asarray(y + entr(y))", "return np.asarray(entr(y))"),
        ("models/glm/summary.py", "totals.pearson / totals.spare", "totals.pearson / totals.rows"),
        ("models/glm/jeffreys.py", "tile.pull(h * (p - 0.5))", "tile.pull(h * p)"),
        ("models/glm/null.py", "(2 * total + n * origin) * origin", "(total + n * origin) * origin"),
    ),
    "tests/test_laws_estimates.py": (
        ("families/normal_gamma.py", "np.sqrt(v / self.strength), shape)", "np.sqrt(v), shape)"),
        ("families/normal_gamma.py", "-(self.shape + 1.5) * np.log(v)", "-(self.shape + 1.0) * np.log(v)"),
        ("families/rate.py", "cls(*tidy(strength * events, strength * time))", "cls(*tidy(strength * events, time))"),
        ("families/binned.py", "last & (1 - tail < self.tails[1])", "last & (tail < self.tails[1])"),
    ),
    "tests/test_bandit_experiment.py": (
        ("bandits/kept_arm.py", "low + product_error(reward, reward, square)", "low"),
        ("bandits/kept_arm.py", "self.total_low += low", "pass"),
    ),
    "tests/test_plots.py": (
        ("plots/curves.py", "found[some] / (found + false)[some]", "false[some] / (found + false)[some]"),
        ("plots/curves.py", "x, y = np.append(0.0, false) / rest, np", "y, x = np.append(0.0, false) / rest, np"),
        ("plots/boundary.py", "(at % GRID).tolist(), (at // GRID)", "(at // GRID).tolist(), (at % GRID)"),
    ),
    "tests/test_net_learn.py": (
        ("models/bayes_net/independence.py", "chndtrinc(g, free, tail)) / (2 * n)", "chndtrinc(g, free, tail)) / n"),
    ),
    "tests/test_net_structure.py": (
        ("models/bayes_net/d_separation.py", "given if from_child else node in above:", "given:"),
    ),
    "tests/test_net_bif.py": (
        ("models/bayes_net/bif.py", "(i, flat[i::many])", "(i, flat[i * shape[-1] : (i + 1) * shape[-1]])"),
    ),
    "tests/test_perceptron.py": (("models/separators/perceptron.py", "(1.0 if k == 2 else np.sqrt(2.0))", "1.0"),),
    "tests/test_text_tokenise.py": (("text/tokenise.py", "[] if shortest > 1 else list(single)", "list(single)"),),
    "tests/test_words_length.py": (("text/bags.py", "[reader.shortest - 1 :]", "[:]"),),
    "tests/test_temper.py": (("models/temper.py", "share = self.rows / n if n else 0.5", "share = 0.5"),),
    "tests/test_mixture.py": (
        ("models/mixture/priors.py", "k ** (-2.0 / len(self.columns))", "k ** (-1.0 / len(self.columns))"),
    ),
}
