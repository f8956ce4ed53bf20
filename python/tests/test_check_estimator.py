"""scikit-learn's own checks of estimators."""

import unittest
import warnings

from sklearn.utils import estimator_checks

from bmkl import BMKLClassifier, BMKLRegressor, BMKLSurvival


class CheckEstimator(unittest.TestCase):
    def check(self, kind):
        generate = getattr(estimator_checks, "estimator_checks_generator", None)  # from scikit-learn 1.6 on
        checks = list(generate(kind()) if generate else estimator_checks.check_estimator(kind(), generate_only=True))
        passed = 0
        for estimator, check in checks:
            with self.subTest(check.func.__name__, **check.keywords), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(estimator)
                passed += 1
        self.assertGreater(len(checks), 20)
        print(f"{kind.__name__}: {passed} of {len(checks)} checks of scikit-learn passed")

    def test_regressor(self):
        self.check(BMKLRegressor)

    def test_classifier(self):
        self.check(BMKLClassifier)

    def test_survival(self):
        self.check(BMKLSurvival)


if __name__ == "__main__":
    unittest.main()
