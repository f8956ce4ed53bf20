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

// What may be known about a sample and a label.
const (
	LabelUnknown Label = iota // nothing: the sample is left out of the label's likelihood
	LabelAbsent               // the sample does not have the label
	LabelPresent              // the sample has the label
)

// checkLabels checks the classes of samples,
// and returns the classes and the index of each sample's class. given are
// the classes in the order wanted; nil means the order in which the labels
// first appear. It returns an error if a class has no sample.
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

// indexLabels is checkLabels, but only two of the given classes must have a sample.
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

// checkClass returns an error for a class whose text a file cannot keep unchanged.
func checkClass[T comparable](class T) error {
	if text, ok := any(class).(string); ok {
		return checkText(text)
	}
	return nil
}

// hashableClass returns a function that checks whether a label can be a class. A label cannot if it does not equal itself,
// such as NaN, or if it is an interface with a value that cannot be compared, such as a slice.
func hashableClass[T comparable]() func(label T) error {
	var inside bool // a comparable type can hold values that are not comparable
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

// indexClasses returns the index of each class, or an error if a class appears twice.
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
// distinguish the classes. Two classes have one function, which is positive for the
// second class; more classes have one function each.
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

// LabelsOf returns the labels of samples if it is known for all of them whether they have the label.
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

// checkKnown checks labels and
// returns them as ±1, labels × samples, with NaN for unknown labels.
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

// classSet holds the classes of a model, in the order of probabilities and decisions.
type classSet[T comparable] struct {
	names []T
	text  []json.RawMessage // the classes of a loaded model as they are in its file
}

// against describes a function in words; rest follows the class if there are more than two.
func (c *classSet[T]) against(function int, rest string) string {
	if len(c.names) == 2 {
		return fmt.Sprintf("class %v against %v", c.names[1], c.names[0])
	}
	return fmt.Sprintf("class %v%s", c.names[function], rest)
}

// encode returns the classes as JSON: the file's text for a loaded model, else the JSON that their
// type produces. It is an error if the JSON does not decode to the same class.
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

// decodeClasses reads the classes of a model. They need need functions, which
// must equal have, the number in the tensors.
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

// decodeClass reads a class. With anyClass, classes that are not strings become strings with their
// JSON text.
func decodeClass[T comparable](text json.RawMessage, anyClass bool) (class T, err error) {
	if s, ok := any(&class).(*string); ok && anyClass && len(text) > 0 && text[0] != '"' {
		*s = string(text)
		return class, nil
	}
	return class, strictJSON(text, &class)
}
