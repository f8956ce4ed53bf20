package sequence

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"unicode/utf8"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// Set holds the strings from which a model is learned, and the kernels that compare them.
// Its JSON holds both. Store it in the model's notes, so that a saved model
// can predict new strings later.
type Set struct {
	// Alphabet says which letters the strings have; the zero value treats each byte as a letter.
	Alphabet Alphabet

	// Kernels are the kernels. Each becomes a view.
	Kernels []Kernel

	// Strings are the N training strings.
	Strings []string

	// Workers is the largest number of goroutines at work; 0 means runtime.GOMAXPROCS(0). Results do
	// not depend on it.
	Workers int

	// Progress, if not nil, is called whenever [Set.Views] has finished some rows of a
	// kernel's matrix, which has N rows. Calls come from several goroutines.
	Progress func(rows int)
}

// Check returns an error for settings that make no sense, and for a set without strings or kernels. Functions that use the
// set check it too.
func (s *Set) Check() error {
	if err := s.Alphabet.check(); err != nil {
		return err
	}
	if len(s.Kernels) == 0 || len(s.Strings) == 0 {
		return fmt.Errorf("sequence: the set has %d kernels and %d strings: both are needed", len(s.Kernels), len(s.Strings))
	}
	for i, k := range s.Kernels {
		if k == nil {
			return fmt.Errorf("sequence: Kernels[%d] is nil", i)
		}
		if err := k.check(s.Alphabet); err != nil {
			return fmt.Errorf("sequence: Kernels[%d] (%v): %w", i, k, err)
		}
	}
	return nil
}

// Views returns the view of each kernel, in order, with the N×N matrix of the training
// strings. It returns an error for wrong settings, for a string that contains nothing that a kernel could compare,
// and if the context ends.
func (s *Set) Views(ctx context.Context) ([]mkl.View, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	basis := s.Alphabet.encodeAll(s.Strings)
	views := make([]mkl.View, len(s.Kernels))
	for i, k := range s.Kernels {
		t := s.task(basis, basis)
		t.same = true
		var reported atomic.Int64
		if s.Progress != nil {
			t.progress = func() {
				reported.Add(1)
				s.Progress(1)
			}
		}
		if err := k.values(ctx, t); err != nil {
			return nil, fmt.Errorf("sequence: Kernels[%d] (%v): %w", i, k, err)
		}
		if s.Progress != nil {
			s.Progress(len(s.Strings) - int(reported.Load()))
		}
		t.mirror()
		t.scale(k)
		for n := range s.Strings {
			if !(t.k.At(n, n) > 0) {
				return nil, fmt.Errorf("sequence: Strings[%d] (%d letters): has nothing that Kernels[%d] (%v) could compare", n, len(s.Strings[n]), i, k)
			}
		}
		views[i] = k.view(t.k)
	}
	return views, nil
}

// Inputs returns the matrices that a model fitted to the set's views needs to predict other
// strings, one for each view: the kernel of each string (row) with the N training
// strings, and with itself in the last column. [Pairwise] has no such column. For many calls
// with few strings [Set.Comparer] is faster.
func (s *Set) Inputs(ctx context.Context, strings []string) ([]mkl.Features, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	basis := s.Alphabet.encodeAll(s.Strings)
	inputs := make([]mkl.Features, len(s.Kernels))
	for i := range s.Kernels {
		var err error
		if inputs[i], err = s.input(ctx, i, s.task(basis, s.Alphabet.encodeAll(strings))); err != nil {
			return nil, err
		}
	}
	return inputs, nil
}

// input computes a task of other strings with kernel i.
func (s *Set) input(ctx context.Context, i int, t *task) (mkl.Features, error) {
	k := s.Kernels[i]
	if err := k.values(ctx, t); err != nil {
		return mkl.Features{}, fmt.Errorf("sequence: Kernels[%d] (%v): %w", i, k, err)
	}
	t.scale(k)
	if _, ok := k.(Pairwise); ok {
		return t.k, nil
	}
	N := len(s.Strings)
	wide := la.NewMatrix[float64](len(t.x), N+1)
	for n := range t.x {
		row := wide.Row(n)
		copy(row, t.k.Row(n))
		row[N] = withItself(k.scaled(t.xSelf[n], t.xSelf[n], t.xSelf[n]))
	}
	return wide, nil
}

func (s *Set) task(basis, x [][]uint16) *task {
	return &task{
		alphabet: s.Alphabet, basis: basis, x: x, workers: s.Workers,
		k: la.NewMatrix[float64](len(x), len(basis)), basisSelf: make([]float64, len(basis)), xSelf: make([]float64, len(x)),
	}
}

// scale scales the kernel to unit diagonal.
func (t *task) scale(k Kernel) {
	rows := t.xSelf
	if t.same {
		rows = t.basisSelf
	}
	for i := range t.k.Rows {
		row := t.k.Row(i)
		for j, v := range row {
			row[j] = k.scaled(v, rows[i], t.basisSelf[j])
		}
		if t.same {
			row[i] = withItself(row[i])
		}
	}
}

// withItself removes the rounding from a string's scaled kernel with itself, which is 1, or 0
// if there is nothing to compare.
func withItself(v float64) float64 {
	if v > 0 {
		return 1
	}
	return 0
}

// setJSON is a [Set] with its kernels in their notation.
type setJSON struct {
	Alphabet string   `json:"alphabet"`
	Kernels  []string `json:"kernels"`
	Strings  []string `json:"strings"`
}

// MarshalJSON implements [json.Marshaler]. It returns an error for strings that are not UTF-8.
func (s *Set) MarshalJSON() ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	j := setJSON{Alphabet: s.Alphabet.String(), Strings: s.Strings}
	for _, k := range s.Kernels {
		j.Kernels = append(j.Kernels, k.String())
	}
	for i, x := range s.Strings {
		if !utf8.ValidString(x) {
			return nil, fmt.Errorf("sequence: Strings[%d] is not UTF-8", i)
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Set) UnmarshalJSON(text []byte) error {
	var j setJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("sequence: %w", err)
	}
	a, err := ParseAlphabet(j.Alphabet)
	if err != nil {
		return err
	}
	read := Set{Alphabet: a, Strings: j.Strings}
	for _, text := range j.Kernels {
		k, err := Parse(text)
		if err != nil {
			return err
		}
		read.Kernels = append(read.Kernels, k)
	}
	if err := read.Check(); err != nil {
		return err
	}
	*s = read
	return nil
}
