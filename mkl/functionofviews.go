package mkl

import (
	"fmt"
	"slices"
	"strings"
)

// functionOfViews is the function of a model of times, counts or grades, with the table of its views.
type functionOfViews struct {
	processes
	viewTable
	remarks []string // on the table
}

// Outputs reports what the fit learned for the function.
func (m *functionOfViews) Outputs() []ModelOutput {
	out := m.processes.Outputs()
	if m.views != nil { // the amplitudes have a common prior, which Prior of one function does not describe
		out[0].Prior = ""
	}
	return out
}

// ViewRemarks says which samples the table of the views describes, if these are not all, and why a model of several views has no table. It is nil if there
// is nothing to say.
func (m *functionOfViews) ViewRemarks() []string { return slices.Clone(m.remarks) }

// summary describes a model with a table of its views by the table, and another one by its kernels.
func (m *functionOfViews) summary(headline string, name func(o int) string) string {
	if m.views == nil {
		return m.processes.summary(headline, name)
	}
	var b strings.Builder
	fmt.Fprintln(&b, headline)
	b.WriteString(m.trace.outcome())
	fmt.Fprintf(&b, "%s\nviews (share of the variance of the function ± SD, probability that the view is needed):\n", name(0))
	for _, v := range m.views {
		fmt.Fprintf(&b, "  %-32s %5.1f ± %.1f %%  %3.0f %%\n", v.View, 100*v.Share, 100*v.SD, 100*v.In)
	}
	for _, r := range m.LevelEffects() {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}
