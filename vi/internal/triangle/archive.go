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
	a.Float(&t.fine)
	if len(t.panels.Data) != la.LowerPanelElements(n) || len(t.rows) != n || t.begin < 0 || t.begin > t.panels.Padded()/la.PanelRows {
		a.Fail(fmt.Errorf("triangle of order %d: %d elements, %d rows and the first panel %d", n, len(t.panels.Data), len(t.rows), t.begin))
	}
	t.steps = archive.Value(a, func() *steps { return t.steps }, func(d *steps, a *archive.Archive) { d.archive(a, n) })
}

// Archive describes the fields of a form of n training samples.
func (f *Form) Archive(a *archive.Archive, n int) {
	if a.Reading() {
		f.t = new(Triangle)
	}
	f.t.Archive(a, n)
}

// archive describes the fields of the steps of a triangle of n training samples.
func (d *steps) archive(a *archive.Archive, n int) {
	bytes := int(oneByte)
	if d.low.Rows > 0 {
		bytes = int(twoBytes)
	}
	a.Int(&bytes)
	low := n
	if width(bytes) == oneByte {
		low = 0
	}
	for _, plane := range []struct {
		of         *la.LowerBytes
		rows, cols int
	}{{&d.high, n + probes, n}, {&d.low, low, low}} {
		data, ok := plane.of.Data(), false
		a.Bytes8(&data)
		if *plane.of, ok = la.LowerBytesOf(plane.rows, plane.cols, data); !ok {
			a.Fail(fmt.Errorf("steps of order %d: %d bytes", n, len(data)))
		}
	}
	a.Vector(&d.step, n)
	a.Vector(&d.probe, probes)
	for _, v := range []*[]float64{&d.diagonal, &d.dither, &d.rows, &d.norms} {
		a.Vector(v, n)
	}
	a.Float(&d.total)
	a.Float(&d.factor)
}
