package mkl

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/gram"
)

// levelOdds are effects of the levels of columns of categories on the log odds of classes, in a pool of very many samples. The members see the
// effects: the first of a column in the place of the codes, and the others behind the columns of the input. See docs/theory/levels.md.
type levelOdds struct {
	columns []oddsColumn
}

// oddsColumn holds the effects of a column's levels. A column without an effect has no codes.
type oddsColumn struct {
	input, column int
	codes         []float64   // ascending
	classes       []int       // each against all others
	effects       [][]float64 // [class][code]
}

// added returns how many columns the effects of a column add to an input.
func (c *oddsColumn) added() int { return max(0, len(c.classes)-1) }

// added returns how many columns the members see behind the columns of an input.
func (l *levelOdds) added(input int) (n int) {
	for i := range l.columns {
		if l.columns[i].input == input {
			n += l.columns[i].added()
		}
	}
	return n
}

// inputs returns the inputs of the pool, given the members'.
func (l *levelOdds) inputs(members []ModelInput) []ModelInput {
	if l == nil {
		return members
	}
	for k := range members {
		members[k].Cols -= l.added(k)
	}
	return members
}

// points is inputs for single samples.
func (l *levelOdds) points(members []gram.Input) []gram.Input {
	if l == nil {
		return members
	}
	members = slices.Clone(members)
	for k := range members {
		members[k].Cols -= l.added(k)
	}
	return members
}

// row stores a sample of the input as members see it in out, which begins with the sample's own values. Of a code that is not finite the place
// stays, to be refused.
func (l *levelOdds) row(input int, out []float64) {
	next := len(out) - l.added(input)
	for i := range l.columns {
		c := &l.columns[i]
		if c.input != input {
			continue
		}
		code := out[c.column]
		at, found := slices.BinarySearch(c.codes, code)
		if code-code == 0 {
			out[c.column] = 0
		}
		for k := range c.classes {
			place := c.column
			if k > 0 {
				place = next
				next++
			}
			if found {
				out[place] = c.effects[k][at]
			}
		}
	}
}

// matrices returns the samples as members see them. It returns an error for other matrices than the pool's inputs.
func (l *levelOdds) matrices(inputs []ModelInput, x []Features) ([]Features, error) {
	if l == nil {
		return x, nil
	}
	if len(x) != len(inputs) {
		return nil, fmt.Errorf("mkl: %d input matrices where the model needs %d, one for each Input of its views", len(x), len(inputs))
	}
	out := make([]Features, len(x))
	for k := range x {
		arg := fmt.Sprintf("x[%d]", k)
		if err := gram.CheckLayout(arg, x[k]); err != nil {
			return nil, err
		}
		if x[k].Cols != inputs[k].Cols {
			return nil, fmt.Errorf("mkl: %s: %d×%d where %d columns are needed (features)", arg, x[k].Rows, x[k].Cols, inputs[k].Cols)
		}
		out[k] = widened(x[k], l.added(k))
		for i := range out[k].Rows {
			l.row(k, out[k].Row(i))
		}
	}
	return out, nil
}

// point is matrices for one sample, which the model has checked. It returns memory of r.
func (l *levelOdds) point(r *levelRow, x [][]float64) [][]float64 {
	r.x = slices.Grow(r.x[:0], len(x))[:len(x)]
	for k, of := range x {
		r.x[k] = append(r.x[k][:0], of...)
		for range l.added(k) {
			r.x[k] = append(r.x[k], 0)
		}
		l.row(k, r.x[k])
	}
	return r.x
}
