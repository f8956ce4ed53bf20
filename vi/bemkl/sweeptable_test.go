package bemkl

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/sweeptest"
)

// gaussianKernels returns the kernels of the given widths of columns, which it standardises.
func gaussianKernels(t *testing.T, columns [][]float64, widths []float64) *vi.Dense {
	sweeptest.Standardise(columns...)
	k, err := vi.NewDense(sweeptest.Kernels(columns, widths)...)
	require.NoError(t, err)
	return k
}

// labelsOf returns a row of ±1 for each class, one row if there are two.
func labelsOf(y []float64) la.Matrix[float64] {
	classes := int(slices.Max(y)) + 1
	if classes == 2 {
		classes = 1
	}
	m := la.NewMatrix[float64](classes, len(y))
	m.Fill(-1)
	for i, v := range y {
		if int(v) < classes {
			m.Set(int(v), i, 1)
		}
	}
	return m
}

// expect turns k into the kernel of samples where some samples lack the view,
// docs/theory/missing-views.md.
func expect(k la.Matrix[float64], lacks []int) {
	means, n := make([]float64, k.Rows), 0.0
	for i, without := range lacks {
		if without == 0 {
			la.Axpy(1, k.Row(i), means)
			n++
		}
	}
	la.Scal(1/n, means)
	var mean float64
	for i, without := range lacks {
		if without == 0 {
			mean += means[i] / n
		}
	}
	for i, without := range lacks {
		for j, too := range lacks {
			switch {
			case without == 1 && too == 1:
				k.Set(i, j, mean)
			case without == 1:
				k.Set(i, j, means[j])
			case too == 1:
				k.Set(i, j, means[i])
			}
		}
	}
}

func sweepProblems(t *testing.T) []sweeptest.Problem {
	ctx := context.Background()
	octaves := make([]float64, 21)
	for i := range octaves {
		octaves[i] = math.Ldexp(1, i-10)
	}
	widths := []float64{.5, 1, 2, 3, 5, 8, 12}
	sparse := vi.Gamma{Shape: 1e-10, Scale: 1e10}

	regression := func(name string, r Regression, k vi.Kernels, y la.Matrix[float64]) sweeptest.Problem {
		return sweeptest.Problem{Name: name, Fit: func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error) {
			r.Seed, r.Ascent, r.Plain = seed, a, plain
			fit, err := r.Fit(ctx, k, y)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	shared := func(name string, r SharedRegression, k vi.Kernels, y la.Matrix[float64]) sweeptest.Problem {
		return sweeptest.Problem{Name: name, Fit: func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error) {
			r.Seed, r.Ascent, r.Plain = seed, a, plain
			fit, err := r.Fit(ctx, k, y)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	classification := func(name string, widths []float64) sweeptest.Problem {
		c := sweeptest.Read(t, name)
		last := len(c) - 1
		k, y := gaussianKernels(t, c[:last], widths), labelsOf(c[last])
		return sweeptest.Problem{Name: name, Fit: func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error) {
			fit, err := Classification{Seed: seed, Ascent: a, Plain: plain}.Fit(ctx, k, y)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}

	motor := sweeptest.Read(t, "mcycle")
	sweeptest.Standardise(motor[1])
	motorK, motorY := gaussianKernels(t, motor[:1], octaves), sweeptest.Rows(motor[1:])
	diabetes := sweeptest.Read(t, "diabetes")
	sweeptest.Standardise(diabetes[10])
	diabetesK, diabetesY := gaussianKernels(t, diabetes[:10], widths), sweeptest.Rows(diabetes[10:])
	// The six blood serum measurements from age, sex, body mass index and blood pressure.
	serumK, serumY := gaussianKernels(t, diabetes[:4], widths), sweeptest.Rows(diabetes[4:10])
	// Six assays of wines from the other seven. The columns are standardised in place.
	wine := sweeptest.Read(t, "wine")
	gaussianKernels(t, wine[7:13], widths)
	assaysK, assaysY := gaussianKernels(t, wine[:7], widths), sweeptest.Rows(wine[7:13])
	// The second half of the columns is a view that every third sample lacks.
	views := append(sweeptest.Kernels(diabetes[:5], []float64{1, 3, 8}), sweeptest.Kernels(diabetes[5:10], []float64{1, 3, 8})...)
	lacks := make([]int, len(diabetes[0]))
	for i := range lacks {
		lacks[i] = i % 3 / 2
	}
	for _, k := range views[3:] {
		expect(k, lacks)
	}
	viewsK, err := vi.NewDense(views...)
	require.NoError(t, err)
	halves := make([]int, len(motor[0]))
	for i := range halves {
		halves[i] = 2 * i / len(halves)
	}
	return []sweeptest.Problem{
		regression("motorcycle", Regression{}, motorK, motorY),
		regression("motorcycle, λ sparse", Regression{Lambda: sparse}, motorK, motorY),
		regression("motorcycle, ω sparse", Regression{Omega: sparse}, motorK, motorY),
		regression("motorcycle, λ and ω sparse", Regression{Lambda: sparse, Omega: sparse}, motorK, motorY),
		regression("motorcycle, noise of each half", Regression{Groups: halves}, motorK, motorY),
		regression("diabetes, a view missing", Regression{Groups: lacks}, viewsK, diabetesY),
		regression("diabetes, a view missing, ω sparse", Regression{Groups: lacks, Omega: sparse}, viewsK, diabetesY),
		regression("diabetes", Regression{}, diabetesK, diabetesY),
		regression("diabetes, ω sparse", Regression{Omega: sparse}, diabetesK, diabetesY),
		regression("diabetes, λ sparse", Regression{Lambda: sparse}, diabetesK, diabetesY),
		regression("diabetes, λ and ω sparse", Regression{Lambda: sparse, Omega: sparse}, diabetesK, diabetesY),
		regression("serum", Regression{}, serumK, serumY),
		regression("assays", Regression{}, assaysK, assaysY),
		shared("serum, shared", SharedRegression{}, serumK, serumY),
		shared("serum, shared, λ and ω sparse", SharedRegression{Lambda: sparse, Omega: sparse}, serumK, serumY),
		shared("assays, shared", SharedRegression{}, assaysK, assaysY),
		classification("ionosphere", widths),
		classification("iris", widths),
		classification("wine", widths),
		classification("sonar", widths),
	}
}

// TestSweepTable prints how many sweeps a fit needs to come near the bound it converges
// to, and where, when and with what bound the default rule stops it.
func TestSweepTable(t *testing.T) {
	sweeptest.Wanted(t)
	sweeptest.Print(t, sweepProblems(t))
}
