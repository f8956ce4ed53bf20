"""The estimators compute what the command computes, and take and return what scikit-learn and pandas expect."""

import os
import pickle
import subprocess
import tempfile
import unittest
import unittest.mock
import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bmkl import BMKLClassifier, BMKLRegressor, BMKLSurvival, CommandError, find_mkl

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "testdata")


def houses(n=60):
    """A table with numbers, gaps, text, booleans and dates."""
    r = np.random.RandomState(1)
    frame = pd.DataFrame(
        {
            "area": r.uniform(40, 200, n),
            "rooms": r.randint(1, 7, n),
            "place, town": r.choice(["old town", "harbour", 'the "mile"'], n),
            "garden": r.rand(n) < 0.5,
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(r.randint(0, 900, n), unit="D"),
        },
        index=[f"h{i}" for i in range(n)],
    )
    price = 3 * frame["area"] + 40 * frame["garden"] + 20 * (frame["place, town"] == "harbour") + r.normal(0, 5, n)
    frame.loc[frame.index[:5], "area"] = np.nan
    frame.loc[frame.index[7:9], "place, town"] = None
    return frame, price.rename("price")


def command(folder, *arguments):
    """Runs the command as a user does."""
    subprocess.run([find_mkl(), *arguments], cwd=folder, check=True, capture_output=True)


