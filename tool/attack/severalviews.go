package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// severalViews are attacks by fits whose amplitudes borrow strength: times, counts and grades of two to four views with a constant kernel. The
// data are allowed but for at most one argument, which an error must name. Fits with one and two workers must have the same bits.
func severalViews() []siege.Attack {
	attack := func(name, observations string, of func(s *several) fitOfViews) siege.Attack {
		return siege.Attack{Name: name + " of several views", Run: func(r *rand.Rand) siege.Case {
			s := newSeveral(r, observations)
			fit := of(s)
			if s.unfilled != nil {
				return *s.refused(nil, s.unfilled)
			}
			return s.try(fit)
		}}
	}
	return []siege.Attack{
		attack("survival", "times", func(s *several) fitOfViews {
			times, e := s.times(), mkl.Survival{Law: pick(s.Rand, mkl.LawByEvidence, mkl.LawByEvidence, mkl.LogNormal, mkl.Weibull), Landmarks: s.landmarks(), Groups: s.groups()}
			return func(ctx context.Context, f mkl.Fitting) (mkl.Model, error) {
				e := with(s.of(f), e)
				return some(e.Fit(ctx, s.views, times))
			}
		}),
		attack("counts", "y", func(s *several) fitOfViews {
			y, e := s.counts(), mkl.Counts{Law: pick(s.Rand, mkl.CountLawByEvidence, mkl.CountLawByEvidence, mkl.Poisson, mkl.NegativeBinomial, mkl.DoublePoisson), Landmarks: s.landmarks(), Groups: s.groups()}
			e.Exposure = s.exposure()
			return func(ctx context.Context, f mkl.Fitting) (mkl.Model, error) {
				e := with(s.of(f), e)
				return some(e.Fit(ctx, s.views, y))
			}
		}),
		attack("grades", "labels", func(s *several) fitOfViews {
			y, order := s.grades()
			e := mkl.Ordinal[string]{Grades: order, Landmarks: s.landmarks(), Groups: s.groups()}
			return func(ctx context.Context, f mkl.Fitting) (mkl.Model, error) {
				e := with(s.of(f), e)
				return some(e.Fit(ctx, s.views, y))
			}
		}),
	}
}

// fitOfViews fits the same data again and again.
type fitOfViews func(ctx context.Context, f mkl.Fitting) (mkl.Model, error)

// several is a problem of several views.
type several struct {
	*problem
	views    []mkl.View
	settings fitting
	spoilt   string // the argument that is not allowed, or whose numbers are extreme; empty for none
	unfilled error  // of FillViews
}

// nothing are the reasons for which allowed data have no model.
var nothing = []string{
	"there is nothing to learn", "distance between the training samples is 0", "the kernel is 0 for all samples", "ARD excludes MissingViews",
	"samples have the view where at least 2 are needed",
}

func newSeveral(r *rand.Rand, observations string) *several {
	s := &several{problem: &problem{Rand: r, n: pick(r, 1, 2, 3, 4, 5, 8, 12, 20, 33)}}
	if r.IntN(3) == 0 {
		s.spoilt = pick(r, "view", observations, "Groups", "Landmarks", "MaxSteps", "MinRise")
		if observations == "y" && r.IntN(4) == 0 {
			s.spoilt = "Exposure"
		}
	}
	s.settings = s.fitting()
	s.settings.MaxSweeps, s.settings.Tolerance = pick(r, 0, 0, 0, 1, 2, 5), pick(r, 0, 0, 0, 1e-9, 1)
	switch s.spoilt {
	case "MaxSteps":
		s.settings.MaxSweeps = -1
	case "MinRise":
		s.settings.Tolerance = pick(r, math.NaN(), -1, math.Inf(1))
	}
	s.makeViews()
	return s
}

// of returns the settings of a fit.
func (s *several) of(f mkl.Fitting) fitting {
	out := s.settings
	f.Seed = out.Seed
	out.Fitting = f
	return out
}

