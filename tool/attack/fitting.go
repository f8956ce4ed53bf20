package main

import (
	"reflect"

	"github.com/bmkl/bmkl/mkl"
)

// fitting are settings of a fit, for estimators that have them.
type fitting struct {
	mkl.Fitting
	mkl.Ascent
	AllowDuplicates bool
	MissingViews    bool
	Storage         mkl.KernelStorage
}

// with returns an estimator with the settings of f that the estimator's type has.
func with[E any](f fitting, e E) E {
	v := reflect.ValueOf(&e).Elem()
	for name, value := range map[string]any{
		"Fitting": f.Fitting, "Ascent": f.Ascent, "Climb": mkl.Climb{MinRise: f.Tolerance, MaxSteps: f.MaxSweeps},
		"Tolerance": f.Tolerance, "MinRise": f.Tolerance, "MaxSweeps": f.MaxSweeps, "MaxPasses": f.MaxSweeps,
		"AllowDuplicates": f.AllowDuplicates, "MissingViews": f.MissingViews, "Storage": f.Storage,
	} {
		if own, ok := v.Type().FieldByName(name); ok && len(own.Index) == 1 { // promoted fields are in Ascent and Climb
			v.FieldByIndex(own.Index).Set(reflect.ValueOf(value))
		}
	}
	return e
}
