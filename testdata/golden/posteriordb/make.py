"""Writes reference.json: data and summaries of reference draws of posteriordb (github.com/stan-dev/posteriordb).

python3 make.py CLONE > reference.json
"""
import json
import sys
import zipfile
import numpy as np

ROOT = sys.argv[1] + "/posterior_database/"


def read(path):
    with zipfile.ZipFile(ROOT + path + ".json.zip") as z:
        return json.loads(z.read(z.namelist()[0]))


def summary(chains, name):
    v = np.concatenate([c[name] for c in chains])
    return dict(name=name, mean=v.mean(), sd=v.std(ddof=1), draws=len(v), kurtosis=np.mean((v - v.mean())**4) / v.var()**2,
                low=np.quantile(v, 0.05), high=np.quantile(v, 0.95))


out = dict(read("data/data/gp_pois_regr"), posteriors={})
for name in ("gp_regr", "gp_pois_regr"):
    chains = read("reference_posteriors/draws/draws/gp_pois_regr-" + name)
    out["posteriors"][name] = [summary(chains, p) for p in chains[0]]
json.dump(out, sys.stdout, indent=1)
print()
