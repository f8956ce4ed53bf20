package mkl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/vi"
)

// A singular problem has no noise, or kernels that are singular in double precision.
type singular struct {
	kind  string
	views []View
	x     la.Matrix[float64]
	y     []float64
}

var singularKinds = []string{"no noise", "duplicated rows", "wide kernels", "target is a column", "nearly constant target", "large offset"}

func newSingular(seed uint64) singular {
	src := rand.New(rand.NewPCG(seed, 7))
	n, d := 5+src.IntN(56), 1+src.IntN(4)
	s := singular{kind: singularKinds[src.IntN(len(singularKinds))], x: la.NewMatrix[float64](n, d), y: make([]float64, n)}
	for i := range n {
		for j := range d {
			s.x.Set(i, j, 6*src.Float64())
		}
	}
	if s.kind == "duplicated rows" {
		for i := n / 2; i < n; i++ {
			copy(s.x.Row(i), s.x.Row(i-n/2))
		}
	}
	for i := range n {
		s.y[i] = math.Sin(s.x.At(i, 0))
		switch s.kind {
		case "target is a column":
			s.y[i] = s.x.At(i, d-1)
		case "nearly constant target":
			s.y[i] = 1 + 1e-9*s.y[i]
		}
	}
	if s.kind == "large offset" {
		for i := range s.x.Data {
			s.x.Data[i] += 1e8
		}
	}
	decades := 1.5
	if s.kind == "wide kernels" {
		decades = 6
	}
	for range 1 + src.IntN(6) {
		s.views = append(s.views, View{X: s.x, Kernel: kernel.RBF{Width: math.Pow(10, -0.5+(decades+0.5)*src.Float64())}})
	}
	if s.kind == "target is a column" || s.kind == "large offset" || src.IntN(3) == 0 {
		s.views = append(s.views, View{X: s.x, Kernel: kernel.Linear{}})
	}
	return s
}

// singularFits are the estimators, and settings of theirs that come nearest to what
// double precision can do.
func singularFits() map[string]func(s singular, f fitting) (Model, error) {
	ctx := context.Background()
	fits := map[string]func(s singular, f fitting) (Model, error){}
	for _, e := range estimators {
		fits[e.name] = func(s singular, f fitting) (Model, error) { return e.fit(ctx, f, s.views, s.y) }
	}
	for family := FamilyStudentT; family <= FamilyGIG; family++ {
		fits[fmt.Sprintf("multiple Gaussian process, %v", family)] = func(s singular, f fitting) (Model, error) {
			return orNil(MultiGP{Fitting: f.Fitting, Climb: f.climb(), Family: family}.Fit(ctx, s.views, s.y))
		}
	}
	fits["multiple Gaussian process, ARD, published updates"] = func(s singular, f fitting) (Model, error) {
		f.MaxSweeps = 300
		return orNil(FactorisedGP{Fitting: f.Fitting, Family: FamilyFlat, Plain: true, Tolerance: f.Tolerance, MaxSweeps: f.MaxSweeps}.Fit(ctx, s.views, s.y))
	}
	fits["sparse samples"] = func(s singular, f fitting) (Model, error) {
		return orNil(Regression{Fitting: f.Fitting, Ascent: f.Ascent, Lambda: sparse}.Fit(ctx, s.views, s.y))
	}
	fits["sparse two classes"] = func(s singular, f fitting) (Model, error) {
		return orNil(Classifier[int]{Fitting: f.Fitting, Ascent: f.Ascent, Lambda: sparse, Omega: sparse}.Fit(ctx, s.views, parts(s.y, 2)))
	}
	fits["learned product"] = func(s singular, f fitting) (Model, error) {
		return orNil(probitOf[int](f, WeightedProduct{}).Fit(ctx, s.views, parts(s.y, 2)))
	}
	fits["sparse probit"] = func(s singular, f fitting) (Model, error) {
		c := probitOf[int](f, FixedSum{})
		c.Alpha = Gamma{Shape: 1e-6, Scale: 1e6}
		return orNil(c.Fit(ctx, s.views, parts(s.y, 2)))
	}
	fits["tasks"] = func(s singular, f fitting) (Model, error) {
		return orNil(MultiTask{Fitting: f.Fitting, Ascent: f.Ascent}.Fit(ctx, s.views, s.y, s.x.Slice(0, len(s.y), 0, 1).Clone().Data))
	}
	for _, standard := range []bool{false, true} {
		fits[fmt.Sprintf("spike and slab, standard=%t", standard)] = func(s singular, f fitting) (Model, error) {
			return orNil(SpikeSlab{Fitting: f.Fitting, Ascent: f.Ascent, StandardField: standard, RawFeatures: true}.Fit(ctx, s.x, s.y))
		}
	}
	for _, shared := range []bool{false, true} {
		fits[fmt.Sprintf("factors, shared noise=%t", shared)] = func(s singular, f fitting) (Model, error) {
			var table DenseTable
			for i := range s.x.Rows {
				table = append(table, s.x.Row(i))
			}
			return orNil(FactorAnalysis{Fitting: f.Fitting, Ascent: f.Ascent, Factors: 3, SharedNoise: shared, NoiseWeight: -1}.Fit(ctx, table))
		}
	}
	return fits
}

// TestNoFitIsLost fits every estimator to data without noise and nearly singular
// kernels. The environment variable MKL_FITS is the number of fits of a long run.
func TestNoFitIsLost(t *testing.T) {
	count := testkit.Fewer(100, 40)
	if v, err := strconv.Atoi(os.Getenv("MKL_FITS")); err == nil {
		count = v
	}
	fits := singularFits()
	names := slices.Sorted(maps.Keys(fits))
	ended := map[string]int{}
	for i := range count {
		name := names[i%len(names)]
		s := newSingular(uint64(i))
		where := fmt.Sprintf("seed %d, %s, %d×%d, %d views: %s", i, s.kind, s.x.Rows, s.x.Cols, len(s.views), name)
		m, err := fits[name](s, fitting{Fitting: Fitting{Seed: uint64(i), Workers: 1}, Ascent: Ascent{MaxSweeps: 1500}, allowDuplicates: true})
		if m == nil {
			require.Error(t, err, where)
			assert.Regexp(t, `^mkl: (labels|y\[|y: |views\[\d\].*: its kernel: entry)`, err.Error(), "%s: %v", where, err)
			ended["refused: "+strings.SplitN(err.Error(), ":", 3)[1]]++
			continue
		}
		reason := m.Trace().Reason
		var fell *vi.BoundError
		var collapsed *CollapsedError
		switch {
		case errors.As(err, &fell):
			t.Logf("%s: %v", where, err)
		case errors.As(err, &collapsed):
			reason += ", collapsed"
		default:
			assert.NoError(t, err, where)
		}
		ended[reason]++
	}
	for _, reason := range slices.Sorted(maps.Keys(ended)) {
		t.Logf("%4d  %s", ended[reason], reason)
	}
}
