package mkl

import (
	"cmp"
	"context"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi"
)

// ClassViewParts holds what each view adds to the log odds of each class, in nats. The log odds of class c among C classes are
//
//	λ_c = log P(c) − Σ_{d≠c} log P(d)/(C − 1),
//
// and log(P/(1 − P)) for two classes. Section 11 of docs/theory/views.md derives the parts.
type ClassViewParts[T comparable] struct {
	Classes []T      // in the order of the probabilities
	Views   []string // as in [ViewParts]

	// Constant, [class][sample], is the part of no view. Constant plus the means of all views is λ_c. For a pool the sum is the weighted
	// mean of the members' λ_c. The sums of all classes add up to 0.
	Constant [][]float64

	// Mean and SD, [class][view][sample], are the posterior mean and standard deviation of the view's part. The squares of the SDs do not add up
	// to the variance of λ_c: the parts are correlated in the posterior.
	Mean, SD [][][]float64
}

// classViewer is a classifier, or a member of a pool, whose log odds are sums over views.
type classViewer interface {
	// logOddsMoments returns the moments of the views' parts of the log odds of each class.
	logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error)
}

func newLogOddsMoments(classes, samples int) []viewMoments {
	out := make([]viewMoments, classes)
	for c := range out {
		out[c].constant = make([]float64, samples)
	}
	return out
}

// partsOf returns moments, by class, as they are given to callers.
func partsOf[T comparable](all []viewMoments, classes []T) *ClassViewParts[T] {
	out := &ClassViewParts[T]{Classes: classes, Views: all[0].names}
	for _, of := range all {
		out.Constant, out.Mean, out.SD = append(out.Constant, of.constant), append(out.Mean, of.mean), append(out.SD, of.sd())
	}
	return out
}

// against returns the parts of the classes' log odds λ_c = u_c − Σ_{d≠c} u_d/(C − 1), given the parts of the functions u_c, which are
// independent in the posterior. The log probabilities are the u_c up to a common term. A single function is λ of the second of two classes.
func against(u []viewMoments) []viewMoments {
	C, samples := len(u), len(u[0].constant)
	if C == 1 {
		out := newLogOddsMoments(2, samples)
		out[0].add(&u[0], -1)
		out[1].add(&u[0], 1)
		return out
	}
	out := newLogOddsMoments(C, samples)
	for c := range out {
		for d := range u {
			weight := 1.0
			if d != c {
				weight = -1 / float64(C-1)
			}
			out[c].add(&u[d], weight)
		}
	}
	return out
}

// add adds a multiple of functions that are independent of the functions so far.
func (m *viewMoments) add(of *viewMoments, weight float64) {
	la.Axpy(weight, of.constant, m.constant)
	for v, name := range of.names {
		at := m.at(name, len(m.constant))
		la.Axpy(weight, of.mean[v], m.mean[at])
		la.Axpy(weight*weight, of.variance[v], m.variance[at])
	}
}

// PredictViews returns what the kernels of each view add to the log odds of each class, exact for the learned scales. The functions of
// several classes are independent in the posterior. Arguments and errors are as in [ClassModel.PredictClasses].
func (m *MultiGPClassifierModel[T]) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ClassViewParts[T], error) {
	all, err := m.logOddsMoments(ctx, opt, x)
	if err != nil {
		return nil, err
	}
	return partsOf(all, m.Classes()), nil
}

