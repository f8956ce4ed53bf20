package mkl

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// classesOf fits a classifier to four samples with these two classes.
func classesOf[T comparable](a, b T) (*ClassifierModel[T], error) {
	x := inARow(4)
	return Classifier[T]{Ascent: Ascent{MaxSweeps: 1}}.Fit(context.Background(), []View{{X: x, Kernel: kernel.RBF{Width: 1}}}, []T{a, b, a, b})
}

// What cannot be a class is an error and no panic, and an error stays short.
func TestWhatIsNoClass(t *testing.T) {
	type inside struct{ X any }
	_, err := classesOf[any](1, []int{1})
	assert.EqualError(t, err, "mkl: labels[1]: [1] cannot be compared")
	_, err = classesOf(inside{1}, inside{[]int{1}})
	assert.EqualError(t, err, "mkl: labels[1]: {[1]} cannot be compared")
	_, err = classesOf[any](1, math.NaN())
	assert.EqualError(t, err, "mkl: labels[1]: NaN is no class, as it does not equal itself")
	_, err = classesOf([1]float64{1}, [1]float64{math.NaN()})
	assert.EqualError(t, err, "mkl: labels[1]: [NaN] is no class, as it does not equal itself")
	_, _, err = checkLabels([]any{1, []int{}}, []any{1, 2})
	assert.EqualError(t, err, "mkl: Classes[1]: [] cannot be compared")

	long := strings.Repeat("x", 1<<16)
	for _, given := range [][]string{{"a", "b"}, {long, long}, nil} {
		_, _, err := checkLabels(given, []string{long, long})
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 300)
	}
}

// A model whose classes a file would change cannot be saved; a file of such classes is an error.
func TestClassesThatJSONChanges(t *testing.T) {
	type hidden struct{ a int }
	type text string
	a, b := 1, 2
	save := func(m Model, err error) error {
		require.NoError(t, err)
		return m.Save(new(bytes.Buffer))
	}
	m, err := classesOf(hidden{1}, hidden{2})
	assert.EqualError(t, save(m, err), "mkl: save: class {1}: its JSON {} is read as another class")
	n, err := classesOf[text]("\xff", "\xfe")
	assert.ErrorContains(t, save(n, err), "is read as another class")
	p, err := classesOf(&a, &b)
	assert.ErrorContains(t, save(p, err), "is read as another class")
	q, err := classesOf[any](1, 2)
	assert.EqualError(t, save(q, err), "mkl: save: class 1: its JSON 1 is read as another class")
	r, err := classesOf[any]("1", 2.0)
	assert.NoError(t, save(r, err))
	s, err := classesOf[text]("é", "\x00")
	assert.NoError(t, save(s, err))

	_, err = decodeClasses[any](&fileReader{}, []json.RawMessage{[]byte("[1]"), []byte("2")}, 1, 1)
	assert.EqualError(t, err, "model: classes[0]: [1] cannot be compared")
}
