package gram

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/jitter"
	"github.com/bmkl/bmkl/la"
)

// Factor stores the Cholesky factor of B = I + υ·s·S·s. Where sparse priors make
// υ·s·S·s larger than the inverse of the machine's precision and rounding has
// made B indefinite, S gets a relative jitter on its diagonal, see [jitter.More],
// which is returned.
func Factor(ws *la.Workspace, b, gram la.Matrix[float64], upsilon float64, s []float64) (added float64, err error) {
	return factorJittered(ws, b, func(jitter float64) { Form(b, gram, upsilon, s, jitter) })
}

// FactorInPlace is [Factor] where load stores the lower triangle of S in b.
func FactorInPlace(ws *la.Workspace, b la.Matrix[float64], load func(), upsilon float64, s []float64) (added float64, err error) {
	return factorJittered(ws, b, func(jitter float64) {
		load()
		Form(b, b, upsilon, s, jitter)
	})
}

// factorJittered is [Factor] where form stores B with that jitter in b.
func factorJittered(ws *la.Workspace, b la.Matrix[float64], form func(jitter float64)) (added float64, err error) {
	for {
		form(added)
		if err = la.Cholesky(ws, b); err == nil {
			return added, nil
		}
		more, ok := jitter.More(b.Rows, added, err)
		if !ok {
			return added, fmt.Errorf("factor of I + υΛ^-½SΛ^-½ with relative jitter %.2g: %w", added, err)
		}
		added = more
	}
}

// Form stores the lower triangle of I + υ·s·(S + jitter·diag(S))·s; b may be S's own memory.
func Form(b, gram la.Matrix[float64], upsilon float64, s []float64, jitter float64) {
	for d := range b.Rows {
		row, us := b.Row(d)[:d+1], upsilon*s[d]
		for j, v := range gram.Row(d)[:d+1] {
			row[j] = float64(us*s[j]) * v
		}
		row[d] = 1 + float64(row[d]*(1+jitter))
	}
}
