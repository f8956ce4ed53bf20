"""What the estimators share: the way of a table to the command and back."""

import json
import os
import tempfile
import warnings
from inspect import signature

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from . import _table
from ._binary import run


class Estimator(BaseEstimator):
    """Settings and methods of all estimators of this package.

    Parameters
    ----------
    views : dict of lists, optional
        Groups of columns that belong together: {"rna": ["gene_1", "gene_2"], "clinic": ["age"]}. The columns are names of a
        DataFrame or positions, counted from 0. Columns in no view are not used. By default all columns are one view.
    kernels : str or dict of str, optional
        Kernels of all views, such as "rbf,linear", or of each view. By default the command chooses them.
    model : str, optional
        Which model learns: see mkl help fit. By default a pool of Gaussian processes.
    missing : {"impute", "drop", "refuse", "views"}
        What to do about missing values of features. By default they are filled in, and a feature says where.
    text : {"onehot", "category"}
        What becomes of a column of text: features of 0 and 1, or one feature for kernels of categories.
    time : float, optional
        Seconds after which the fit stops with the best model so far.
    seed : int
        Seed of the random start. Equal data, settings and seed give equal predictions.
    workers : int, optional
        Most threads at work. By default one for each processor.
    options : dict, optional
        Further flags of mkl fit without the dash: {"noise": "varying"}. True stands for a flag without a value. Names of files in
        them are absolute paths: the command runs in a folder of its own.
    """

    def __init__(self, views=None, kernels=None, model=None, missing="impute", text="onehot", time=None, seed=1, workers=None, options=None):
        self.views = views
        self.kernels = kernels
        self.model = model
        self.missing = missing
        self.text = text
        self.time = time
        self.seed = seed
        self.workers = workers
        self.options = options

    def _more_tags(self):  # scikit-learn before 1.6
        return {"allow_nan": True}

    def __sklearn_tags__(self):  # scikit-learn from 1.6 on
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # Tables in

    def _features(self, X, fit):
        """Checks X and returns its columns and its index; the index is None of an array."""
        if not fit and getattr(self, "_columns_by_name", False):
            X = self._loaded_columns(X)
        if _table.is_frame(X):
            self._check_names(X, fit)
            if X.shape[0] < 1:
                raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
            if X.shape[1] < 1:
                raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
            columns = _table.columns_of_frame(X)
            names = [c.name for c in columns]
            if len(set(names)) < len(names):
                raise ValueError("two columns of X have the same name")
            return columns, X.index
        A = check_array(X, dtype=np.float64, **_allow_nan())
        self._check_names(X if hasattr(X, "shape") else A, fit)
        if fit or not hasattr(self, "_names"):
            return _table.columns_of_array(A, [f"x{j}" for j in range(A.shape[1])]), None
        return _table.columns_of_array(A, self._names), None

    def _check_names(self, X, fit):
        """Notes, or compares, the number and the names of features, in the words of scikit-learn."""
        try:
            from sklearn.utils.validation import _check_feature_names, _check_n_features
        except ImportError:
            self._check_feature_names(X, reset=fit)
            self._check_n_features(X, reset=fit)
        else:
            _check_feature_names(self, X, reset=fit)
            _check_n_features(self, X, reset=fit)

    def _loaded_columns(self, X):
        """Returns the columns of a DataFrame that a model from a file names; other columns do not matter."""
        if not _table.is_frame(X):
            return X
        absent = [n for n in self._names if n not in X.columns]
        if absent:
            raise ValueError(f"X lacks columns that the model was fitted with: {absent[:5]}")
        return X[self._names]

    def _view_flags(self, columns):
        """Returns the flags of views, and the columns in the order in which the table has them."""
        kernels = self.kernels if isinstance(self.kernels, dict) else {}
        flags = []
        if isinstance(self.kernels, str):
            flags += ["-kernels", self.kernels]
        if self.views is None:
            if kernels:
                raise ValueError("kernels is a dict, and there are no views that it can name")
            return flags, columns
        unknown = set(kernels) - set(self.views)
        if unknown:
            raise ValueError(f"kernels names {sorted(unknown)[0]!r}, which is no view")
        at = {c.name: j for j, c in enumerate(columns)}
        order, place = [], {}
        for name, members in self.views.items():
            if not str(name) or any(c in str(name) for c in "=:,\"'@#"):
                raise ValueError(f"the view {name!r} needs a name without = : , \" ' @ #")
            positions = []
            for member in members:
                j = self._position(name, member, at, columns)
                if j not in place:
                    place[j] = len(order) + 1
                    order.append(columns[j])
                positions.append(place[j])
            text = f"{name}={_ranges(name, positions)}"
            flags += ["-view", text + (":" + kernels[name] if name in kernels else "")]
        return flags, order

    @staticmethod
    def _position(view, member, at, columns):
        """Returns the position of a member of a view: a name, or a number that is no name."""
        if member in at:
            return at[member]
        if isinstance(member, (int, np.integer)) and not isinstance(member, bool):
            if str(member) in at:
                return at[str(member)]
            if -len(columns) <= member < len(columns):
                return int(member) % len(columns)
        raise ValueError(f"the view {view!r} names {member!r}, which is no column of X")

    def _flags(self):
        """Returns the flags of the settings."""
        flags = ["-missing", str(self.missing), "-text", str(self.text), "-seed", str(self.seed)]
        if self.model is not None:
            flags += ["-model", str(self.model)]
        if self.time is not None:
            flags += ["-time", f"{float(self.time):.9f}s"]
        if self.workers is not None:
            flags += ["-workers", str(self.workers)]
        for name, value in (self.options or {}).items():
            if value is True:
                flags.append(f"-{name}")
            elif value is not False and value is not None:
                flags.append(f"-{name}={value}")
        return flags

    # Fit and predict

    def _fit(self, columns, targets, flags):
        """Fits to a table of features and targets, which stand after the features."""
        self._names = [c.name for c in columns]
        self._columns_by_name = False
        views, ordered = self._view_flags(columns)
        taken = set(self._names)
        for t in targets:
            while t.name in taken:
                t.name += "_"
            taken.add(t.name)
        self._targets = [t.name for t in targets]
        with tempfile.TemporaryDirectory() as folder:
            data, reading = _table.write(folder, ordered + targets)
            first = len(ordered) + 1
            named = [a.replace("#target", f"#{first}").replace("#beside", f"#{first + 1}").replace("#last", f"#{len(ordered) + len(targets)}") for a in flags]
            arguments = ["fit", data, *named, *views, *_table.types(ordered), *reading, *self._flags(), "-json", "-o", "model.mkl"]
            out, self.notes_ = run(arguments, folder)
            self.summary_ = json.loads(out)
            with open(os.path.join(folder, "model.mkl"), "rb") as f:
                self.model_ = f.read()
        for line in self.notes_:
            _, warning, text = line.partition("warning: ")
            if warning:
                warnings.warn(text, UserWarning, stacklevel=3)
        return self

    def _run(self, command, X, flags=(), targets=()):
        """Runs a command that reads the model and a table, and returns what it printed and the file of -o."""
        check_is_fitted(self, "model_")
        columns, index = self._features(X, fit=False)
        with tempfile.TemporaryDirectory() as folder:
            data, reading = _table.write(folder, columns + list(targets))
            with open(os.path.join(folder, "model.mkl"), "wb") as f:
                f.write(self.model_)
            printed, _ = run([command, "model.mkl", data, *reading, *self._workers(), *flags], folder)
            path = os.path.join(folder, "out.csv")
            table = _table.read(path) if os.path.exists(path) else None
        return printed, table, index

    def _workers(self):
        return [] if self.workers is None else ["-workers", str(self.workers)]

    def _predicted(self, X, flags=()):
        """Returns the names and the texts of the columns of mkl predict, and the index of X."""
        _, (names, columns), index = self._run("predict", X, ["-o", "out.csv", *flags])
        return names, columns, index

    def predict_table(self, X, interval=0.95):
        """Returns all columns of mkl predict: a DataFrame with the index of X; a dict of arrays without pandas.

        A regression has mean, sd, lower and upper; classes have label and p_CLASS; times have median, lower, upper and risk.
        """
        names, columns, index = self._predicted(X, self._interval(interval))
        return _frame({n: list(columns[n]) if n == "label" else _table.numbers(columns[n]) for n in names}, index)

    def _interval(self, interval):
        return ["-interval", repr(float(interval))]

    def explain(self, X=None):
        """Returns which views matter, or, with X, what each view adds to each prediction.

        Without X: a table with the columns view, share, sd, in, informative, loss and loss_se of the model's views; docs/guide/views.md
        says what they mean. A model of one view has a table of its kernels. With X: constant, and view_NAME and view_NAME_sd for each
        view, in the target's units; the part "all columns as one table" belongs to no view. Models of classes and of times have no such
        parts, and raise CommandError.
        """
        if X is not None:
            names, columns, index = self._predicted(X, ["-views"])
            at = names.index("constant")
            return _frame({n: _table.numbers(columns[n]) for n in names[at:]}, index)
        model = self.inspect()
        rows = model.get("views") or model["kernels"]
        return _frame({name: [row.get(name) for row in rows] for name in rows[0]}, None)

    def inspect(self):
        """Returns what mkl inspect -json says of the model, as a dict."""
        check_is_fitted(self, "model_")
        return _inspect(self.model_)

    def report(self, path, X=None, y=None):
        """Writes the page of mkl report to a file; X and y are rows that the fit has not seen."""
        check_is_fitted(self, "model_")
        path = os.path.abspath(path)
        if X is None:
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "model.mkl"), "wb") as f:
                    f.write(self.model_)
                run(["report", "model.mkl", "-o", path], folder)
            return
        columns, _ = self._features(X, fit=False)
        with tempfile.TemporaryDirectory() as folder:
            data, reading = _table.write(folder, columns + self._target_columns(y))
            with open(os.path.join(folder, "model.mkl"), "wb") as f:
                f.write(self.model_)
            run(["report", "model.mkl", "-data", data, *reading, "-o", path], folder)

    # Files

    def save(self, path):
        """Writes the model to a file that mkl predict, mkl serve and the library of Go read."""
        check_is_fitted(self, "model_")
        with open(path, "wb") as f:
            f.write(self.model_)

    @classmethod
    def load(cls, path):
        """Reads a model that save or mkl fit wrote. Predictions find the columns of a DataFrame by their names."""
        with open(path, "rb") as f:
            model = f.read()
        described = _inspect(model)
        if described.get("task") not in cls._tasks:
            raise ValueError(f"{path} is a model of the task {described.get('task')!r}: {cls.__name__} reads {', '.join(cls._tasks)}")
        self = cls()
        self.model_, self.notes_, self.summary_ = model, [], described
        names = {}
        for view in described.get("inputs") or []:
            for column in view.get("plan") or []:
                names[column["name"]] = None
        self._names = list(names)
        self._columns_by_name = True
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(self._names, dtype=object)
        self._loaded(described)
        return self

    def _loaded(self, described):
        """Sets what a subclass needs of a model from a file."""
        self._targets = list(described["target_columns"])


def _allow_nan():
    """Returns the argument by which check_array takes NaN; scikit-learn 1.6 gave it another name."""
    name = "ensure_all_finite" if "ensure_all_finite" in signature(check_array).parameters else "force_all_finite"
    return {name: "allow-nan"}


def _ranges(view, positions):
    """Returns positions as ranges: #1..#3,#7."""
    if not positions:
        raise ValueError(f"the view {view!r} has no columns")
    runs = [[positions[0], positions[0]]]
    for p in positions[1:]:
        if p == runs[-1][1] + 1:
            runs[-1][1] = p
        else:
            runs.append([p, p])
    return ",".join(f"#{a}" if a == b else f"#{a}..#{b}" for a, b in runs)


def _inspect(model):
    """Returns what mkl inspect says of the bytes of a model."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "model.mkl"), "wb") as f:
            f.write(model)
        out, _ = run(["inspect", "model.mkl", "-json"], folder)
    return json.loads(out)


def _frame(columns, index):
    """Returns columns as a DataFrame, or as they are if pandas is not there."""
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns, index=index)
