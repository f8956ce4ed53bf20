package slab

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/internal/sweeptest"
)

// TestSweepTable prints how many sweeps a fit needs to come near the bound it converges
// to, and where, when and with what bound the default rule stops it.
func TestSweepTable(t *testing.T) {
	sweeptest.Wanted(t)
	ctx := context.Background()
	widths := []float64{.5, 1, 2, 3, 5, 8, 12}

	sparse := func(name string) sweeptest.Problem {
		c := sweeptest.Read(t, name)
		sweeptest.Standardise(c...)
		last := len(c) - 1
		x := sweeptest.Table(c[:last])
		return sweeptest.Problem{Name: name + ", spike and slab", Fit: func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error) {
			fit, err := Regression{Seed: seed, Ascent: a, Plain: plain}.Fit(ctx, x, c[last])
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	// The last columns are tasks, functions of the others.
	tasks := func(name string, inputs int, widths []float64) sweeptest.Problem {
		c := sweeptest.Read(t, name)
		sweeptest.Standardise(c...)
		var latents []Latent
		for _, k := range sweeptest.Kernels(c[:inputs], widths) {
			latents = append(latents, Latent{Covariance: FixedCovariance(k)})
		}
		y := sweeptest.Rows(c[inputs:])
		return sweeptest.Problem{Name: name + ", tasks", Fit: func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error) {
			fit, err := MultiTask{Seed: seed, Ascent: a, MeanOnly: true, Plain: plain}.Fit(ctx, latents, y)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	factors := func(name string, model Factors) sweeptest.Problem {
		c := sweeptest.Read(t, name)
		sweeptest.Standardise(c...)
		observed, err := ObserveMatrix(sweeptest.Table(c))
		require.NoError(t, err)
		return sweeptest.Problem{Name: name + ", factors", Fit: func(seed uint64, plain bool, a vi.Ascent) (vi.Record, error) {
			m := model
			m.Seed, m.Ascent, m.Plain = seed, a, plain
			fit, err := m.Fit(ctx, observed)
			if err != nil {
				return vi.Record{}, err
			}
			return fit.Record, nil
		}}
	}
	sweeptest.Print(t, []sweeptest.Problem{
		sparse("boston"), sparse("diabetes"), sparse("energy"), sparse("sonar"),
		tasks("mcycle", 1, []float64{.1, .5}), tasks("boston", 11, []float64{1, 4}), tasks("diabetes", 8, widths),
		factors("boston", Factors{Count: 10, Offsets: true}), factors("diabetes", Factors{Count: 10, Offsets: true}),
		factors("wine", Factors{Count: 6, Offsets: true}),
	})
}
