package report

import (
	"fmt"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// aboutFunction says how the times, counts or grades of a model are distributed about its function, and which effects of levels the function has; empty of
// other models.
func aboutFunction(m mkl.Model) string {
	law := lawOf(m)
	if of, ok := m.(interface{ LevelEffects() []string }); ok && law != "" {
		law = strings.Join(append([]string{law}, of.LevelEffects()...), "; ")
	}
	return law
}

// lawOf says how the times, counts or grades of a model are distributed about its function; empty of other models.
func lawOf(m mkl.Model) string {
	switch m := m.(type) {
	case *mkl.SurvivalModel:
		if m.Law() == mkl.Weibull {
			return fmt.Sprintf("Weibull of the shape %s given the function: hazards are proportional", console.Figure(1/m.LogSD()))
		}
		return fmt.Sprintf("log-normal given the function: the logarithm of a time has the error %s", console.Figure(m.LogSD()))
	case *mkl.OrdinalModel[string]:
		text, grades := "grades between cut points of the function, in units of its noise:", m.Classes()
		for k, c := range m.CutPoints() {
			text += fmt.Sprintf(" %s | %s |", grades[k], console.Figure(c))
		}
		return text + " " + grades[len(grades)-1]
	case *mkl.CountModel:
		switch m.Law() {
		case mkl.NegativeBinomial:
			return fmt.Sprintf("negative binomial given the function: a count of the mean μ has the variance μ + %s·μ²", console.Figure(m.Dispersion()))
		case mkl.DoublePoisson:
			return fmt.Sprintf("double Poisson given the function: a count of the mean μ has a variance of about μ/%s, below μ", console.Figure(m.Precision()))
		}
		return "Poisson given the function: the variance of a count is its mean"
	}
	return ""
}