// makeViews makes two to four views with kernels of their own and a constant. Their columns may be constant, copies, far apart or the same in all rows.
func (s *several) makeViews() {
	number := 2 + s.IntN(3)
	s.settings.MissingViews = s.IntN(3) == 0
	for v := range number {
		x := mkl.Features{Rows: s.n, Cols: 1 + s.IntN(4)}
		x.Stride, x.Data = x.Cols, make([]float64, s.n*x.Cols)
		for i := range x.Data {
			x.Data[i] = s.NormFloat64()
		}
		s.column(x)
		if v > 0 && s.IntN(4) == 0 { // a copy of another view, in another unit
			x = s.views[s.IntN(v)].X
			if x.Data = slices.Clone(x.Data); s.IntN(2) == 0 {
				for i := range x.Data {
					x.Data[i] *= 3
				}
			}
		}
		if s.settings.MissingViews && s.IntN(2) == 0 {
			for i := range s.n {
				if s.IntN(4) == 0 {
					for j := range x.Cols {
						x.Data[i*x.Stride+j] = math.NaN()
					}
				}
			}
		}
		if s.spoilt == "view" && v == number-1 {
			x.Data[s.IntN(len(x.Data))] = pick(s.Rand, math.NaN(), math.Inf(1), 1e300, -1e160, math.MaxFloat64)
		}
		name := fmt.Sprint("view ", v)
		s.views = append(s.views, mkl.View{Name: name, Input: name, X: x})
	}
	if s.IntN(3) == 0 {
		for i := range s.views {
			s.views[i].Kernel = pick[kernel.Kernel](s.Rand, kernel.RBF{Scale: 1}, kernel.Linear{}, kernel.Laplacian{}, kernel.RBF{ARD: s.IntN(8) == 0})
			s.views[i].Standardize = s.IntN(2) == 0
		}
		s.views = append(s.views, mkl.View{Name: s.views[0].Name, Input: s.views[0].Input, X: s.views[0].X, Kernel: kernel.Constant{}})
		return
	}
	filled, _, err := mkl.FillViews(pick(s.Rand, 0, mkl.KernelsOfView), s.views)
	if s.unfilled = err; err == nil {
		s.views = filled
	}
}

// column makes columns of a view strange.
func (s *several) column(x mkl.Features) {
	j, kind := s.IntN(x.Cols), s.IntN(10)
	for i := range x.Rows {
		at := i*x.Stride + j
		switch kind {
		case 0:
			x.Data[at] = 3
		case 1:
			copy(x.Data[i*x.Stride:(i+1)*x.Stride], x.Data[(i%max(1, x.Rows/3))*x.Stride:])
		case 2:
			x.Data[at] = x.Data[i*x.Stride]
		case 3:
			x.Data[at] *= 1e-100
		case 4:
			x.Data[at] += 1e7
		case 5:
			x.Data[at] = float64(s.IntN(2))
		case 6: // a view without information
			for k := range x.Cols {
				x.Data[i*x.Stride+k] = 1
			}
		case 7:
			x.Data[at] *= math.Pow(10, float64(40*s.Float64()))
		}
	}
}

// landmarks is mostly none.
func (s *several) landmarks() int {
	if s.spoilt == "Landmarks" {
		return -1
	}
	return pick(s.Rand, 0, 0, 0, 0, 3, 50)
}

// groups returns groups of views.
func (s *several) groups() (all []mkl.ViewGroup) {
	if s.spoilt == "Groups" {
		return []mkl.ViewGroup{{Name: "g", Views: pick(s.Rand, []string{}, []string{"view 9"}, []string{"view 0", "view 0"}, []string{"\xff"})}}
	}
	for range s.IntN(3) {
		all = append(all, mkl.ViewGroup{Name: fmt.Sprint("group ", len(all)), Views: pick(s.Rand, []string{"view 0"}, []string{"view 1"})})
	}
	return all
}

