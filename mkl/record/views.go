package record

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/mkl"
)

// Scale says what the parts of views add up to.
type Scale string

// What parts add up to.
const (
	OfMean     Scale = "mean"     // the mean of a number, in its unit
	OfLog      Scale = "log"      // the mean logarithm of a time, or of the expected count for exposure 1
	OfFunction Scale = "function" // the mean function of grades, in units of its noise
	OfLogOdds  Scale = "log odds" // the log odds of a class, in nats: see [mkl.ClassViewParts]
)

// Views holds what each view adds to the predictions of one target, or to the log odds of one class, of some samples.
type Views struct {
	// Of is the target, or the class. Of two classes only the second has parts; the first class has their negatives.
	Of string

	Scale Scale // of the parts

	Names    []string    // of the views
	Constant []float64   // [sample]
	Mean, SD [][]float64 // [view][sample]
}

// viewer is a model of one target whose predictions are sums over views.
type viewer interface {
	PredictViews(ctx context.Context, opt mkl.PredictOptions, x ...mkl.Features) (*mkl.ViewParts, error)
}

// classViewer is a classifier whose log odds are sums over views.
type classViewer interface {
	PredictViews(ctx context.Context, opt mkl.PredictOptions, x ...mkl.Features) (*mkl.ClassViewParts[string], error)
}

// ViewsOf returns what each view adds to the predictions of a model, by target or class. Targets are the names of the model's targets. It
// returns an error, with [mkl.ErrNoViews] in it, if the model is no sum over views.
func ViewsOf(ctx context.Context, m mkl.Model, targets []string, opt mkl.PredictOptions, x []mkl.Features) (all []Views, err error) {
	switch m := m.(type) {
	case viewer:
		return viewsOf(ctx, m, targets[0], nil, opt, x)
	case *mkl.AutoTargetsModel:
		for o, target := range targets {
			if all, err = viewsOf(ctx, m.Target(o), target, all, opt, x); err != nil {
				return nil, fmt.Errorf("target %q: %w", target, err)
			}
		}
		return all, nil
	case classViewer:
		parts, err := m.PredictViews(ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		for c, class := range parts.Classes {
			if len(parts.Classes) == 2 && c == 0 {
				continue
			}
			all = append(all, Views{class, OfLogOdds, parts.Views, parts.Constant[c], parts.Mean[c], parts.SD[c]})
		}
		return all, nil
	}
	return nil, fmt.Errorf("mkl: views: %w: this is a %v; models of counts, times and grades, and the models auto, mgp and landmarks of numbers and classes, are such sums", mkl.ErrNoViews, m)
}

// viewsOf adds the parts of a target.
func viewsOf(ctx context.Context, m viewer, target string, all []Views, opt mkl.PredictOptions, x []mkl.Features) ([]Views, error) {
	parts, err := m.PredictViews(ctx, opt, x...)
	if err != nil {
		return nil, err
	}
	constant := make([]float64, x[0].Rows)
	for i := range constant {
		constant[i] = parts.Constant
	}
	return append(all, Views{target, scaleOf(m), parts.Views, constant, parts.Mean, parts.SD}), nil
}

// scaleOf returns the scale of the parts of a target.
func scaleOf(m viewer) Scale {
	switch m.(type) {
	case *mkl.CountModel, *mkl.SurvivalModel:
		return OfLog
	case *mkl.OrdinalModel[string]:
		return OfFunction
	}
	return OfMean
}

// Part is what one view adds to the prediction of a record.
type Part struct {
	View string  `json:"view"` // its name
	Mean float64 `json:"mean"` // on the scale of the [Parts]
	SD   float64 `json:"sd"`   // posterior standard deviation, on the same scale
}

// Parts are what the views add to the prediction of a target, or to the log odds of a class, of a record: see [Views].
type Parts struct {
	Of       string  `json:"of"`       // the target, or the class
	Scale    Scale   `json:"scale"`    // of the parts
	Constant float64 `json:"constant"` // the part of no view, with the offset of the record
	Views    []Part  `json:"views"`
}

// PredictRowViews returns what each view adds to the predictions of records, by target or class. Records and errors are as in
// [Predictor.PredictRows]. It also returns an error, with [mkl.ErrNoViews] in it, if the model is no sum over views.
func (p *Predictor) PredictRowViews(ctx context.Context, records []map[string]any) ([][]Parts, error) {
	if len(records) == 0 {
		return nil, nil
	}
	cells, err := p.read(records, make([]Prediction, len(records)))
	if err != nil {
		return nil, err
	}
	x, err := p.features(ctx, cells, len(records))
	if err != nil {
		return nil, err
	}
	all, err := ViewsOf(ctx, p.model, p.notes.Targets, mkl.PredictOptions{}, x)
	if err != nil {
		return nil, err
	}
	offset := p.beside(cells).offset
	out := make([][]Parts, len(records))
	for i := range out {
		for _, of := range all {
			one := Parts{Of: of.Of, Scale: of.Scale, Constant: of.Constant[i]}
			if offset != nil {
				one.Constant += offset[i]
			}
			for v, name := range of.Names {
				one.Views = append(one.Views, Part{View: name, Mean: of.Mean[v][i], SD: of.SD[v][i]})
			}
			out[i] = append(out[i], one)
		}
	}
	return out, nil
}
