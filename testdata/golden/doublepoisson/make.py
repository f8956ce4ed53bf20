"""Writes counts.json: integrals of Efron's double Poisson distribution over a normal variable, and distributions of
counts, by long sums in 30 digits (needs mpmath).

python3 make.py > counts.json
"""
import json
from mpmath import mp, mpf, exp, log, loggamma, sqrt, pi, floor

mp.dps = 30


def unscaled(k, mu, nu):  # log of exp(-nu*D(k, mu))*g(k)
    if k == 0:
        return -nu * mu
    return -nu * (k * log(k / mu) - k + mu) + k * log(k) - k - loggamma(k + 1)


def probabilities(mu, nu):  # first count and probabilities from there on, of all counts that are above 1e-27
    middle = int(floor(mu))
    top = unscaled(mpf(middle), mu, nu)
    up, down = [], []
    k = middle
    while True:
        u = unscaled(mpf(k), mu, nu) - top
        if u < -62 and k > middle + 1:
            break
        up.append(exp(u))
        k += 1
    k = middle - 1
    while k >= 0:
        u = unscaled(mpf(k), mu, nu) - top
        if u < -62:
            break
        down.append(exp(u))
        k -= 1
    all = down[::-1] + up
    total = sum(all)
    return k + 1, [a / total for a in all], top + log(total)


def log_p(y, mu, nu):
    return unscaled(mpf(y), mu, nu) - probabilities(mu, nu)[2]


def integral(y, exposure, m, v, nu, h):  # log Z, mean and variance of f under the tilted distribution
    def at(f):
        return log_p(y, exposure * exp(f), nu) - (f - m) ** 2 / (2 * v)
    centre = m
    best = at(centre)
    step = sqrt(v) / 4
    while step > h:  # to the mode
        up, down = at(centre + step), at(centre - step)
        if up > best:
            centre, best = centre + step, up
        elif down > best:
            centre, best = centre - step, down
        else:
            step /= 2
    s0 = s1 = s2 = mpf(0)
    for way in (1, -1):
        k = 0 if way == 1 else 1
        while True:
            d = way * k * h
            a = at(centre + d) - best
            if a < -58:
                break
            w = exp(a)
            s0 += w
            s1 += w * d
            s2 += w * d * d
            k += 1
    mean = s1 / s0
    return best + log(s0 * h) - log(2 * pi * v) / 2, centre + mean, s2 / s0 - mean ** 2


moments = []
for y, exposure, m, v, eta in ((0, 1, 0.1, 0.8, 0.4), (1, 0.5, -1.4, 4.0, 1.5), (3, 1, 1.2, 0.3, -2.0), (7, 2, 0.1, 0.8, 0.4), (7, 2, 2.5, 0.1, 3.0),
                               (150, 3, 4.0, 0.003, 0.4), (150, 3, 3.5, 0.05, 2.0), (2, 1, 0.3, 0.002, 5.0), (700, 1, 6.5, 0.01, 1.0), (12, 1, 6.0, 2.0, -1.0)):
    m, v, nu = mpf(m), mpf(v), 1 + exp(mpf(eta))
    h = 1 / (4 * nu + 2.5 * (1 / sqrt(v) + sqrt(nu * y)))
    z, mean, variance = integral(y, exposure, m, v, nu, h)
    e = mpf(10) ** -7
    rise = integral(y, exposure, m, v, 1 + exp(eta + e), h)[0] - integral(y, exposure, m, v, 1 + exp(eta - e), h)[0]
    moments.append(dict(kind="double-poisson", mean=float(m), variance=float(v), eta=eta, logZ=float(z), slope=float((mean - m) / v),
                        bend=float((1 - variance / v) / v), shape=float(rise / (2 * e)), y=y, exposure=exposure))

points = []
for mu in (1e-8, 0.02, 0.6, 3.3, 40, 290, 310, 1000.5, 2e4, 1e6):
    for nu in (1.001, 1.5, 4, 30, 900, 10001):
        mu, nu = mpf(mu), mpf(nu)
        first, p, _ = probabilities(mu, nu)
        mean = sum(w * (first + i) for i, w in enumerate(p))
        variance = sum(w * (first + i - mean) ** 2 for i, w in enumerate(p))
        y = int(floor(mu + 2 * sqrt(mu / nu)))
        upto = sum(w for i, w in enumerate(p) if first + i <= y)
        points.append(dict(mu=float(mu), nu=float(nu), y=y, logP=float(log_p(y, mu, nu)), mean=float(mean), variance=float(variance), upTo=float(upto)))
print(json.dumps(dict(moments=moments, points=points), indent=0))
