package sequence

import (
	"context"
	"slices"

	"github.com/bmkl/bmkl/mkl"
)

// Comparer compares strings with the strings of a [Set], one after another, as [Set.Inputs] does. It
// computes in advance what depends only on the set. It is safe for concurrent use.
type Comparer struct {
	set   Set
	basis [][]uint16
	known []*task // by kernel
}

// mostKept limits the occurrences of substrings in the indexes that a kernel keeps, 16 bytes
// each. Further indexes, which [Oligomer] needs for long strings, are computed each time.
const mostKept = 1 << 22

// Comparer prepares the set's strings. It returns the errors that [Set.Inputs] returns.
func (s *Set) Comparer(ctx context.Context) (*Comparer, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	c := &Comparer{set: *s, basis: s.Alphabet.encodeAll(s.Strings)}
	for i := range s.Kernels {
		t := s.task(c.basis, [][]uint16{nil})
		t.keep = mostKept
		if _, err := s.input(ctx, i, t); err != nil {
			return nil, err
		}
		t.known = true
		c.known = append(c.known, t)
	}
	return c, nil
}

// Inputs does what [Set.Inputs] does.
func (c *Comparer) Inputs(ctx context.Context, strings []string) ([]mkl.Features, error) {
	x := c.set.Alphabet.encodeAll(strings)
	inputs := make([]mkl.Features, len(c.known))
	for i, k := range c.known {
		t := c.set.task(c.basis, x)
		t.basisSelf, t.known, t.indexes = k.basisSelf, true, slices.Clip(k.indexes)
		var err error
		if inputs[i], err = c.set.input(ctx, i, t); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// Rows returns the input of a predictor of single points, such as [mkl.Predictor], for one string: a
// row for each kernel. It works in one goroutine.
func (c *Comparer) Rows(s string) [][]float64 {
	one := *c
	one.set.Workers = 1
	inputs, err := one.Inputs(context.Background(), []string{s})
	if err != nil {
		panic(err) // the settings were checked when the set was prepared, and this context does not end
	}
	rows := make([][]float64, len(inputs))
	for i, x := range inputs {
		rows[i] = x.Row(0)
	}
	return rows
}
