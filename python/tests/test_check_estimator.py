"""scikit-learn's own checks of estimators."""

import unittest
import warnings

from sklearn.utils.estimator_checks import check_estimator

from bmkl import BMKLClassifier, BMKLRegressor, BMKLSurvival


class CheckEstimator(unittest.TestCase):
    def check(self, kind):
        number = 0
        for estimator, check in check_estimator(kind(), generate_only=True):
            number += 1
            with self.subTest(check.func.__name__, **check.keywords), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(estimator)
        self.assertGreater(number, 20)
        print(f"{kind.__name__}: {number} checks of scikit-learn")

    def test_regressor(self):
        self.check(BMKLRegressor)

    def test_classifier(self):
        self.check(BMKLClassifier)

    def test_survival(self):
        self.check(BMKLSurvival)


if __name__ == "__main__":
    unittest.main()
