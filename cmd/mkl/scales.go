package main

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// scales is what -hold and -weight say of the scales of multiple Gaussian processes.
type scales struct {
	prior   mkl.GIG
	held    mkl.HeldGIG
	weights map[string]float64 // of views, by their names; nil if none is known
}

// scales reads -hold and -weight, and checks -noise-sd.
func (c *fitCmd) scales() (s scales, err error) {
	if f := family(c.Family); len(c.Hold) > 0 && (f == mkl.DefaultFamily || f == mkl.ARD) {
		return s, console.Inputf("-hold is for -family student-t, laplace, gamma-variance and gig: %s has no prior that is learned", c.Family)
	}
	for _, text := range c.Hold {
		name, value, ok := numberOf(text)
		switch {
		case ok && name == "omega":
			s.prior.Omega, s.held.Omega = value, true
		case ok && name == "chi":
			s.prior.Chi, s.held.Chi = value, true
		case ok && name == "phi":
			s.prior.Phi, s.held.Phi = value, true
		default:
			return s, console.Inputf("-hold %s: omega, chi or phi and a number are needed, as in omega=0.5", text)
		}
	}
	for _, text := range c.Weight {
		name, value, ok := numberOf(text)
		if !ok || !(value > 0) {
			return s, console.Inputf("-weight %s: a view and a positive number are needed, as in trend=10", text)
		}
		if s.weights == nil {
			s.weights = map[string]float64{}
		}
		s.weights[name] = value
	}
	if v := c.NoiseSD; v != 0 && !(v > 0 && v <= math.MaxFloat64) {
		return s, console.Inputf("-noise-sd %g is not a positive number", v)
	}
	if c.NoiseSD != 0 && c.noise() != mkl.ConstantNoise {
		return s, console.Inputf("-noise-sd is for constant noise, not for -noise %s", c.Noise)
	}
	if s.weights != nil && c.method() >= mkl.Factorised {
		return s, console.Inputf("-weight is not for -method %s, which learns all weights", c.Method)
	}
	return s, nil
}

// numberOf reads NAME=NUMBER, a finite one.
func numberOf(text string) (name string, value float64, ok bool) {
	at := strings.LastIndex(text, "=") // the name of a view may hold one
	if at < 1 {
		return "", 0, false
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(text[at+1:]), 64)
	return strings.TrimSpace(text[:at]), value, err == nil && !math.IsInf(value, 0) && !math.IsNaN(value)
}

// check refuses weights of views that are not there, or that have not one kernel.
func (s *scales) check(views []view) error {
	for _, name := range slices.Sorted(maps.Keys(s.weights)) {
		i := slices.IndexFunc(views, func(v view) bool { return v.name == name })
		if i < 0 {
			return console.Inputf("-weight %s=%g: there is no view of that name", name, s.weights[name])
		}
		if len(views[i].kernels) != 1 {
			return console.Inputf("-weight %s=%g: a view with one kernel is needed, as in -view '%s=COLUMNS:linear'", name, s.weights[name], name)
		}
	}
	return nil
}

// known returns the known weight of each view, 0 where it is learned; nil if none is known.
func (s *scales) known(views []mkl.View) []float64 {
	if s.weights == nil {
		return nil
	}
	all := make([]float64, len(views))
	for i, v := range views {
		if i == 0 || views[i-1].Name != v.Name { // and not the kernel of its categories
			all[i] = s.weights[v.Name]
		}
	}
	return all
}
