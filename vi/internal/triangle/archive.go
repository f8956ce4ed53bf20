package triangle

import (
	"fmt"

	"github.com/bmkl/bmkl/internal/archive"
	"github.com/bmkl/bmkl/la"
)

// Archive describes the fields of a triangle of n training samples.
func (t *Triangle) Archive(a *archive.Archive, n int) {
	a.Same("order of a triangle", n)
	t.panels.Order = n
	a.Floats32(&t.panels.Data)
	a.Floats(&t.rows)
	a.Float(&t.total)
	a.Float(&t.spill)
	a.Float(&t.factor)
	a.Int(&t.begin)
	if len(t.panels.Data) != la.LowerPanelElements(n) || len(t.rows) != n || t.begin < 0 || t.begin > t.panels.Padded()/la.PanelRows {
		a.Fail(fmt.Errorf("triangle of order %d: %d elements, %d rows and the first panel %d", n, len(t.panels.Data), len(t.rows), t.begin))
	}
}
