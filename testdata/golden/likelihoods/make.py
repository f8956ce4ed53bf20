"""Writes moments.json: integrals of likelihoods over a normal variable, in 40 digits (needs mpmath).

python3 make.py > moments.json
"""
import json
from mpmath import mp, mpf, exp, log, loggamma, sqrt, pi, inf, quad, diff, ncdf, npdf, erfinv

mp.dps = 40


def normal_error(w):  # density and survival function of the error
    return npdf(w), ncdf(-w)


def gumbel_error(w):
    return exp(w - exp(w)), exp(-exp(w))


def censored(error, lower, upper):
    def p(f, eta):
        s = exp(mpf(eta) / 2)
        if lower == upper:
            return error((lower - f) / s)[0] / s
        a = mpf(1) if lower is None else error((lower - f) / s)[1]
        b = mpf(0) if upper is None else error((upper - f) / s)[1]
        return a - b
    return p


def count(y, exposure, dispersed):
    def p(f, eta):
        mu = exposure * exp(f)
        if not dispersed:
            return exp(y * log(mu) - mu - loggamma(y + 1))
        r = exp(mpf(eta))
        return exp(loggamma(y + r) - loggamma(r) - loggamma(y + 1) + y * log(mu / (r + mu)) + r * log(r / (r + mu)))
    return p


def z(p, m, v, eta, weight=lambda f: 1):
    s = sqrt(mpf(v))
    grid = [m + s * k * mpf(14) / 56 for k in range(-56, 57)]
    return quad(lambda f: weight(f) * p(f, eta) * exp(-(f - m) ** 2 / (2 * v)) / sqrt(2 * pi * v), grid)


def case(kind, p, m, v, eta, **settings):
    m, v = mpf(m), mpf(v)
    z0 = z(p, m, v, eta)
    mean = z(p, m, v, eta, lambda f: f) / z0
    square = z(p, m, v, eta, lambda f: (f - mean) ** 2) / z0
    out = dict(kind=kind, mean=float(m), variance=float(v), eta=eta, logZ=float(log(z0)),
               slope=float((mean - m) / v), bend=float((1 - square / v) / v), **settings)
    if eta is not None:
        h = mpf(10) ** -12
        out["shape"] = float((log(z(p, m, v, eta + h)) - log(z(p, m, v, eta - h))) / (2 * h))
    return out


cases = []
for name, error in (("log-normal", normal_error), ("weibull", gumbel_error)):
    for lower, upper in ((0.7, 0.7), (0.7, None), (None, 0.7), (-0.2, 0.7), (0.6999, 0.7), (1.5, 4.0), (-3.0, -2.9)):
        for m, v, eta in ((0.1, 0.8, -1.2), (-1.4, 2.5, -3.0), (2.5, 0.3, 0.5), (0.3, 0.002, -0.7)):
            low = None if lower is None else mpf(lower)
            high = None if upper is None else mpf(upper)
            cases.append(case(name, censored(error, low, high), m, v, eta, lower=lower, upper=upper))
for y, exposure in ((0, 1), (1, 0.5), (7, 2), (150, 3)):
    for m, v in ((0.1, 0.8), (-1.4, 4.0), (2.5, 0.1), (4.0, 0.003)):
        cases.append(case("poisson", count(y, mpf(exposure), False), m, v, None, y=y, exposure=exposure))
        cases.append(case("negative-binomial", count(y, mpf(exposure), True), m, v, 0.4, y=y, exposure=exposure))
        cases.append(case("negative-binomial", count(y, mpf(exposure), True), m, v, 6.0, y=y, exposure=exposure))
print(json.dumps(cases, indent=0))