// about returns numbers that the views partly explain, in one of several scales.
func (s *several) about() []float64 {
	out, scale := make([]float64, s.n), pick(s.Rand, 0, 1e-9, 0.1, 1, 1, 3, 30)
	x := s.views[0].X
	for i := range out {
		f := x.Data[i*x.Stride]
		if !(math.Abs(f) < 10) {
			f = 0
		}
		out[i] = scale * (f + float64(0.3*s.NormFloat64()))
	}
	if s.IntN(8) == 0 {
		out[s.IntN(s.n)] = pick(s.Rand, -200.0, 200)
	}
	return out
}

// times returns what is known of the times.
func (s *several) times() (out []mkl.Lifetime) {
	kind, unit := s.IntN(8), pick(s.Rand, 1, 1, 1e-50, 1e50)
	for _, v := range s.about() {
		t := mkl.EventAt(unit * math.Exp(v))
		switch {
		case kind == 0 || kind > 3 && s.IntN(3) == 0:
			t = mkl.EventAfter(t.From)
		case kind == 1 || kind == 4 && s.IntN(3) == 0:
			t = mkl.EventBefore(t.From)
		case kind == 2 || kind == 5 && s.IntN(3) == 0:
			t = mkl.EventBetween(t.From, t.From*pick(s.Rand, 1+1e-6, 2, 1e9))
		}
		out = append(out, t)
	}
	if s.spoilt == "times" {
		out[s.IntN(s.n)] = pick(s.Rand, mkl.Lifetime{}, mkl.Lifetime{From: 2, To: 1}, mkl.Lifetime{From: math.NaN()}, mkl.Lifetime{From: 0, To: math.Inf(1)}, mkl.Lifetime{From: -1, To: 1}, mkl.EventAt(5e-324), mkl.EventAt(math.MaxFloat64))
	}
	return out
}

// counts returns counts. All may be 0 or the same, or some large.
func (s *several) counts() []float64 {
	y, kind, size := s.about(), s.IntN(6), pick(s.Rand, 0, 1, 3, 10)
	for i, v := range y {
		switch kind {
		case 0:
			y[i] = 0
		case 1:
			y[i] = math.Floor(math.Exp(float64(size)))
		default:
			y[i] = math.Floor(math.Exp(min(float64(size)+v, 17)))
		}
	}
	if s.spoilt == "y" {
		y[s.IntN(s.n)] = pick(s.Rand, -1, 0.5, math.NaN(), math.Inf(1), 1e300)
	}
	return y
}

// exposure returns exposures of samples, or none.
func (s *several) exposure() (out []float64) {
	if s.spoilt != "Exposure" && s.IntN(2) == 0 {
		return nil
	}
	spread := pick(s.Rand, 0, 1, 3)
	for range s.n {
		out = append(out, math.Exp(float64(spread)*s.NormFloat64()))
	}
	if s.spoilt == "Exposure" {
		out[s.IntN(s.n)] = pick(s.Rand, 0, -1, math.NaN(), math.Inf(1), 1e200)
	}
	return out
}

// grades returns grades of the samples, perhaps one only, and all grades in order.
func (s *several) grades() (y, order []string) {
	number := pick(s.Rand, 1, 2, 3, 3, 5, 12)
	for k := range number {
		order = append(order, fmt.Sprint("grade ", k))
	}
	one := s.IntN(6) == 0
	for _, v := range s.about() {
		k := int(max(min(math.Floor(float64(number)/2+v), float64(number-1)), 0))
		if one {
			k = 0
		}
		y = append(y, order[k])
	}
	if s.spoilt == "labels" {
		y[s.IntN(s.n)] = pick(s.Rand, "", "grade 99")
	}
	return y, order
}

