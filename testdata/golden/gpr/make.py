"""Writes exact.json: exact Gaussian process regression at given parameters by scikit-learn (1.2.1 made the file).

python3 make.py > exact.json
python3 make.py rows > rows.json     20 of the problems, with a noise of its own for each training sample
"""
import json
import sys
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, RationalQuadratic

PROBLEMS, FRESH = 200, 3
ROWS = sys.argv[1:] == ["rows"]
if ROWS:
    PROBLEMS = 20


class Source:
    """Numbers in (−1, 1): s ← 48271·s mod 2³¹−1 from the seed, and s/2³⁰ − 1. The first is the second s."""

    def __init__(self, seed):
        self.s = 48271 * seed % (2**31 - 1)

    def next(self):
        self.s = 48271 * self.s % (2**31 - 1)
        return self.s / 2**30 - 1

    def among(self, values):
        return values[int((self.next() + 1) / 2 * len(values))]


def kernel(spec):
    kind, weight = spec["kind"], ConstantKernel(spec["weight"])
    if kind == "constant":
        return weight
    if kind == "linear":
        return weight * DotProduct(0, sigma_0_bounds="fixed")
    if kind == "rbf":
        return weight * RBF(spec["width"])
    if kind == "matern":
        return weight * Matern(spec["width"], nu=spec["smoothness"])
    return weight * RationalQuadratic(spec["width"], alpha=spec["alpha"])


def drawn(source, kind):
    spec = dict(kind=kind, weight=source.among([0.125, 0.25, 0.5, 1, 2, 4]))
    if kind in ("rbf", "matern", "rational"):
        spec["width"] = source.among([0.25, 0.5, 0.75, 1, 1.5, 2, 3])
    if kind == "matern":
        spec["smoothness"] = source.among([1.5, 2.5])
    if kind == "rational":
        spec["alpha"] = source.among([0.5, 1, 2.5])
    return spec


problems = []
for seed in range(1, PROBLEMS + 1):
    choice = Source(100000 + seed)
    kinds = [k for k in ("constant", "linear", "rbf", "matern", "rational") if choice.next() > -0.1]
    specs = [drawn(choice, k) for k in kinds + [choice.among(["rbf", "matern", "rational"])]]
    n, d, noise = choice.among(range(4, 31)), choice.among(range(1, 5)), choice.among([0.1, 0.25, 0.5, 1])

    source = Source(seed)
    x = np.array([[source.next() for _ in range(d)] for _ in range(n + FRESH)])
    y = np.array([2 * source.next() for _ in range(n)])
    k = kernel(specs[0])
    for spec in specs[1:]:
        k = k + kernel(spec)
    rows = [noise * 2 ** source.next() for _ in range(n)] if ROWS else None
    gp = GaussianProcessRegressor(k, alpha=np.square(rows) if ROWS else noise**2, optimizer=None).fit(x[:n], y)
    mean, sd = gp.predict(x[n:], return_std=True)
    problems.append(dict(seed=seed, samples=n, features=d, noise=noise, kernels=specs,
                         log_marginal=gp.log_marginal_likelihood_value_, mean=mean.tolist(), variance=(sd**2).tolist()))
    if ROWS:
        problems[-1]["rows"] = rows
print("[\n" + ",\n".join(json.dumps(p) for p in problems) + "\n]")
