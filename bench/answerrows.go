package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// paperSweeps is how many sweeps the papers make.
const paperSweeps = 200

// answerOptions are the flags of the rows of times to an answer.
type answerOptions struct {
	data     string // folder of sets
	patience time.Duration
	outside  outside
}

// answerRows returns the rows of times to an answer: the same lower bound, or the same loss of the
// test samples. Times are user time of whole fits by one thread, times of package mkl are from
// features to a model; those that are given kernels begin after these.
func answerRows(o answerOptions) (rows list) {
	for _, labels := range []bool{false, true} {
		sets, err := sets(o.data, labels)
		must(err)
		for _, s := range sets {
			for _, r := range o.races(s) {
				rows.add(r.name, func() measurer { return r })
			}
		}
	}
	return rows
}

// races returns the rows of a set. They share the answers of their learners.
func (o answerOptions) races(s *set) []race {
	ours := func(name string, fit func(fitting) outcome) learner {
		l := fits(name, o.patience, func(sweeps int) answer {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			start := seconds()
			m := fit(fitting{Fitting: mkl.Fitting{Workers: 1}, Ascent: mkl.Ascent{MaxSweeps: sweeps}})
			spent := seconds() - start
			t := m.trace()
			return answer{Seconds: spent, Loss: m.loss(), Bound: t.Bounds[len(t.Bounds)-1], done: t.Converged}
		})
		l.course = sync.OnceValues(l.course)
		return l
	}
	row := func(by measure, model string, ours learner, peers ...learner) race {
		name := fmt.Sprintf("time to the same %s/%s, %s", by.name, model, s.name)
		return race{name: name, by: by, ours: ours, peers: peers}
	}
	ctx, views := context.Background(), s.views()
	if s.labels {
		kernels := func(name string, plain bool) learner {
			return ours(name, func(f fitting) outcome {
				return s.ofClasses(fitted(mkl.Classifier[bool]{Fitting: f.Fitting, Ascent: f.Ascent, Plain: plain}.Fit(ctx, views, s.classes())))
			})
		}
		processes := func(name string, plain bool) learner {
			return ours(name, func(f fitting) outcome {
				c := mkl.FactorisedGPClassifier[bool]{Fitting: f.Fitting, MaxSweeps: f.MaxSweeps, Plain: plain}
				return s.ofClasses(fitted(c.Fit(ctx, views, s.classes())))
			})
		}
		fast, plain, authors := kernels("", false), kernels(published, true), o.outside.ofAuthors(s)
		evidence := ours("", func(f fitting) outcome {
			return s.ofClasses(fitted(mkl.MultiGPClassifier[bool]{Fitting: f.Fitting, Climb: f.climb()}.Fit(ctx, views, s.classes())))
		})
		factorised, slow := processes("factorised", false), processes(published, true)
		return []race{
			row(byBound, "classification", fast, plain),
			row(byLoss, "classification", fast, append([]learner{plain}, authors...)...),
			row(byBound, "processes of labels, factorised", factorised, slow),
			row(byLoss, "processes of labels", evidence, append([]learner{factorised, slow}, o.outside.ofSklearn(s)...)...),
		}
	}
	kernels := func(name string, plain bool) learner {
		return ours(name, func(f fitting) outcome {
			m := fitted(mkl.Regression{Fitting: f.Fitting, Ascent: f.Ascent, Plain: plain, RawTargets: true}.Fit(ctx, views, s.y))
			return s.ofTargets(m, func(mean, _ []float64) float64 { return s.rmse(mean) })
		})
	}
	processes := func(name string, plain bool) learner {
		return ours(name, func(f fitting) outcome {
			g := mkl.FactorisedGP{Fitting: f.Fitting, MaxSweeps: f.MaxSweeps, Plain: plain, RawTargets: true}
			return s.ofTargets(fitted(g.Fit(ctx, views, s.y)), s.nlpd)
		})
	}
	fast, plain, authors := kernels("", false), kernels(published, true), o.outside.ofAuthors(s)
	evidence := ours("", func(f fitting) outcome {
		return s.ofTargets(fitted(mkl.MultiGP{Fitting: f.Fitting, Climb: f.climb(), RawTargets: true}.Fit(ctx, views, s.y)), s.nlpd)
	})
	factorised, slow := processes("factorised", false), processes(published, true)
	return []race{
		row(byBound, "regression", fast, append([]learner{plain}, authors...)...),
		row(byRMSE, "regression", fast, append([]learner{plain, s.onGonum(o.patience)}, authors...)...),
		row(byBound, "processes, factorised", factorised, slow),
		row(byLoss, "processes", evidence, append([]learner{factorised, slow}, o.outside.ofSklearn(s)...)...),
	}
}

// published is the name of our fits without acceleration.
const published = "the published updates"

// outcome is a model: how its fit went, and its loss.
type outcome struct {
	trace func() mkl.Trace
	loss  func() float64
}

// ofTargets returns the outcome of a model of targets.
func (s *set) ofTargets(m interface {
	Trace() mkl.Trace
	Predict(...mkl.Features) (mean, variance []float64, err error)
}, loss func(mean, variance []float64) float64) outcome {
	return outcome{m.Trace, func() float64 {
		mean, variance, err := m.Predict(s.test)
		must(err)
		return loss(mean, variance)
	}}
}

// ofClasses returns the outcome of a model of labels.
func (s *set) ofClasses(m interface {
	Trace() mkl.Trace
	Predict(...mkl.Features) (class []bool, probability [][]float64, err error)
}) outcome {
	return outcome{m.Trace, func() float64 {
		_, probability, err := m.Predict(s.test)
		must(err)
		positive := make([]float64, len(probability))
		for i, p := range probability {
			positive[i] = p[1] // of true, which comes after false
		}
		return s.logLoss(positive)
	}}
}

// onGonum returns the learner of the paper's sweeps on gonum, which are made once.
func (s *set) onGonum(patience time.Duration) learner {
	const name = "the paper on gonum"
	return learner{name: name, course: func() (course []answer, err error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		dense := func(ms []la.Matrix[float64]) (out []*mat.Dense) {
			for _, m := range ms {
				out = append(out, mat.NewDense(m.Rows, m.Cols, m.Data))
			}
			return out
		}
		k, test := dense(s.kernels(s.x)), dense(s.kernels(s.test))
		n, one := len(s.y), gammaPrior{1, 1}
		start := seconds()
		r := newPaperRegression(paperPriors{one, one, one, one, one}, k, s.y,
			random(1, n, 3).Data, mat.NewDense(len(k), n, random(len(k), n, 4).Data))
		spent := seconds() - start
		for next := 1; len(course) == 0 || !course[len(course)-1].done; next = more(next) {
			sweeps := min(next, paperSweeps)
			start := seconds()
			for range sweeps - made(course) {
				r.sweep()
			}
			spent += seconds() - start
			course = append(course, answer{
				Learner: name, Sweeps: sweeps, Seconds: spent, Loss: s.rmse(r.predict(test)),
				done: sweeps == paperSweeps || spent > patience.Seconds(),
			})
		}
		return course, nil
	}}
}

// made returns the sweeps of the last answer.
func made(course []answer) int {
	if len(course) == 0 {
		return 0
	}
	return course[len(course)-1].Sweeps
}
