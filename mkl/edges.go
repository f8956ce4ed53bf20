package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// edges are how far features of a pool of very many samples count, [input][feature] low and high: to a standard deviation beyond
// the training samples. A value further away is moved back to there, so that linear kernels do not continue for ever. They are nil where
// views have kernels of their own.
type edges [][][2]float64

// edgesOf returns the edges by the training samples of each input.
func edgesOf(x []Features) (all edges) {
	for _, m := range x {
		of := make([][2]float64, m.Cols)
		values := make([]float64, m.Rows)
		for j := range of {
			for i := range values {
				values[i] = m.At(i, j)
			}
			_, sd := vec.MeanSD(values)
			of[j] = [2]float64{max(slices.Min(values)-sd, -math.MaxFloat64), min(slices.Max(values)+sd, math.MaxFloat64)}
		}
		all = append(all, of)
	}
	return all
}

// value returns what counts of a value. Values that are not finite stay, to be refused.
func (e edges) value(input, feature int, v float64) float64 {
	if v-v != 0 {
		return v
	}
	return min(max(v, e[input][feature][0]), e[input][feature][1])
}

// row returns what counts of a sample: the sample itself if that is all of it, or if it has not the right number of features.
func (e edges) row(x [][]float64) [][]float64 {
	out := x
	for k, of := range e {
		if k >= len(x) || len(x[k]) != len(of) {
			return x
		}
		for j, v := range x[k] {
			to := e.value(k, j, v)
			if to == v || v != v {
				continue
			}
			if &out[0] == &x[0] {
				out = slices.Clone(x)
			}
			if &out[k][0] == &x[k][0] {
				out[k] = slices.Clone(x[k])
			}
			out[k][j] = to
		}
	}
	return out
}

// matrices returns what counts of samples: the matrices themselves where that is all of them, or where they have not the right
// number of columns.
func (e edges) matrices(x []Features) []Features {
	out := slices.Clone(x)
	for k, of := range e {
		if k >= len(x) || x[k].Cols != len(of) {
			return x
		}
		moved := false
		for i := range x[k].Rows {
			for j := range of {
				v := x[k].At(i, j)
				to := e.value(k, j, v)
				if to == v || v != v {
					continue
				}
				if !moved {
					out[k], moved = x[k].Clone(), true
				}
				out[k].Set(i, j, to)
			}
		}
	}
	return out
}

// check reports edges of a file that are not of the model's inputs.
func (e edges) check(inputs []ModelInput) error {
	if e != nil && len(e) != len(inputs) {
		return fmt.Errorf("model: edges of %d inputs where there are %d", len(e), len(inputs))
	}
	for k, of := range e {
		if len(of) != inputs[k].Cols {
			return fmt.Errorf("model: edges[%d] has %d features where the input has %d", k, len(of), inputs[k].Cols)
		}
		for j, v := range of {
			if vec.FirstNonFinite(v[:]) >= 0 || v[0] > v[1] {
				return fmt.Errorf("model: edges[%d][%d] is %v", k, j, v)
			}
		}
	}
	return nil
}
