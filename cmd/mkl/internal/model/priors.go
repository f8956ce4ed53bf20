package model

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// parsePriors reads -prior, and the priors that -sparse stands for. The model itself reads values of -prior that are not
// gamma distributions.
func (r *Request) parsePriors() (map[string]mkl.Gamma, error) {
	priors := map[string]mkl.Gamma{}
	if s := r.Settings.Sparse; s == "kernels" || s == "both" {
		priors["omega"] = SparsePrior
	}
	if s := r.Settings.Sparse; s == "samples" || s == "both" {
		priors["lambda"] = SparsePrior
	}
	for _, p := range r.parameters() {
		if !slices.Contains(r.Estimator.priors, p.name) {
			noun := "priors are"
			if len(r.Estimator.priors) == 1 {
				noun = "prior is"
			}
			return nil, console.Inputf("-prior %s: the %s %s", p.text, noun, console.List(r.Estimator.priors))
		}
		if p.isProbability() || p.isLearned() || p.isRate() {
			continue
		}
		g, ok := gammaOf(p.value)
		if !ok {
			return nil, console.Inputf("-prior %s: two positive numbers are needed, as in %s=1e-10,1e+10", p.text, p.name)
		}
		priors[p.name] = g
	}
	return priors, nil
}

// parameter is a value of -prior.
type parameter struct{ text, name, value string }

// parameters are the values of -prior.
func (r *Request) parameters() (all []parameter) {
	for _, text := range r.Settings.Prior {
		name, value, _ := strings.Cut(text, "=")
		all = append(all, parameter{text, strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)})
	}
	return all
}

// gammaOf reads SHAPE,SCALE.
func gammaOf(text string) (g mkl.Gamma, ok bool) {
	shape, scale, _ := strings.Cut(text, ",")
	var shaped, scaled bool
	g.Shape, shaped = positive(shape)
	g.Scale, scaled = positive(scale)
	return g, shaped && scaled
}

// positive reads a finite number above 0.
func positive(text string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return x, err == nil && x > 0 && !math.IsInf(x, 0)
}
