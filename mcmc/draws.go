package mcmc

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// Variable is a scalar, a vector or a matrix. Every draw has a value of it. Name
// selects it in the methods of [Draws].
type Variable struct {
	Name       string
	Rows, Cols int // its shape: 1×1 for a scalar, 1×length for a vector
}

func (v Variable) size() int { return v.Rows * v.Cols }

// Move reports how often a Metropolis–Hastings step was accepted since the burn-in.
type Move struct {
	Step            string // what it moves, such as "beta[0]"
	Tried, Accepted uint64 // how many proposals it made, and how many were accepted
}

// Rate returns the share of proposals that were accepted, NaN before the first.
func (m Move) Rate() float64 { return float64(m.Accepted) / float64(m.Tried) }

// Draws holds the draws of several chains: in each draw a value of each variable.
// Chains and draws are counted from 0. It is immutable and safe for concurrent use.
// Its methods panic if a chain, a draw or the name of a variable does not exist.
type Draws struct {
	variables []Variable
	width     int         // how many numbers a draw consists of
	chains    [][]float64 // for each chain, its draws one behind the other
	moves     [][]Move    // for each chain, or one list for all together
}

func newDraws(t target, chains []*chain) *Draws {
	d := &Draws{variables: t.variables}
	for _, v := range t.variables {
		d.width += v.size()
	}
	for _, c := range chains {
		d.chains = append(d.chains, c.kept)
		d.moves = append(d.moves, c.sampler.moves())
	}
	return d
}

// Chains returns the number of chains.
func (d *Draws) Chains() int { return len(d.chains) }

// Len returns the number of draws of each chain. After a run that was interrupted
// chains may differ; the length is then the shortest chain's.
func (d *Draws) Len() int {
	n := len(d.chains[0])
	for _, c := range d.chains {
		n = min(n, len(c))
	}
	return n / d.width
}

// Variables returns what a draw consists of.
func (d *Draws) Variables() []Variable { return slices.Clone(d.variables) }

// find returns a variable and its place in a draw. It panics for an unknown name,
// which is a mistake in the program and not in its data.
func (d *Draws) find(name string) (v Variable, offset int) {
	for _, v := range d.variables {
		if v.Name == name {
			return v, offset
		}
		offset += v.size()
	}
	panic(fmt.Sprintf("mcmc: no variable %q among %v", name, d.variables))
}

// Value returns the value of a variable in a draw. It shares memory with d and must
// not be changed.
func (d *Draws) Value(name string, chain, draw int) la.Matrix[float64] {
	v, offset := d.find(name)
	at := draw*d.width + offset
	return la.MatrixOf(v.Rows, v.Cols, d.chains[chain][at:at+v.size()])
}

// Series returns the values of element (i, j) of a variable, a row of Len values for
// each chain. It panics if there is no such element.
func (d *Draws) Series(name string, i, j int) [][]float64 {
	v, offset := d.find(name)
	if i < 0 || i >= v.Rows || j < 0 || j >= v.Cols {
		panic(fmt.Sprintf("mcmc: element (%d, %d) of the %d×%d variable %q", i, j, v.Rows, v.Cols, name))
	}
	return d.series(offset + i*v.Cols + j)
}

func (d *Draws) series(at int) [][]float64 {
	n := d.Len()
	out := make([][]float64, len(d.chains))
	for c, x := range d.chains {
		out[c] = make([]float64, n)
		for t := range n {
			out[c][t] = x[t*d.width+at]
		}
	}
	return out
}

// Mean returns the mean of a variable over all draws of all chains, in the shape of
// the variable.
func (d *Draws) Mean(name string) la.Matrix[float64] {
	v, _ := d.find(name)
	mean := la.NewMatrix[float64](v.Rows, v.Cols)
	n := d.Len()
	for c := range d.chains {
		for t := range n {
			la.Axpy(1/float64(n*len(d.chains)), d.Value(name, c, t).Data, mean.Data)
		}
	}
	return mean
}

// Summary returns a summary of each element of a variable, row after row.
func (d *Draws) Summary(name string) []Summary {
	v, offset := d.find(name)
	out := make([]Summary, v.size())
	for k := range out {
		out[k] = Summarise(d.series(offset + k))
	}
	return out
}

// Moves returns how each Metropolis–Hastings step has fared, all chains together. A
// sampler without such steps has none.
func (d *Draws) Moves() []Move {
	var all []Move
	for _, chain := range d.moves {
		for i, m := range chain {
			if i == len(all) {
				all = append(all, Move{Step: m.Step})
			}
			all[i].Tried += m.Tried
			all[i].Accepted += m.Accepted
		}
	}
	return all
}
