package la

import (
	"fmt"
	"unsafe"
)

// LowerBytes holds a lower trapezoid of small integers in panels of [PanelRows] rows, for products with a vector of integers. Row i
// has the columns up to min(i, Cols−1), and Rows is at least Cols. A triangle has as many rows as columns. Rows of zeros before the first
// one fill its panel.
//
// A panel has the columns up to its last row, two after two: the elements of a row in two neighbouring columns are side by side.
type LowerBytes struct {
	Rows, Cols int
	data       []int8
}

// NewLowerBytes returns a trapezoid of zeros. It panics if rows is less than cols.
func NewLowerBytes(rows, cols int) LowerBytes {
	if cols < 0 || rows < cols {
		panic(fmt.Sprintf("la: a trapezoid of %d rows and %d columns", rows, cols))
	}
	l := LowerBytes{Rows: rows, Cols: cols}
	if n := l.first(l.Padded() / PanelRows); n > 0 {
		l.data = unsafe.Slice((*int8)(unsafe.Pointer(first(newLine[float32](n/4)))), n)
	}
	return l
}

// LowerBytesOf returns the trapezoid whose Data is data, which it keeps. ok is false for data of another length than
// a trapezoid of rows and cols has.
func LowerBytesOf(rows, cols int, data []int8) (l LowerBytes, ok bool) {
	l = LowerBytes{Rows: rows, Cols: cols, data: data}
	return l, cols >= 0 && rows >= cols && len(data) == l.first(l.Padded()/PanelRows)
}

// Data returns the elements as they lie in memory. They must not be changed.
func (l LowerBytes) Data() []int8 { return l.data }

// Padded returns the number of rows with the padding, the smallest multiple of [PanelRows] that is at least Rows.
func (l LowerBytes) Padded() int { return roundUp(l.Rows, PanelRows) }

// Before returns the number of rows of zeros, fewer than [PanelRows].
func (l LowerBytes) Before() int { return l.Padded() - l.Rows }

// Bytes returns the number of bytes of the elements.
func (l LowerBytes) Bytes() int { return len(l.data) }

// pairs returns the number of pairs of columns of a panel.
func (l LowerBytes) pairs(panel int) int {
	return (min(l.Cols, PanelRows*(panel+1)-l.Before()) + 1) / 2
}

// first returns the index of the first element of a panel.
func (l LowerBytes) first(panel int) int {
	// The first whole panels have 32·(p+1) − ⌊Before/2⌋ pairs. The others have all columns.
	whole := min(panel, (l.Cols+l.Before())/PanelRows)
	pairs := PanelRows/2*whole*(whole+1)/2 - whole*(l.Before()/2)
	return 2 * PanelRows * (pairs + (panel-whole)*((l.Cols+1)/2))
}

// SetRow sets the elements of row i: min(i, Cols−1) + 1 of them.
func (l LowerBytes) SetRow(i int, v []int8) {
	checkLen("v", v, min(i, l.Cols-1)+1)
	at := i + l.Before()
	panel := l.data[l.first(at/PanelRows):]
	for j, e := range v {
		panel[j/2*2*PanelRows+2*(at%PanelRows)+j%2] = e
	}
}

// MultiplyVec computes y = L·x. x has Cols elements, and a zero after them if Cols is odd. y has Padded() elements. The result
// begins at y[Before()], and zeros are before it.
//
// Sums are exact where they are within 32 bits, as all are if Σ|x_j| is less than 2²⁴; they wrap around where they are not.
func (l LowerBytes) MultiplyVec(x []int16, y []int32) {
	l.MultiplyPanels(0, l.Padded()/PanelRows, x, y)
}

