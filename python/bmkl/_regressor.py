"""Regression."""

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, check_consistent_length

from ._estimator import Estimator
from ._table import Column, is_frame, numbers


class BMKLRegressor(RegressorMixin, Estimator):
    __doc__ = "Predicts numbers with their uncertainty: one target, or several.\n" + Estimator.__doc__.split("\n", 1)[1]

    _tasks = ("regression", "multioutput", "shared", "tasks", "multitask", "counts")

    def _more_tags(self):
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X, y):
        """Fits to a table or matrix X with a row for each sample, and the targets y: n numbers, or n × targets."""
        columns, _ = self._features(X, fit=True)
        targets = self._target_columns(y)
        check_consistent_length(columns[0].values, targets[0].values)
        if len(columns[0].values) < 2:
            raise ValueError("Found array with 1 sample(s): a fit needs 2 or more.")
        self._flat = len(getattr(y, "shape", (0,))) < 2 and len(targets) == 1
        named = "#target" if len(targets) == 1 else "#target..#last"
        return self._fit(columns, targets, ["-task", "regression", "-target", named])

    def _target_columns(self, y):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        names = [str(n) for n in y.columns] if is_frame(y) else [str(y.name)] if getattr(y, "name", None) is not None else None
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        y = y.reshape(len(y), -1)
        if names is None:
            names = ["target"] if y.shape[1] == 1 else [f"target_{j}" for j in range(y.shape[1])]
        if hasattr(self, "model_") and len(self._targets) == len(names):
            names = self._targets
        return [Column(n, "number", y[:, j]) for j, n in enumerate(names)]

    def predict(self, X, return_std=False):
        """Returns the means for the rows of X, and with return_std also the standard deviations of new observations."""
        _, columns, _ = self._predicted(X)
        if len(self._targets) == 1:
            mean, sd = numbers(columns["mean"]), numbers(columns["sd"])
            if not self._flat:
                mean, sd = mean[:, None], sd[:, None]
        else:
            mean = np.column_stack([numbers(columns[f"{t}_mean"]) for t in self._targets])
            sd = np.column_stack([numbers(columns[f"{t}_sd"]) for t in self._targets])
        return (mean, sd) if return_std else mean

    def _loaded(self, described):
        super()._loaded(described)
        self._flat = len(self._targets) == 1
