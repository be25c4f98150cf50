"""EM as the books have it: a row, a component, a cell at a time. Slow, and the oracle of what is fast."""

import numpy as np

from evenodds.labels import Grid


def log_normal(x, mean, covariance):
    """log density of the known cells of x: their marginal is a Gaussian too."""
    o = np.flatnonzero(~np.isnan(x))
    if not len(o):
        return 0.0
    apart, inner = x[o] - mean[o], covariance[np.ix_(o, o)]
    return -0.5 * (len(o) * np.log(2 * np.pi) + np.linalg.slogdet(inner)[1] + apart @ np.linalg.solve(inner, apart))


def shares(joint):
    """p(component | row) of log joint densities."""
    e = np.exp(joint - joint.max())
    return e / e.sum()


def gaussian_joint(X, weights, means, covariances):
    """log weight + log density, (rows, k)."""
    return np.array([[np.log(w) + log_normal(x, m, c) for w, m, c in zip(weights, means, covariances)] for x in X])


def gaussian_step(X, row_weights, weights, means, covariances, kind, strength=0.0, scale=None):
    """One step: the log-likelihood before it, and the weights, means and covariances after it."""
    n, d = X.shape
    k = len(weights)
    joint = gaussian_joint(X, weights, means, covariances)
    r = np.array([w * shares(row) for w, row in zip(row_weights, joint)])
    log_likelihood = sum(
        w * np.log(np.exp(row - row.max()).sum()) + w * row.max() for w, row in zip(row_weights, joint)
    )
    if kind in ("diagonal", "spherical"):  # columns on their own: missing cells are left out
        there = ~np.isnan(X)
        new = np.array(
            [[(r[there[:, j], g] @ X[there[:, j], j]) / r[there[:, j], g].sum() for j in range(d)] for g in range(k)]
        )
        squares = np.array(
            [[r[there[:, j], g] @ (X[there[:, j], j] - new[g, j]) ** 2 for j in range(d)] for g in range(k)]
        )
        counts = np.array([[r[there[:, j], g].sum() for j in range(d)] for g in range(k)])
        believed = 0.0 if scale is None else strength * scale
        variances = (squares + believed) / (counts + strength)
        if kind == "spherical":
            variances = ((squares + believed).sum(axis=1) / (counts + strength).sum(axis=1))[:, None] * np.ones(d)
        return log_likelihood, r.sum(axis=0) / r.sum(), new, np.array([np.diag(v) for v in variances])
    first, second = np.zeros((k, d)), np.zeros((k, d, d))
    for g in range(k):
        for i in range(n):  # what is missing, given what is there: conditional mean and covariance
            o, m = np.flatnonzero(~np.isnan(X[i])), np.flatnonzero(np.isnan(X[i]))
            c, guess, noise = covariances[g], X[i].copy(), np.zeros((d, d))
            if len(m):
                slope = c[np.ix_(m, o)] @ np.linalg.inv(c[np.ix_(o, o)])
                guess[m] = means[g][m] + slope @ (X[i][o] - means[g][o])
                noise[np.ix_(m, m)] = c[np.ix_(m, m)] - slope @ c[np.ix_(o, m)]
            first[g] += r[i, g] * guess
            second[g] += r[i, g] * (np.outer(guess, guess) + noise)
    counts = r.sum(axis=0)
    new = first / counts[:, None]
    spread = np.array([second[g] - counts[g] * np.outer(new[g], new[g]) for g in range(k)])
    if kind == "tied":
        spread, counts = np.repeat(spread.sum(axis=0)[None], k, axis=0), np.full(k, counts.sum())
    believed = np.zeros((d, d)) if scale is None else strength * np.diag(scale)
    return log_likelihood, r.sum(axis=0) / r.sum(), new, (spread + believed) / (counts + strength)[:, None, None]


def counted_step(family, columns, row_weights, weights, distributions, pseudo):
    """One step of independent columns: each family's own tally, of every row once for each component."""
    n, k = len(row_weights), len(weights)
    joint = np.repeat(np.log(weights)[None], n, axis=0)
    for x, each in zip(columns, distributions):
        log_p = each.log_prob(x)
        joint = joint + np.where(np.isnan(log_p), 0.0, log_p)
    r = np.array([w * shares(row) for w, row in zip(row_weights, joint)])
    new = []
    for x, more in zip(columns, pseudo):
        cells = [cell for cell in x for _ in range(k)]
        tally = family.tally(cells, weights=r.ravel(), groups=list(range(k)) * n)
        tally = tally.picked(Grid(np.arange(k)), np.argsort([int(text) for text in tally.groups.texts()]))
        new.append(family.estimate(tally if more is None else tally + more, "mle"))
    tops = joint.max(axis=1)
    log_likelihood = row_weights @ (tops + np.log(np.exp(joint - tops[:, None]).sum(axis=1)))
    return log_likelihood, r.sum(axis=0) / r.sum(), new
