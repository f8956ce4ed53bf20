package mkl

import "slices"

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
