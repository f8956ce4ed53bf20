package mkl

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/bmkl/bmkl/la"
)

// Label says whether a sample has a label.
type Label int8

// What may be known of a sample and a label.
const (
	LabelUnknown Label = iota // nothing: the sample is left out of the label's likelihood
	LabelAbsent               // the sample does not have it
	LabelPresent              // the sample has it
)

// checkLabels reports what is wrong with the classes that samples are labelled
// with, and returns the classes and the index of each sample's class. given are
// the classes in the order wanted; nil stands for the order in which the labels
// first appear. Each class has a sample.
func checkLabels[T comparable](given, labels []T) (classes []T, index []int, err error) {
	classes, index, err = indexLabels(given, labels)
	if err != nil {
		return nil, nil, err
	}
	seen := make([]bool, len(classes))
	for _, j := range index {
		seen[j] = true
	}
	if j := slices.Index(seen, false); j >= 0 {
		return nil, nil, fmt.Errorf("mkl: labels: class %s has no sample", brief(classes[j]))
	}
	return classes, index, nil
}

// indexLabels is checkLabels that lets given classes have no sample, but for two of them.
func indexLabels[T comparable](given, labels []T) (classes []T, index []int, err error) {
	if len(labels) < 2 {
		return nil, nil, fmt.Errorf("mkl: labels: %d samples where at least 2 are needed", len(labels))
	}
	at, err := indexClasses(given)
	if err != nil {
		return nil, nil, err
	}
	classes = slices.Clone(given)
	differ := false
	hashable := hashableClass[T]()
	for i, label := range labels {
		if err := hashable(label); err != nil {
			return nil, nil, fmt.Errorf("mkl: labels[%d]: %w", i, err)
		}
		j, ok := at[label]
		if !ok {
			if given != nil {
				return nil, nil, fmt.Errorf("mkl: labels[%d] is %s, which is not one of Classes", i, brief(label))
			}
			if err := checkClass(label); err != nil {
				return nil, nil, fmt.Errorf("mkl: labels[%d]: %w", i, err)
			}
			j = len(classes)
			at[label] = j
			classes = append(classes, label)
		}
		index = append(index, j)
		differ = differ || j != index[0]
	}
	if !differ {
		return nil, nil, fmt.Errorf("mkl: labels: every label is %s: there is nothing to learn", brief(labels[0]))
	}
	return classes, index, nil
}

// checkClass reports a class that is a text which a file cannot keep as it is.
func checkClass[T comparable](class T) error {
	if text, ok := any(class).(string); ok {
		return checkText(text)
	}
	return nil
}

// hashableClass returns what reports a label that can be no class: one that does not equal itself, as a NaN,
// or that an interface holds and nothing can be compared with, as a slice.
func hashableClass[T comparable]() func(label T) error {
	var inside bool // what is comparable can hold what is not
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Interface, reflect.Struct, reflect.Array:
		inside = true
	}
	return func(label T) error {
		if inside && !reflect.ValueOf(&label).Elem().Comparable() {
			return fmt.Errorf("%s cannot be compared", brief(label))
		}
		if label != label {
			return fmt.Errorf("%s is no class, as it does not equal itself", brief(label))
		}
		return nil
	}
}

// indexClasses returns the index of each class, or an error if one is there twice.
func indexClasses[T comparable](classes []T) (map[T]int, error) {
	at := map[T]int{}
	hashable := hashableClass[T]()
	for i, class := range classes {
		if err := hashable(class); err != nil {
			return nil, fmt.Errorf("mkl: Classes[%d]: %w", i, err)
		}
		if j, ok := at[class]; ok {
			return nil, fmt.Errorf("mkl: Classes[%d] and Classes[%d] are both %s", j, i, brief(class))
		}
		if err := checkClass(class); err != nil {
			return nil, fmt.Errorf("mkl: Classes[%d]: %w", i, err)
		}
		at[class] = i
	}
	return at, nil
}

// oneAgainstRest returns the labels ±1, functions × samples, of the functions that
// tell the classes apart: of two classes one function, which is positive for the
// second; of more a function for each class.
func oneAgainstRest(classes int, index []int) la.Matrix[float64] {
	y := la.NewMatrix[float64](functions(classes), len(index))
	y.Fill(-1)
	for i, class := range index {
		switch {
		case classes > 2:
			y.Set(class, i, 1)
		case class == 1:
			y.Set(0, i, 1)
		}
	}
	return y
}

