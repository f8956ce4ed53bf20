"""Fits a set by learners of scikit-learn and prints an answer for each: user time of the fit, loss of the test samples."""
import json
import os
import sys
import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

warnings.filterwarnings("ignore")  # such as that a width is at the end of its range
task, features = sys.argv[1], int(sys.argv[2])
read = lambda name: np.fromfile(name + ".f64", dtype="<f8")
x, test = read("x").reshape(-1, features), read("test").reshape(-1, features)
y, want = read("y"), read("want")


def timed(name, learner, loss):
    start = os.times().user
    learner.fit(x, y)
    seconds = os.times().user - start
    print(json.dumps({"learner": name, "seconds": seconds, "loss": loss(learner)}))


def density(learner):
    mean, sd = learner.predict(test, return_std=True)
    return float(np.mean(0.5 * (np.log(2 * np.pi * sd**2) + ((want - mean) / sd) ** 2)))


def labels(learner):
    right = learner.predict_proba(test)[np.arange(len(want)), (want > 0).astype(int)]
    return float(-np.mean(np.log(np.maximum(right, np.finfo(float).tiny))))


width = np.sqrt(features)
if task == "regression":
    timed("GaussianProcessRegressor", GaussianProcessRegressor(ConstantKernel() * RBF(width) + WhiteKernel()), density)
else:
    timed("GaussianProcessClassifier", GaussianProcessClassifier(ConstantKernel() * RBF(width)), labels)
    grid = {"C": [0.1, 1, 10, 100], "gamma": [g / features for g in (0.03, 0.1, 0.3, 1)]}
    timed("SVC", GridSearchCV(SVC(probability=True, random_state=0), grid, scoring="neg_log_loss"), labels)
