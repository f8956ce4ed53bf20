"""Classification."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ._estimator import Estimator
from ._table import MISSING, Column, numbers


class BMKLClassifier(ClassifierMixin, Estimator):
    __doc__ = "Predicts one of two or more classes with their probabilities.\n" + Estimator.__doc__.split("\n", 1)[1]

    _tasks = ("binary", "multiclass")

    def fit(self, X, y):
        """Fits to a table or matrix X with a row for each sample, and a class for each sample."""
        columns, _ = self._features(X, fit=True)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        name = getattr(y, "name", None)
        values = column_or_1d(y, warn=True)
        check_consistent_length(columns[0].values, values)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("Input y contains NaN or infinity.")
        check_classification_targets(values)
        self.classes_, codes = np.unique(values, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has one class: a classifier needs two or more")
        self._labels = _labels(self.classes_)
        task = "binary" if len(self.classes_) == 2 else "multiclass"
        target = Column("class" if name is None else str(name), "label", np.array(self._labels)[codes])
        return self._fit(columns, [target], ["-task", task, "-target", "#target"])

    def _target_columns(self, y):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        at = {c: label for c, label in zip(self.classes_.tolist(), self._labels)}
        return [Column(self._targets[0], "label", np.array([at[v] for v in np.asarray(y).tolist()]))]

    def predict_proba(self, X):
        """Returns the probabilities of the classes: a row for each row of X, columns as in classes_."""
        _, columns, _ = self._predicted(X)
        return np.column_stack([numbers(columns[f"p_{label}"]) for label in self._labels])

    def predict_log_proba(self, X):
        """Returns the logarithms of predict_proba."""
        return np.log(self.predict_proba(X))

    def predict(self, X):
        """Returns the class of the highest probability for each row of X."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def _interval(self, interval):
        return []

    def _loaded(self, described):
        super()._loaded(described)
        self._labels = list(described["classes"])
        self.classes_ = np.array(self._labels)


def _labels(classes):
    """Returns a text for each class: its own where all are different texts that no reader takes for a missing value."""
    texts = [str(c) for c in classes]
    plain = all(t == t.strip() and t.lower() not in MISSING and len(t) <= 200 and t.isprintable() for t in texts)
    if plain and len(set(texts)) == len(texts):
        return texts
    return [f"class {j}" for j in range(len(texts))]