// MultiplyPanels is MultiplyVec for the panels from begin to end−1 alone. It changes no other elements of y than theirs.
func (l LowerBytes) MultiplyPanels(begin, end int, x []int16, y []int32) {
	n := l.Padded() / PanelRows
	checkLen("x", x, roundUp(l.Cols, 2))
	checkLen("y", y, n*PanelRows)
	if begin < 0 || end > n {
		panic(fmt.Sprintf("la: panels %d to %d of %d", begin, end, n))
	}
	raceRead(l.data)
	raceRead(x)
	raceWrite(y)
	if table[float32](); l.Cols == 0 {
		clear(y[begin*PanelRows : end*PanelRows])
		return
	}
	f := active.mulBytes
	for p := begin; p < end; p++ {
		pairs, panel := l.pairs(p), l.data[l.first(p):]
		for q := 0; q < pairs; q += bytesPiece {
			f(min(bytesPiece, pairs-q), &panel[2*q*PanelRows], &x[2*q], &y[p*PanelRows], q > 0)
		}
	}
}

// MultiplyRows is MultiplyPanels for several vectors. A panel is read once for all of them. Vector i begins at x[i·xs], and its product at
// y[i·ys].
func (l LowerBytes) MultiplyRows(begin, end, vectors int, x []int16, xs int, y []int32, ys int) {
	n := l.Padded() / PanelRows
	if begin < 0 || end > n {
		panic(fmt.Sprintf("la: panels %d to %d of %d", begin, end, n))
	}
	if xs < roundUp(l.Cols, 2) || ys < n*PanelRows || vectors < 0 || len(x) < vectors*xs || len(y) < vectors*ys {
		panic(fmt.Sprintf("la: %d vectors in x and y of %d and %d elements, %d and %d apart, where each needs %d and %d",
			vectors, len(x), len(y), xs, ys, roundUp(l.Cols, 2), n*PanelRows))
	}
	table[float32]()
	several := active.mulBytesRows
	if several == nil || l.Cols == 0 {
		for p := begin; p < end; p++ {
			for i := range vectors {
				l.MultiplyPanels(p, p+1, x[i*xs:][:roundUp(l.Cols, 2)], y[i*ys:][:n*PanelRows])
			}
		}
		return
	}
	raceRead(l.data)
	raceRead(x[:vectors*xs])
	raceWrite(y[:vectors*ys])
	one := active.mulBytes
	for p := begin; p < end; p++ {
		pairs, panel := l.pairs(p), l.data[l.first(p):]
		for q := 0; q < pairs; q += bytesPiece {
			some, a, add := min(bytesPiece, pairs-q), &panel[2*q*PanelRows], q > 0
			i := 0
			for ; i+bytesRows <= vectors; i += bytesRows {
				several(some, a, &x[i*xs+2*q], xs, &y[i*ys+p*PanelRows], ys, add)
			}
			for ; i < vectors; i++ {
				one(some, a, &x[i*xs+2*q], &y[i*ys+p*PanelRows], add)
			}
		}
	}
}

// bytesRows is the number of vectors of a bytesRowsEntry.
const bytesRows = 4

// A bytesRowsEntry is a [bytesEntry] for four vectors, which are xs elements apart in x and ys in y.
type bytesRowsEntry func(pairs int, a *int8, x *int16, xs int, y *int32, ys int, add bool)

// A bytesEntry advances the sums of the rows of a panel by pairs > 0 pairs of columns: y_r += a_pr0·x_2p + a_pr1·x_2p+1. The panel has
// the elements a_prc at a[p·2·PanelRows+2r+c]. The sums start from 0, or, if add, from what y holds. All are modulo 2³².
type bytesEntry func(pairs int, a *int8, x *int16, y *int32, add bool)

// bytesPiece is the most pairs of columns in one call of a bytesEntry, so that a goroutine can be preempted soon.
const bytesPiece = 768

func genericMulBytes(pairs int, a *int8, x *int16, y *int32, add bool) {
	ys := unsafe.Slice(y, PanelRows)
	if !add {
		clear(ys)
	}
	xs := unsafe.Slice(x, 2*pairs)
	as := unsafe.Slice(a, 2*PanelRows*pairs)
	for p := range pairs {
		x0, x1 := int32(xs[2*p]), int32(xs[2*p+1])
		column := as[2*PanelRows*p:][:2*PanelRows]
		for r := range ys {
			ys[r] += int32(column[2*r])*x0 + int32(column[2*r+1])*x1
		}
	}
}