// logOddsMoments scales each function's parts at a sample by the factor that turns the function's mean into its log odds.
func (m *MultiGPClassifierModel[T]) logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	u := newLogOddsMoments(len(m.posteriors), t)
	err = m.eachFunction(ctx, opt.Workers, x, t, func(o int, k *vi.Dense, self la.Matrix[float64], first int) error {
		p, err := m.posteriors[o].Predict(k, self, vi.PredictOptions{Workers: opt.Workers})
		if err != nil {
			return err
		}
		by := make([]float64, len(p.Mean))
		for i, mean := range p.Mean {
			by[i] = m.sharpness * oddsFactor(mean, p.Variance[i], p.LogPositive[i], p.LogNegative[i])
		}
		return m.contributions(o, k, self, opt.Workers, func(part contribution) {
			if part.constant {
				for i, f := range part.mean {
					u[o].constant[first+i] = by[i] * f
				}
				return
			}
			v := u[o].at(part.view, t)
			for i, f := range part.mean {
				u[o].mean[v][first+i], u[o].variance[v][first+i] = by[i]*f, by[i]*by[i]*part.variance[i]
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return against(u), nil
}

// nearEven is the |mean|/SD of a function below which its log odds are proportional to its mean, up to 1e-9 of them.
const nearEven = 1e-4

// oddsFactor returns the log odds that a normal variable is positive, divided by its mean: (log Φ(z) − log Φ(−z))/mean, z = mean/√variance.
// The variance includes the noise. The factor is positive, and √(8/π)/√variance in the limit of mean 0.
func oddsFactor(mean, variance, logPositive, logNegative float64) float64 {
	sd := math.Sqrt(variance)
	if math.Abs(mean) < nearEven*sd {
		return math.Sqrt(8/math.Pi) / sd
	}
	return (logPositive - logNegative) / mean
}

// logOddsMoments scales the functions of each sample by the head's slopes.
func (m *indicatorModel[T]) logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error) {
	t, err := checkInputs(m.design, x)
	if err != nil {
		return nil, err
	}
	C := len(m.classes.names)
	out, u := newLogOddsMoments(C, t), make([]float64, C)
	constant := m.process.Constant()
	ws := &la.Workspace{Workers: opt.Workers}
	all := vec.UpTo(len(m.weight))
	names, which, _ := m.design.UserViews() // no constants: the process has its own
	err = m.design.EachBlock(ctx, opt.Workers, gram.PredictWords, true, x, t, func(k *vi.Dense, self la.Matrix[float64], first, n int) error {
		cross, own := m.sum(k, self, all)
		_, variance, err := m.process.Predict(ws, cross, own)
		if err != nil {
			return err
		}
		slope := make([][]float64, n)
		for i, v := range variance {
			var level []float64
			slope[i], level = m.head.Linear(v)
			m.decide(constant, 0, u)
			for c, by := range slope[i] {
				u[c] = float64(by*u[c]) + level[c]
			}
			for c := range u {
				out[c].constant[first+i] = againstOthers(u, c)
			}
		}
		for v, kernels := range which {
			cross, own := m.sum(k, self, kernels)
			mean, variance, err := m.process.Contribution(ws, cross, own)
			if err != nil {
				return err
			}
			var at int // the same of all classes
			for c := range out {
				at = out[c].at(cmp.Or(names[v], namelessView), t)
			}
			for i, s := range variance {
				m.decide(mean, i, u)
				for c, by := range slope[i] {
					u[c] *= by
				}
				for c, by := range slope[i] {
					by *= float64(C) / float64(C-1) // the functions of all classes add up to 0
					out[c].mean[at][first+i], out[c].variance[at][first+i] = againstOthers(u, c), by*by*s
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// againstOthers returns u_c less the mean of the others.
func againstOthers(u []float64, c int) float64 {
	var others float64
	for d, v := range u {
		if d != c {
			others += v
		}
	}
	return u[c] - others/float64(len(u)-1)
}

// PredictViews returns what the kernels of each view add to the log odds of each class. Its moments are for the mixture of the members' parts, with
// the members' weights. Because probabilities are means of the members' probabilities, the parts add up to the mean of the members' log odds, and
// not to the log odds of the mean. A member that is no sum over views has one part, which belongs to no view and has the member's name: all columns
// as one table, trees, or nearest samples. The parts of trees and of nearest samples count as known. Arguments and errors are as in
// [ClassModel.PredictClasses].
func (m *AutoClassifierModel[T]) PredictViews(ctx context.Context, opt PredictOptions, x ...Features) (*ClassViewParts[T], error) {
	all, err := m.logOddsMoments(ctx, opt, x)
	if err != nil {
		return nil, err
	}
	return partsOf(all, m.Classes()), nil
}

// logOddsMoments implements [classViewer].
func (m *AutoClassifierModel[T]) logOddsMoments(ctx context.Context, opt PredictOptions, x []Features) ([]viewMoments, error) {
	x, err := m.levels.matrices(m.Inputs(), x)
	if err != nil {
		return nil, err
	}
	var all []viewMoments
	var before float64 // weight of the members so far
	for i, w := range m.weights {
		one, err := m.models[i].(classViewer).logOddsMoments(ctx, opt, x)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = newLogOddsMoments(len(one), len(one[0].constant))
		}
		before += w
		for c := range one {
			all[c].join(&one[c], shareUpTo(w, before))
		}
	}
	return all, nil
}