// LabelsOf returns the labels of samples of which it is known whether they have the label.
func LabelsOf(has []bool) []Label {
	labels := make([]Label, len(has))
	for i, present := range has {
		labels[i] = LabelAbsent
		if present {
			labels[i] = LabelPresent
		}
	}
	return labels
}

// checkKnown reports what is wrong with labels that samples have or have not, and
// returns them as ±1, labels × samples, with NaN for those that are not known.
func checkKnown(labels [][]Label) (y la.Matrix[float64], err error) {
	if len(labels) == 0 {
		return y, errors.New("mkl: labels: none given")
	}
	n := len(labels[0])
	if n < 2 {
		return y, fmt.Errorf("mkl: labels[0]: %d samples where at least 2 are needed", n)
	}
	y = la.NewMatrix[float64](len(labels), n)
	for o, label := range labels {
		if len(label) != n {
			return y, fmt.Errorf("mkl: labels[%d]: %d samples where labels[0] has %d", o, len(label), n)
		}
		row := y.Row(o)
		for i, v := range label {
			switch v {
			case LabelUnknown:
				row[i] = math.NaN()
			case LabelAbsent:
				row[i] = -1
			case LabelPresent:
				row[i] = 1
			default:
				return y, fmt.Errorf("mkl: labels[%d][%d] is Label(%d)", o, i, v)
			}
		}
		for _, need := range []struct {
			label Label
			words string
		}{{LabelAbsent, "not to have"}, {LabelPresent, "to have"}} {
			if !slices.Contains(label, need.label) {
				return y, fmt.Errorf("mkl: labels[%d]: no sample is known %s it: there is nothing to learn", o, need.words)
			}
		}
	}
	return y, nil
}

// classSet is the classes of a model, in the order of probabilities and decisions.
type classSet[T comparable] struct {
	names []T
	text  []json.RawMessage // those of a loaded model as its file has them
}

// against names a function in words; rest is said of more than two classes.
func (c *classSet[T]) against(function int, rest string) string {
	if len(c.names) == 2 {
		return fmt.Sprintf("class %v against %v", c.names[1], c.names[0])
	}
	return fmt.Sprintf("class %v%s", c.names[function], rest)
}

// encode returns the classes as JSON: the text of a loaded model, else what their
// type makes of them, which must be the same class when it is read.
func (c *classSet[T]) encode(f *fileWriter) []json.RawMessage {
	text := slices.Clone(c.text)
	for _, class := range c.names[len(text):] {
		t, err := json.Marshal(class)
		if err != nil {
			f.fail(fmt.Errorf("class %s: %w", brief(class), err))
		} else if back, err := decodeClass[T](t, false); err != nil || back != class {
			f.fail(fmt.Errorf("class %s: its JSON %s is read as another class", brief(class), brief(string(t))))
		}
		text = append(text, t)
	}
	return text
}

// decodeClasses reads the classes of a model. They need so many functions, which
// must be as many as the tensors have.
func decodeClasses[T comparable](f *fileReader, text []json.RawMessage, need, have int) (classSet[T], error) {
	c := classSet[T]{text: text}
	if len(text) < 2 || need != have {
		return c, fmt.Errorf("model: %d classes with %d functions", len(text), have)
	}
	seen, hashable := map[T]bool{}, hashableClass[T]()
	for i, t := range text {
		class, err := decodeClass[T](t, f.anyClass)
		if err != nil {
			return c, fmt.Errorf("model: classes[%d]: %w", i, err)
		}
		if err := hashable(class); err != nil {
			return c, fmt.Errorf("model: classes[%d]: %w", i, err)
		}
		if seen[class] {
			return c, fmt.Errorf("model: classes[%d]: %s is there twice", i, brief(class))
		}
		seen[class] = true
		c.names = append(c.names, class)
	}
	return c, nil
}

// decodeClass reads a class. If any is to be read as a string, those that are no
// strings become their JSON text.
func decodeClass[T comparable](text json.RawMessage, anyClass bool) (class T, err error) {
	if s, ok := any(&class).(*string); ok && anyClass && len(text) > 0 && text[0] != '"' {
		*s = string(text)
		return class, nil
	}
	return class, strictJSON(text, &class)
}
