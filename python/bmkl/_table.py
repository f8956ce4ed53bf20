"""Writes the tables that the command reads, and reads the tables that it writes."""

import csv
import os

import numpy as np

MISSING = {"", "na", "n/a", "nan", "null", "?", "none"}  # texts that stand for no value


class Column:
    """A column of a table: a name, values, and whether they are numbers, text or dates.

    Numbers are floats with NaN where no value is. Text and dates are texts, empty where no value is.
    """

    def __init__(self, name, kind, values):
        self.name, self.kind, self.values = name, kind, values


def is_frame(X):
    """Reports whether X is a DataFrame of pandas."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def columns_of_frame(X):
    """Returns the columns of a DataFrame."""
    columns = []
    for place, name in enumerate(X.columns):
        series = X.iloc[:, place]
        kind = getattr(series.dtype, "kind", "O")
        if kind == "c":
            raise ValueError(f"Complex data not supported: column {name!r}")
        if kind == "m":
            series = series / np.timedelta64(1, "D")  # durations are numbers of days, as dates are
            kind = "f"
        if kind == "M" or str(series.dtype).startswith("datetime64"):
            values = ["" if t != t else t.isoformat(sep=" ") for t in series]
            columns.append(Column(str(name), "date", values))
        elif kind in "biuf" and not str(series.dtype) == "category":
            values = series.to_numpy(dtype=np.float64, na_value=np.nan)
            if np.isinf(values).any():
                raise ValueError(f"Input X contains infinity in column {name!r}.")
            columns.append(Column(str(name), "number", values))
        else:
            columns.append(Column(str(name), "text", ["" if _absent(v) else str(v) for v in series]))
    return columns


def _absent(value):
    """Reports whether a cell is None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


def columns_of_array(X, names):
    """Returns the columns of a matrix of floats."""
    return [Column(name, "number", X[:, j]) for j, name in enumerate(names)]


def write(folder, columns):
    """Writes data.npz, or data.csv if a column is text, and returns the name of the file and flags for its columns.

    The flags say which type a column of text or of dates has, so that the command need not infer it.
    """
    if all(c.kind == "number" or c.kind == "label" for c in columns):
        arrays = {}
        for c in columns:
            arrays[c.name] = np.asarray(c.values, dtype=np.float64 if c.kind == "number" else np.str_)
        _write_npz(os.path.join(folder, "data.npz"), arrays)
        return "data.npz", []
    cells = [_texts(c.values) if c.kind == "number" else c.values for c in columns]
    with open(os.path.join(folder, "data.csv"), "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow([c.name for c in columns])
        out.writerows(zip(*cells))
    flags = ["-separator", ",", "-header", "yes", "-decimal", "."]
    return "data.csv", flags


def types(columns):
    """Returns the flags -as for the features, which stand first in the table."""
    flags = []
    for place, c in enumerate(columns):
        if c.kind in ("text", "date"):
            flags += ["-as", f"#{place + 1}={c.kind}"]
    return flags


def _texts(values):
    """Returns the shortest texts that stand for the same floats, and empty texts for NaN."""
    return ["" if v != v else repr(v) for v in np.asarray(values, dtype=np.float64).tolist()]


def _write_npz(path, arrays):
    """Writes what numpy.savez writes, with any names of arrays."""
    import zipfile

    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as z:
        for name, array in arrays.items():
            with z.open(name + ".npy", "w", force_zip64=True) as f:
                np.lib.format.write_array(f, np.ascontiguousarray(array), allow_pickle=False)


def read(path):
    """Reads a table that the command wrote: names of columns, and a dictionary of lists of texts."""
    with open(path, newline="", encoding="utf-8") as f:
        rows = csv.reader(f)
        names = next(rows)
        columns = list(zip(*rows)) or [()] * len(names)
    return names, dict(zip(names, columns))


def numbers(texts):
    """Returns texts as floats: NaN for an empty cell."""
    return np.array([float(t) if t else np.nan for t in texts], dtype=np.float64)
