package console

import (
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/alecthomas/kong"
)

// Flag is a flag that a struct declares.
type Flag struct {
	Name            string
	value, standard reflect.Value
}

// Flags lists the flags of a struct, given by a pointer to it. vars are the values that its tags refer to by name, as
// in [Program].
func Flags[T any](of *T, vars map[string]string) ([]Flag, error) {
	declared, err := kong.New(of, kong.Vars(vars), kong.NoDefaultHelp())
	if err != nil {
		return nil, err
	}
	defaults, err := kong.New(new(T), kong.Vars(vars), kong.NoDefaultHelp())
	if err != nil {
		return nil, err
	}
	var all []Flag
	for i, f := range declared.Model.Flags {
		standard := defaults.Model.Flags[i]
		if err := standard.Reset(); err != nil {
			return nil, err
		}
		all = append(all, Flag{f.Name, f.Target, standard.Target})
	}
	return all, nil
}

// SetDefaults gives all flags of a struct their defaults.
func SetDefaults[T any](of *T, vars map[string]string) error {
	all, err := Flags(of, vars)
	for _, f := range all {
		f.Reset()
	}
	return err
}

// Given reports whether the flag has another value than its default.
func (f Flag) Given() bool {
	if f.value.Kind() == reflect.Slice {
		return f.value.Len() > 0
	}
	return !f.value.Equal(f.standard)
}

// Reset gives the flag its default.
func (f Flag) Reset() { f.value.Set(f.standard) }

// checkNumbers refuses numbers outside of the limits that their flags declare. A whole number or a duration may not
// be negative. Other numbers have limits in their tags: they are larger than above, at least from, and smaller
// than below.
func checkNumbers(flags []*kong.Flag) error {
	for _, f := range flags {
		switch x := f.Target.Interface().(type) {
		case int:
			if x < 0 {
				return Inputf("-%s %d is negative", f.Name, x)
			}
		case time.Duration:
			if x < 0 {
				return Inputf("-%s %v is negative", f.Name, x)
			}
		case float64:
			if need := needed(f.Tag, x); need != "" {
				return Inputf("-%s %g is not %s", f.Name, x, need)
			}
		}
	}
	return nil
}

// needed says which numbers a flag takes; it is empty if x is one of them, or if there are no limits.
func needed(tag *kong.Tag, x float64) string {
	limit := func(key string, none float64) float64 {
		if v, err := strconv.ParseFloat(tag.Get(key), 64); err == nil {
			return v
		}
		return none
	}
	above, from, below := limit("above", math.Inf(-1)), limit("from", -math.MaxFloat64), limit("below", math.Inf(1))
	switch {
	case x > above && x >= from && x < below:
		return ""
	case tag.Has("below"):
		return "between " + tag.Get("above") + tag.Get("from") + " and " + tag.Get("below")
	case tag.Has("above"):
		return "a positive number"
	case tag.Has("from"):
		return "a number from " + tag.Get("from") + " up"
	}
	return ""
}