class Regressor(unittest.TestCase):
    def test_a_frame_is_the_table_of_the_command(self):
        X, y = houses()
        with tempfile.TemporaryDirectory() as d:
            X.assign(price=y).to_csv(os.path.join(d, "h.csv"), index=False)
            command(d, "fit", "h.csv", "-target", "price", "-o", "h.mkl")
            command(d, "predict", "h.mkl", "h.csv", "-o", "p.csv")
            want = pd.read_csv(os.path.join(d, "p.csv"), float_precision="round_trip")
        model = BMKLRegressor().fit(X, y)
        got = model.predict_table(X)
        self.assertEqual(list(got.index), list(X.index))
        for name in ("mean", "sd", "lower", "upper"):
            np.testing.assert_array_equal(got[name], want[name])
        mean, sd = model.predict(X, return_std=True)
        np.testing.assert_array_equal(mean, want["mean"])
        np.testing.assert_array_equal(sd, want["sd"])
        narrow = model.predict_table(X, interval=0.5)
        self.assertTrue((narrow["lower"] > got["lower"]).all())

    def test_numbers_take_the_binary_way_with_the_same_bits(self):
        X, y = houses()
        X = X[["area", "rooms"]]
        with tempfile.TemporaryDirectory() as d:
            X.assign(price=y).to_csv(os.path.join(d, "h.csv"), index=False)
            command(d, "fit", "h.csv", "-target", "price", "-o", "h.mkl")
            command(d, "predict", "h.mkl", "h.csv", "-o", "p.csv")
            want = pd.read_csv(os.path.join(d, "p.csv"), float_precision="round_trip")
        np.testing.assert_array_equal(BMKLRegressor().fit(X, y).predict(X), want["mean"])
        np.testing.assert_array_equal(BMKLRegressor().fit(X.to_numpy(), y).predict(X.to_numpy()), want["mean"])

    def test_durations_are_days(self):
        X, y = houses()
        X = X[["area", "rooms"]]
        want = BMKLRegressor(model="mgp").fit(X, y).predict(X)
        days = X.assign(rooms=pd.to_timedelta(X["rooms"], unit="D"))
        np.testing.assert_array_equal(BMKLRegressor(model="mgp").fit(days, y).predict(days), want)

    def test_text_of_digits_stays_text(self):
        X = pd.DataFrame({"zip": ["01", "1", "02"] * 10, "a": np.arange(30) ** 0.5})
        y = np.where(X["zip"] == "01", 5.0, 1.0) + 0.01 * np.sin(np.arange(30))
        X["zip"] = X["zip"].astype("category")
        model = BMKLRegressor().fit(X, y)
        self.assertEqual([p["type"] for p in model.inspect()["inputs"][0]["plan"]], ["text", "number"])

    def test_views(self):
        r = np.random.RandomState(2)
        X = pd.DataFrame(r.normal(size=(80, 6)), columns=["a", "b", "c", "d", "e=1", "f,g"])
        y = X["a"] - 2 * X["d"] + 0.1 * r.normal(size=80)
        model = BMKLRegressor(views={"rna": ["d", "a"], "noise": ["f,g", "e=1", "a"]}).fit(X, y)
        views = model.explain().set_index("view")
        self.assertEqual(sorted(views.index), ["noise", "rna"])
        self.assertGreater(views.loc["rna", "share"], views.loc["noise", "share"])
        parts = model.explain(X)
        self.assertLessEqual({"constant", "view_rna", "view_noise"}, set(parts.columns))
        means = parts[[name for name in parts.columns if not name.endswith("_sd")]]
        np.testing.assert_allclose(means.sum(axis=1), model.predict(X), atol=1e-8)
        again = BMKLRegressor(views={"rna": [3, 0], "noise": [5, 4, 0]}).fit(X.to_numpy(), y)
        np.testing.assert_array_equal(again.predict(X.to_numpy()), model.predict(X))
        one = BMKLRegressor(views={"rna": ["a", "d"]}, kernels={"rna": "rbf(width=2)"}, model="mgp").fit(X, y)
        self.assertEqual(list(one.explain()["kernel"]), ["rbf(width=2)"])

    def test_views_that_are_wrong(self):
        X, y = houses()
        for settings, says in [
            ({"views": {"a": ["nothing"]}}, "'nothing', which is no column"),
            ({"views": {"a": []}}, "has no columns"),
            ({"views": {"a=b": ["area"]}}, "needs a name without"),
            ({"kernels": {"a": "rbf"}}, "no views"),
            ({"views": {"a": ["area"]}, "kernels": {"b": "rbf"}}, "'b', which is no view"),
        ]:
            with self.subTest(settings), self.assertRaisesRegex(ValueError, says):
                BMKLRegressor(**settings).fit(X, y)

    def test_several_targets(self):
        r = np.random.RandomState(3)
        X = r.normal(size=(50, 3))
        Y = pd.DataFrame({"u": X[:, 0], "v": 2 - X[:, 1]})
        model = BMKLRegressor().fit(X, Y)
        mean, sd = model.predict(X, return_std=True)
        self.assertEqual(mean.shape, (50, 2))
        np.testing.assert_allclose(mean, Y, atol=0.1)
        self.assertTrue((sd > 0).all())

    def test_files(self):
        X, y = houses()
        model = BMKLRegressor().fit(X, y)
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "m.mkl")
            model.save(path)
            read = BMKLRegressor.load(path)
            with self.assertRaisesRegex(ValueError, "model of the task 'regression'"):
                BMKLClassifier.load(path)
            page = os.path.join(d, "m.html")
            read.report(page, X, y)
            with open(page, encoding="utf-8") as f:
                self.assertIn("price", f.read())
        other = X[X.columns[::-1]].assign(more=1)
        np.testing.assert_array_equal(read.predict(other), model.predict(X))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
        with self.assertRaisesRegex(ValueError, r"lacks columns that the model was fitted with: \['area'\]"):
            read.predict(other.drop(columns="area"))

    def test_scikit_learn_around_it(self):
        X, y = houses()
        numeric = make_column_transformer((StandardScaler(), ["rooms"]), remainder="drop")
        self.assertEqual(len(make_pipeline(numeric, BMKLRegressor()).fit(X, y).predict(X)), len(X))
        search = GridSearchCV(BMKLRegressor(model="mgp"), {"kernels": ["linear", "rbf(width=1)"]}, cv=2).fit(X[["rooms"]], y)
        self.assertIn(search.best_params_["kernels"], ["linear", "rbf(width=1)"])
        clone(search.best_estimator_)
        self.assertEqual(len(cross_val_score(BMKLRegressor(), X, y, cv=3)), 3)

    def test_the_commands_words(self):
        X, y = houses()
        with self.assertRaises(CommandError) as caught:
            BMKLRegressor(missing="refuse").fit(X, y)
        self.assertIn("area", str(caught.exception))
        self.assertNotIn("tmp", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "infinity in column 'area'"):
            BMKLRegressor().fit(X.assign(area=np.inf), y)
        codes = pd.DataFrame({"code": np.tile(np.arange(40), 5), "a": np.sin(np.arange(200) % 40 * 10.0)})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            BMKLRegressor(options={"sweeps": 5}).fit(codes, codes["a"])
        self.assertTrue(any("code looks like codes of categories" in str(w.message) for w in caught))


