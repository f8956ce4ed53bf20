"""Reads a model file of a regression and predicts with it, in NumPy: python3 read_model.py MODEL ROWS.csv

The model is BMKLR with Gaussian kernels of columns as they are (mkl fit -model bmkl -raw-columns); what is printed are the
means of the posterior, as mkl predict -unhealed has them. docs/theory/model-file.md describes the file.
"""
import json
import sys

import numpy as np

with open(sys.argv[1], "rb") as f:
    header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
    data = np.frombuffer(f.read(), "<f8")
model = json.loads(header.pop("__metadata__")["model"])
if "be.mean" not in header or any("width" not in v["kernel"] for v in model["views"]):
    sys.exit("%s: not a model of mkl fit -model bmkl -kernels rbf -raw-columns: this example reads no others (mkl predict does)" % sys.argv[1])
t = {k: data[v["data_offsets"][0] // 8 : v["data_offsets"][1] // 8].reshape(v["shape"]) for k, v in header.items()}
x = np.loadtxt(sys.argv[2], delimiter=",", skiprows=1, ndmin=2)
function, weights = 0, t["be.mean"].ravel()[len(t["a"]) :]
for view, e in zip(model["views"], weights):
    basis = t["input.%d.basis" % view["input"]]
    d2 = ((x[:, None, :] - basis[None, :, :]) ** 2).sum(-1)
    function = function + e * np.exp(-d2 / (2 * view["kernel"]["width"] ** 2)) @ t["a"].T
z = function + t["be.mean"].ravel()[: len(t["a"])]
np.savetxt(sys.stdout, z * t["target.sd"].ravel() + t["target.mean"].ravel(), fmt="%.10g", delimiter=",")
