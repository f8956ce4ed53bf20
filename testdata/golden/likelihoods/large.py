"""Writes large.json: as make.py, for large counts, about the mode of the integrand in 60 digits (needs mpmath).

python3 large.py > large.json
"""
import json
from mpmath import mp, mpf, exp, log, loggamma, sqrt, pi, quad

mp.dps = 60


def log_count(y, f, eta):
    mu = exp(f)
    if eta is None:
        return y * f - mu - loggamma(y + 1)
    r = exp(eta)
    return loggamma(y + r) - loggamma(r) - loggamma(y + 1) + y * log(mu / (r + mu)) + r * log(r / (r + mu))


def moments(y, m, v, eta):
    def slope(f):
        share = exp(f) / (exp(f) + exp(eta)) if eta is not None else None
        return (y - exp(f) if eta is None else y - (y + exp(eta)) * share) - (f - m) / v
    low, high = min(m, log(y)) - 1, max(m, log(y)) + 1
    for _ in range(220):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    mode, h = low, mpf(10) ** -20
    sd = 1 / sqrt((slope(mode - h) - slope(mode + h)) / (2 * h))
    grid = [mode + sd * mpf(k) / 2 for k in range(-32, 33)]
    top = log_count(y, mode, eta) - (mode - m) ** 2 / (2 * v)

    def integral(weight):
        return quad(lambda f: weight(f) * exp(log_count(y, f, eta) - (f - m) ** 2 / (2 * v) - top), grid)
    z = integral(lambda f: 1)
    mean = integral(lambda f: f - mode) / z
    square = integral(lambda f: (f - mode - mean) ** 2) / z
    return log(z) + top - log(2 * pi * v) / 2, (mode - m + mean) / v, (1 - square / v) / v


cases = []
for y in (2 * 10 ** 6, 10 ** 10, 10 ** 14):
    for off, v, eta in ((0.3, 0.8, None), (-2, 0.05, None), (0.3, 0.8, 1), (-1.5, 0.3, -2), (0.4, 0.1, 20), (3, 4, 40)):
        m = float(log(y) + off)
        e = None if eta is None else mpf(eta)
        z, slope, bend = moments(mpf(y), mpf(m), mpf(v), e)
        case = dict(kind="poisson" if eta is None else "negative-binomial", mean=m, variance=v, eta=eta,
                    logZ=float(z), slope=float(slope), bend=float(bend), y=y, exposure=1)
        if eta is not None:
            h = mpf(10) ** -15
            case["shape"] = float((moments(mpf(y), mpf(m), mpf(v), e + h)[0] - moments(mpf(y), mpf(m), mpf(v), e - h)[0]) / (2 * h))
        cases.append(case)
print(json.dumps(cases, indent=0))