class Classifier(unittest.TestCase):
    def setUp(self):
        iris = pd.read_csv(os.path.join(DATA, "iris.csv"))
        self.X, self.y = iris.drop(columns="Species"), iris["Species"]

    def test_it_is_the_command(self):
        model = BMKLClassifier().fit(self.X, self.y)
        with tempfile.TemporaryDirectory() as d:
            file = os.path.abspath(os.path.join(DATA, "iris.csv"))
            command(d, "fit", file, "-target", "Species", "-o", "i.mkl")
            command(d, "predict", "i.mkl", file, "-o", "p.csv")
            want = pd.read_csv(os.path.join(d, "p.csv"), float_precision="round_trip")
            read = BMKLClassifier.load(os.path.join(d, "i.mkl"))
            read.report(os.path.join(d, "i.html"), self.X, self.y)
        np.testing.assert_array_equal(model.predict_proba(self.X), want[[f"p_{c}" for c in model.classes_]])
        np.testing.assert_array_equal(model.predict(self.X), want["label"])
        np.testing.assert_array_equal(read.predict_proba(self.X), model.predict_proba(self.X))
        self.assertEqual(list(model.predict_table(self.X)["label"]), list(want["label"]))

    def test_kinds_of_classes(self):
        for classes in ([3, 7], [True, False], ["NA", "EU"], [" a", "a"], [1.0, 2.0], ["0", "00"]):
            y = np.array(classes)[np.arange(len(self.X)) % 2 * (self.X["Sepal.Length"] > 5)]
            with self.subTest(classes), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # five sweeps are few
                model = BMKLClassifier(model="probit", kernels="rbf", options={"sweeps": 5}).fit(self.X, y)
                self.assertTrue(np.isin(model.predict(self.X), model.classes_).all())
                self.assertEqual(model.predict(self.X).dtype, y.dtype)
                np.testing.assert_allclose(model.predict_proba(self.X).sum(axis=1), 1)

    def test_one_class(self):
        with self.assertRaisesRegex(ValueError, "one class"):
            BMKLClassifier().fit(self.X, ["a"] * len(self.X))


class Survival(unittest.TestCase):
    def setUp(self):
        table = pd.read_csv(os.path.join(DATA, "veteran.csv"))
        self.X, self.time, self.event = table.drop(columns=["time", "status"]), table["time"], table["status"]

    def test_it_is_the_command(self):
        y = pd.DataFrame({"time": self.time, "event": self.event})
        model = BMKLSurvival().fit(self.X, y)
        with tempfile.TemporaryDirectory() as d:
            file = os.path.abspath(os.path.join(DATA, "veteran.csv"))
            command(d, "fit", file, "-target", "time", "-event", "status", "-o", "v.mkl")
            command(d, "predict", "v.mkl", file, "-times", "90,365", "-o", "p.csv")
            want = pd.read_csv(os.path.join(d, "p.csv"), float_precision="round_trip")
            read = BMKLSurvival.load(os.path.join(d, "v.mkl"))
        np.testing.assert_array_equal(model.predict(self.X), want["median"])
        np.testing.assert_array_equal(read.predict_risk(self.X), want["risk"])
        np.testing.assert_array_equal(model.predict_survival(self.X, [365, 90]), want[["p_after_365", "p_after_90"]])
        self.assertEqual(read.score(self.X, y), model.score(self.X, y))

    def test_forms_of_times(self):
        pairs = np.array(list(zip(self.event == 1, self.time)), dtype=[("died", bool), ("days", float)])
        a = BMKLSurvival().fit(self.X, pairs).predict(self.X)
        np.testing.assert_array_equal(a, BMKLSurvival().fit(self.X, np.column_stack([self.time, self.event])).predict(self.X))
        every = BMKLSurvival().fit(self.X, self.time).predict(self.X)
        self.assertFalse(np.array_equal(a, every))
        for wrong in (np.zeros(len(self.X)), np.column_stack([self.time, self.time]), np.ones((len(self.X), 3))):
            with self.assertRaises(ValueError):
                BMKLSurvival().fit(self.X, wrong)

    def test_the_score_is_harrells(self):
        y = np.column_stack([self.time, self.event])
        model = BMKLSurvival().fit(self.X, y)
        risk, time, event = model.predict_risk(self.X), self.time.to_numpy(), self.event.to_numpy()
        right = pairs = 0.0
        for i in range(len(time)):
            for j in range(len(time)):
                if event[i] == 1 and (time[i] < time[j] or time[i] == time[j] and event[j] == 0):
                    pairs += 1
                    right += (risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j])
        self.assertAlmostEqual(model.score(self.X, y), right / pairs, places=12)


class Binary(unittest.TestCase):
    def test_a_relative_path(self):
        with unittest.mock.patch.dict(os.environ, {"BMKL_MKL": os.path.relpath(find_mkl())}):
            self.assertEqual(len(BMKLRegressor(model="mgp").fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0]).predict([[3.0]])), 1)

    def test_a_path_that_is_not_there(self):
        with unittest.mock.patch.dict(os.environ, {"BMKL_MKL": "/absent/mkl"}):
            with self.assertRaisesRegex(FileNotFoundError, "/absent/mkl"):
                find_mkl()


if __name__ == "__main__":
    unittest.main()
