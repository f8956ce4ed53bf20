package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// table is a file of numbers whose first column has the counts.
type table struct {
	x mkl.Features
	y []float64
}

func readTable(name string) (t table, err error) {
	f, err := os.Open(name)
	if err != nil {
		return t, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return t, err
	}
	if len(rows) < 2 {
		return t, fmt.Errorf("%s: no rows", name)
	}
	t.x = la.NewMatrix[float64](len(rows)-1, len(rows[0])-1)
	for i, row := range rows[1:] {
		for j, cell := range row {
			v, err := strconv.ParseFloat(cell, 64)
			switch {
			case err != nil:
				return t, fmt.Errorf("%s, line %d: %w", name, i+2, err)
			case j == 0:
				t.y = append(t.y, v)
			default:
				t.x.Set(i, j-1, v)
			}
		}
	}
	return t, nil
}

func (t table) rows(at []int) table {
	out := table{x: t.x.TakeRows(at)}
	for _, i := range at {
		out.y = append(out.y, t.y[i])
	}
	return out
}

// columns returns the table with each number v in column j at to(j), as new(j, v).
func (t table) columns(to func(j int) int, new func(j int, v float64) float64) table {
	x := la.NewMatrix[float64](t.x.Rows, t.x.Cols)
	for i := range x.Rows {
		for j, v := range t.x.Row(i) {
			x.Set(i, to(j), new(j, v))
		}
	}
	return table{x, t.y}
}

// retold fits counts of files three quarters of whose rows are for training, and fits the same rows again in other orders and units. It prints
// the mean logarithm of the probability of the other rows' counts, and by how many of its SDs the function differs at these rows from the
// function of the rows as they are: the root mean square and the largest difference.
func retold(files string, landmarks, seeds int) error {
	for _, name := range strings.Split(files, ",") {
		t, err := readTable(name)
		if err != nil {
			return err
		}
		for seed := range seeds {
			if err := retell(name, t, landmarks, uint64(seed)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func retell(name string, t table, landmarks int, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 44))
	order := r.Perm(len(t.y))
	n := len(order) * 3 / 4
	again := slices.Clone(order[:n])
	r.Shuffle(n, func(i, j int) { again[i], again[j] = again[j], again[i] })
	same, stay := func(_ int, v float64) float64 { return v }, func(j int) int { return j }
	backwards := func(j int) int { return t.x.Cols - 1 - j }
	ways := []struct {
		name string
		to   func(int) int
		unit func(int, float64) float64
		rows []int
	}{
		{"as they are", stay, same, order[:n]},
		{"rows", stay, same, again},
		{"columns", backwards, same, order[:n]},
		{"tens", stay, func(_ int, v float64) float64 { return 10 * v }, order[:n]},
		{"degrees", stay, func(_ int, v float64) float64 { return float64(1.8*v) + 32 }, order[:n]},
	}
	var first, sd []float64
	for _, w := range ways {
		all := t.columns(w.to, w.unit)
		nats, mean, deviation, err := fitCounts(all.rows(w.rows), all.rows(order[n:]), landmarks)
		if err != nil {
			return err
		}
		if first == nil {
			first, sd = mean, deviation
		}
		var square, most float64
		for i, m := range mean {
			d := math.Abs(m-first[i]) / sd[i]
			square, most = square+float64(d*d)/float64(len(mean)), max(most, d)
		}
		fmt.Printf("| %s | %d | %s | %.5f | %.2g | %.2g |\n", name, seed, w.name, nats, math.Sqrt(square), most)
	}
	return nil
}

// fitCounts returns the mean log probability of the test's counts, and the mean and the SD of the function there.
func fitCounts(train, test table, landmarks int) (nats float64, mean, sd []float64, err error) {
	views, _, err := mkl.FillViews(mkl.KernelsBroad, []mkl.View{{X: train.x}})
	if err != nil {
		return 0, nil, nil, err
	}
	m, err := mkl.Counts{Landmarks: landmarks}.Fit(context.Background(), views, train.y)
	if err != nil {
		return 0, nil, nil, err
	}
	p, err := m.PredictCounts(context.Background(), mkl.PredictOptions{}, nil, test.x)
	if err != nil {
		return 0, nil, nil, err
	}
	d := m.Dispersion()
	expected, variance := p.Moments()
	for i, e := range expected {
		nats += p.LogProbability(i, test.y[i]) / float64(len(expected))
		// The variance is e + e²·(exp(v)·(1+d) − 1) for the variance v of the function.
		v := math.Log((1 + (variance[i]-e)/float64(e*e)) / (1 + d))
		mean, sd = append(mean, math.Log(e)-float64(0.5*v)), append(sd, math.Sqrt(v))
	}
	return nats, mean, sd, nil
}
