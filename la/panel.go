package la

import (
	"math"
	"unsafe"
)

// panelKernels is the part of the kernel table that works on panels of PanelRows rows, see [Panels].
type panelKernels[T Float] struct {
	mul     panelEntry[T] // y_r = fma(a_pr, x_p, y_r)
	sqDist  panelEntry[T] // t = x_p - a_pr, rounded, and y_r = fma(t, t, y_r)
	absDist panelEntry[T] // t = x_p - a_pr, rounded, and y_r = y_r + |t|

	sqParts  partsEntry[T] // t = x_p - a_pr, rounded, and y_pr = t·t
	absParts partsEntry[T] // y_pr = |x_p - a_pr|

	addProducts partsEntry[T] // y_pr = y_pr + a_pr·x_pr: x has k·PanelRows elements
}

// A panelEntry advances a chain for each row r of some panels by the terms p = 0…k-1 in this order. A
// panel has the elements a_pr at a[p*PanelRows+r]; the next panel follows it. Every panel has its own
// PanelRows chains in y. They start from +0, or, if add, from what y holds. panels and k may be 0. A
// call works on at most panelPiece elements of panels.
type panelEntry[T Float] func(panels, k int, a, x, y *T, add bool)

// A partsEntry computes an element of y from each of the k·PanelRows elements of a panel, in the same order, and from x. A call works on at
// most partsPiece elements.
type partsEntry[T Float] func(k int, a, x, y *T)

// partsPiece is the number of elements in one call of a partsEntry, which reads and writes up to four of each. It is a multiple of PanelRows.
const partsPiece = 6 << 10

// panelPiece is the number of elements in one call of a panelEntry, so that a goroutine can be
// preempted soon. It is a multiple of PanelRows.
const panelPiece = 24 << 10

// rectangle runs the chains of f over panels of any size.
func (f panelEntry[T]) rectangle(panels, k int, a, x, y *T) {
	const columns = panelPiece / PanelRows
	if k > columns {
		for q := range panels {
			for p := 0; p < k; p += columns {
				f(1, min(columns, k-p), at(a, (q*k+p)*PanelRows), at(x, p), at(y, q*PanelRows), p > 0)
			}
		}
		return
	}
	most := max(1, columns/(k+2)) // a column of y is read and written besides
	for q := 0; q < panels; q += most {
		f(min(most, panels-q), k, at(a, q*k*PanelRows), x, at(y, q*PanelRows), false)
	}
}

func genericPanelKernels[T Float]() panelKernels[T] {
	return panelKernels[T]{
		mul: genericPanelMul[T], sqDist: genericPanelSqDist[T], absDist: genericPanelAbsDist[T],
		sqParts: genericPanelSqParts[T], absParts: genericPanelAbsParts[T], addProducts: genericPanelAddProducts[T],
	}
}

func genericPanelSqParts[T Float](k int, a, x, y *T) {
	genericParts(k, a, x, y, func(t T) T { return t * t })
}

func genericPanelAbsParts[T Float](k int, a, x, y *T) {
	genericParts(k, a, x, y, func(t T) T { return T(math.Abs(float64(t))) })
}

func genericPanelAddProducts[T Float](k int, a, x, y *T) {
	n := k * PanelRows
	addProducts(unsafe.Slice(a, n), unsafe.Slice(x, n), unsafe.Slice(y, n))
}

// addProducts adds the products of the elements of x and y to z.
func addProducts[T Float](x, y, z []T) {
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		z[i] += T(x[i] * y[i])
	}
}

// genericParts computes part(x_p − a_pr) for each element of a panel.
func genericParts[T Float](k int, a, x, y *T, part func(t T) T) {
	for p, v := range unsafe.Slice(x, k) {
		ys := unsafe.Slice(at(y, p*PanelRows), PanelRows)
		for r, e := range unsafe.Slice(at(a, p*PanelRows), PanelRows) {
			ys[r] = part(v - e)
		}
	}
}

func genericPanelMul[T Float](panels, k int, a, x, y *T, add bool) {
	genericPanel(panels, k, a, x, y, add, fma[T])
}

func genericPanelSqDist[T Float](panels, k int, a, x, y *T, add bool) {
	genericPanel(panels, k, a, x, y, add, func(a, x, y T) T {
		t := x - a
		return fma(t, t, y)
	})
}

func genericPanelAbsDist[T Float](panels, k int, a, x, y *T, add bool) {
	genericPanel(panels, k, a, x, y, add, func(a, x, y T) T { return y + T(math.Abs(float64(x-a))) })
}

// genericPanel advances chains y = term(a, x, y).
func genericPanel[T Float](panels, k int, a, x, y *T, add bool, term func(a, x, y T) T) {
	xs := unsafe.Slice(x, k)
	for q := range panels {
		ys := unsafe.Slice(at(y, q*PanelRows), PanelRows)
		if !add {
			clear(ys)
		}
		for p, v := range xs {
			for r, e := range unsafe.Slice(at(a, (q*k+p)*PanelRows), PanelRows) {
				ys[r] = term(e, v, ys[r])
			}
		}
	}
}