// try fits the data with one and two workers, and sometimes in a context that ends.
func (s *several) try(fit fitOfViews) siege.Case {
	ctx := context.Background()
	if s.IntN(4) == 0 {
		ended, end := context.WithCancel(ctx)
		defer end()
		first := mkl.Fitting{Workers: 1, Progress: func(p mkl.Progress) {
			if s.IntN(6) == 0 {
				end()
			}
		}}
		m, err := fit(ended, first)
		if c := s.refused(m, err); c != nil {
			return *c
		}
		var wrong []string
		if m != nil {
			wrong = append(judge(s.problem, m), judgeTable(m)...)
		}
		if len(wrong) > 0 {
			return siege.Case{Outcome: siege.Held, Wrong: wrong}
		}
	}
	m, err := fit(ctx, mkl.Fitting{Workers: 1})
	if c := s.refused(m, err); c != nil {
		return *c
	}
	c := siege.Case{Outcome: siege.Held, Wrong: append(judge(s.problem, m), judgeTable(m)...)}
	if s.IntN(2) == 0 {
		return c
	}
	again, err := fit(ctx, mkl.Fitting{Workers: 2})
	if err != nil && again == nil {
		c.Wrong = append(c.Wrong, fmt.Sprint("with two workers: ", err))
		return c
	}
	var one, two bytes.Buffer
	if m.Save(&one) != nil || again.Save(&two) != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		c.Wrong = append(c.Wrong, "with two workers the model is another")
	}
	return c
}

// refused judges the error of a fit without a model; it returns nil if the case goes on.
func (s *several) refused(m mkl.Model, err error) *siege.Case {
	switch {
	case m != nil || errors.Is(err, context.Canceled):
		return nil
	case err == nil:
		return &siege.Case{Wrong: []string{"neither a model nor an error"}}
	}
	c, text := &siege.Case{Wrong: sane(err)}, err.Error()
	switch {
	case s.n < 3 || slices.ContainsFunc(nothing, func(reason string) bool { return strings.Contains(text, reason) }):
	case s.spoilt == "":
		c.Wrong = append(c.Wrong, "allowed data are refused: "+text)
	case !strings.Contains(text, s.spoilt) && !(s.spoilt == "view" && strings.Contains(text, "inputs[")):
		c.Wrong = append(c.Wrong, fmt.Sprintf("an error does not name %s: %s", s.spoilt, text))
	}
	return c
}

// judgeTable holds the table of views to what its numbers are. A loaded model has the same table.
func judgeTable(m mkl.Model) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	type tabled interface {
		Views() []mkl.ViewShare
		Groups() []mkl.ViewGroupShare
		ViewRemarks() []string
	}
	of := m.(tabled)
	isShare := func(v float64) bool { return v >= 0 && v <= 1 }
	isFinite := func(v float64) bool { return v-v == 0 }
	views, groups := of.Views(), of.Groups()
	byName, sum := map[string]mkl.ViewShare{}, 0.0
	for _, v := range views {
		if !isShare(v.Share) || !isShare(v.In) || !isShare(v.Informative) || !(v.SD >= 0) || !isFinite(v.SD) || !isFinite(v.Loss) || !(v.LossSE >= 0) || !isFinite(v.LossSE) {
			complain("view %+v", v)
		}
		byName[v.View] = v
		sum += v.Share
	}
	if sum > 1+1e-9 {
		complain("the shares add up to %g", sum)
	}
	for _, g := range groups {
		if !isShare(g.Share) || !isShare(g.In) || !(g.SD >= 0) || !isFinite(g.SD) || !isFinite(g.Loss) || !(g.LossSE >= 0) || !isFinite(g.LossSE) {
			complain("group %+v", g)
		}
		if one := byName[g.Views[0]]; len(g.Views) == 1 && (math.Abs(one.Share-g.Share) > 1e-9 || math.Abs(one.In-g.In) > 1e-9 || math.Abs(one.Loss-g.Loss) > 1e-9) {
			complain("the group of one view is %+v, and the view is %+v", g, one)
		}
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		return append(wrong, fmt.Sprint("Save: ", err))
	}
	loaded, err := mkl.Load(bytes.NewReader(file.Bytes()))
	if err != nil {
		return append(wrong, fmt.Sprint("Load: ", err))
	}
	back := loaded.(tabled)
	sameGroup := func(a, b mkl.ViewGroupShare) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
	if !slices.Equal(views, back.Views()) || !slices.EqualFunc(groups, back.Groups(), sameGroup) || !slices.Equal(of.ViewRemarks(), back.ViewRemarks()) {
		complain("loaded it has another table")
	}
	return wrong
}
