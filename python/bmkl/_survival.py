"""Times until an event."""

import json

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from ._estimator import Estimator
from ._table import Column, is_frame, numbers


class BMKLSurvival(Estimator):
    __doc__ = "Predicts times until an event, of which some are known to be later than an observation.\n" + Estimator.__doc__.split("\n", 1)[1]

    _tasks = ("survival",)

    def _more_tags(self):
        return {**super()._more_tags(), "requires_y": True, "requires_positive_y": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    def fit(self, X, y):
        """Fits to a table or matrix X with a row for each sample, and times with events.

        y has one of these forms: a structured array with a field of booleans (the event happened at the time) and a field of times, as
        in scikit-survival; a DataFrame or an array of two columns, time and event; n times, all with an event. Times are positive.
        """
        columns, _ = self._features(X, fit=True)
        targets = self._target_columns(y)
        check_consistent_length(columns[0].values, targets[0].values)
        if len(columns[0].values) < 2:
            raise ValueError("Found array with 1 sample(s): a fit needs 2 or more.")
        if not (targets[0].values > 0).all():
            raise ValueError("y has a time that is not positive")
        return self._fit(columns, targets, ["-task", "survival", "-target", "#target", "-event", "#beside"])

    def _target_columns(self, y):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        times, events = _times(y)
        names = self._targets if hasattr(self, "_targets") and hasattr(self, "model_") else ["time", "event"]
        return [Column(names[0], "number", times), Column(names[1], "label", np.where(events == 1, "1", "0"))]

    def predict(self, X):
        """Returns the median times for the rows of X: the event has happened by then with probability ½."""
        return self._column(X, "median")

    def predict_risk(self, X):
        """Returns scores that are the higher, the earlier the event."""
        return self._column(X, "risk")

    def _column(self, X, name):
        _, columns, _ = self._predicted(X)
        return numbers(columns[name])

    def predict_survival(self, X, times):
        """Returns the probabilities that the event is later than each of the times: a row for each row of X."""
        times = np.atleast_1d(np.asarray(times, dtype=np.float64))
        order = np.unique(times)
        names, columns, _ = self._predicted(X, ["-times", ",".join(map(repr, order.tolist()))])
        later = np.column_stack([numbers(columns[n]) for n in names[-len(order) :]])
        return later[:, np.searchsorted(order, times)]

    def score(self, X, y):
        """Returns the concordance of Harrell: the share of pairs whose predicted order is right."""
        printed, _, _ = self._run("evaluate", X, ["-json"], self._target_columns(y))
        return float(_find(json.loads(printed), "concordance"))

    def _loaded(self, described):
        event = (described.get("beside") or {}).get("event") or "event"
        self._targets = [*described["target_columns"], event.partition("=")[0]]


def _times(y):
    """Returns times and events, as floats."""
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields:
        if len(fields) != 2 or sum(y.dtype[f].kind == "b" for f in fields) != 1:
            raise ValueError("a structured y has two fields: booleans, and times")
        event, time = sorted(fields, key=lambda f: y.dtype[f].kind != "b")
        times, events = y[time], y[event]
    else:
        names = [str(n) for n in y.columns] if is_frame(y) else None
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if y.ndim == 2 and y.shape[1] == 2:
            at = names.index("event") if names and "event" in names else 1
            times, events = y[:, 1 - at], y[:, at]
        elif y.ndim == 1 or y.shape[1] == 1:
            times, events = y.ravel(), np.ones(len(y))
        else:
            raise ValueError(f"y has {y.shape[1]} columns: time and event are needed")
    times = check_array(np.asarray(times, dtype=np.float64), ensure_2d=False, input_name="y")
    events = np.asarray(events, dtype=np.float64)
    if not np.isin(events, (0, 1)).all():
        raise ValueError("the events of y are 0 and 1, or booleans")
    return times, events


def _find(value, name):
    """Returns the first number of a name within lists and dicts."""
    if isinstance(value, dict):
        if isinstance(value.get(name), (int, float)):
            return value[name]
        value = list(value.values())
    if isinstance(value, list):
        for v in value:
            found = _find(v, name)
            if found is not None:
                return found
    return None
