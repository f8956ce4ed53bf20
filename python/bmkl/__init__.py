"""Bayesian multiple kernel learning for scikit-learn, by the command mkl that the package carries."""

from ._binary import CommandError, find_mkl
from ._classifier import BMKLClassifier
from ._regressor import BMKLRegressor
from ._survival import BMKLSurvival

__all__ = ["BMKLClassifier", "BMKLRegressor", "BMKLSurvival", "CommandError", "find_mkl"]
