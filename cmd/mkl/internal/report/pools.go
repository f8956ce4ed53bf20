package report

import (
	"fmt"
	"io"

	"github.com/bmkl/bmkl/mkl"
)

// Pooled reports whether predictions are mixtures: the model is a pool, or has one for each target.
func (r *Report) Pooled() bool { return r.Members != nil || r.pools }

// describePools reports on each target's pool.
func (r *Report) describePools(m *mkl.AutoTargetsModel) {
	r.pools = true
	for o := range m.Targets() {
		one := *r.notes
		one.Targets = one.Targets[o : o+1]
		p := New(r.est, m.Target(o), &one)
		t := p.Targets[0]
		t.Kernels, t.Members, t.Story, t.Views, t.Groups, t.pool = p.Kernels, p.Members, p.Story, p.Views, p.Groups, p
		r.Targets = append(r.Targets, t)
		r.Kernels = append(r.Kernels, p.Kernels...)
	}
}

// printPools prints each target's pool below the target's name.
func (r *Report) printPools(out io.Writer) error {
	for _, t := range r.Targets {
		own := t
		own.Kernels = nil // printed with their members
		if err := r.printTarget(out, own, true); err != nil {
			return err
		}
		if t.LeftOut != nil {
			fmt.Fprintln(out, t.LeftOut)
		}
		t.pool.ListKernels = r.ListKernels
		if err := t.pool.printViews(out); err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n", t.Story)
		if err := t.pool.printKernels(out, t.Kernels); err != nil {
			return err
		}
	}
	return nil
}
