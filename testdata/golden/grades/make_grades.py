"""Writes grades.json: moments and slopes of the likelihood of grades, by quadrature with mpmath in 25 digits."""

import json

from mpmath import exp, inf, log, mp, mpf, ncdf, npdf, quad, sqrt

mp.dps = 25


def cuts(level, eta):
    """The cut points of f: the one with the number K/2 is -level."""
    grades = len(eta) + 2
    middle = grades // 2
    out = {middle: mpf(0)}
    for k in range(middle + 1, grades):
        out[k] = out[k - 1] + exp(eta[k - 2])
    for k in range(middle - 1, 0, -1):
        out[k] = out[k + 1] - exp(eta[k - 1])
    return [-inf] + [out[k] - level for k in range(1, grades)] + [inf]


def probability(y, f, c):
    low, high = c[y], c[y + 1]
    if low + high > 2 * f:  # where ncdf has its digits
        return ncdf(f - low) - ncdf(f - high)
    return ncdf(high - f) - ncdf(low - f)


def integral(of, mean, s):
    """The mean of a function of f, over 14 standard deviations."""
    nodes = [mean + k * s for k in (-14, -7, -3, -1, 0, 1, 3, 7, 14)]
    return quad(lambda f: of(f) * npdf(f, mean, s), nodes)


def case(y, mean, variance, eta):
    c, s = cuts(mpf(0), eta), sqrt(variance)
    z, first, second = (
        integral(lambda f: probability(y, f, c) * ((f - mean) / variance) ** k, mean, s) for k in range(3)
    )
    slope = first / z
    slopes = []
    for j in range(1, len(eta) + 1):  # by the cut points above or below the distance j
        moves = [(1 if middle <= j < k else -1 if k <= j < middle else 0) for middle in [(len(eta) + 2) // 2] for k in (y, y + 1)]
        ends = [(sign, at) for sign, at in zip((-moves[0], moves[1]), (c[y], c[y + 1])) if sign and abs(at) != inf]
        slope_of = integral(lambda f: sum(sign * npdf(at - f) for sign, at in ends), mean, s) if ends else mpf(0)
        slopes.append(float(slope_of * exp(eta[j - 1]) / z))
    return {
        "mean": float(mean), "variance": float(variance), "eta": [float(e) for e in eta], "y": y,
        "logZ": float(log(z)), "slope": float(slope),
        "bend": float(slope**2 - second / z + 1 / variance),
        "slopes": slopes,
    }


cases = []
for mean, variance, eta in [
    ("0.1", "0.8", ["-0.4"]), ("-1.4", "2.5", ["0.3", "-2", "0.1"]), ("2.5", "0.3", ["-1", "0.5", "-3", "1"]),
    ("-0.7", "0.01", ["-12", "0.2"]), ("6", "0.4", ["0.7", "-0.3"]), ("0.3", "1", []),
]:
    mean, variance, eta = mpf(mean), mpf(variance), [mpf(e) for e in eta]
    for y in range(len(eta) + 2):
        cases.append(case(y, mean, variance, eta))

with open("grades.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
