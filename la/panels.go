package la

import "fmt"

// PanelRows is the number of rows of a panel.
const PanelRows = 64

// Panels holds the rows of a matrix in panels of [PanelRows] rows, for the products and distances of
// one vector with all rows. A panel holds its rows column by column: element (i, j) of the matrix is
// Data[(i/64*Cols+j)*64+i%64]. Vector instructions then advance 64 rows at a time, however few the
// columns are, and memory is read from its beginning to its end.
//
// The last panel is padded with rows of zeros. Results have an element for each padded row.
type Panels[T Float] struct {
	Rows, Cols int // of the matrix, without the padding
	Data       []T // Padded()·Cols elements
}

// PackPanels returns the rows of a in panels.
func PackPanels[T Float](a Matrix[T]) Panels[T] {
	a.check("A")
	p := Panels[T]{Rows: a.Rows, Cols: a.Cols}
	p.Data = newLine[T](p.Padded() * p.Cols)
	for i := range a.Rows {
		panel := p.Data[i/PanelRows*PanelRows*p.Cols:]
		for j, v := range a.Row(i) {
			panel[j*PanelRows+i%PanelRows] = v
		}
	}
	return p
}

// Padded returns the number of rows with the padding, the smallest multiple of [PanelRows] that is at
// least Rows.
func (p Panels[T]) Padded() int { return roundUp(p.Rows, PanelRows) }

// MultiplyVec computes y_i = Σ_j a_ij·x_j for every row i. x has Cols elements, and y has Padded() and
// must not overlap x.
//
// Roundings: y_i = fma(a_ij, x_j, y_i) for j in order, from +0.
func (p Panels[T]) MultiplyVec(x, y []T) { p.apply("y", panelTable[T]().mul, x, y) }

// SqDistVec computes the squared Euclidean distances d_i = Σ_j (x_j − a_ij)² of x to every row i. x has
// Cols elements, and d has Padded() and must not overlap x.
//
// Roundings: t = x_j − a_ij is rounded, and d_i = fma(t, t, d_i) for j in order, from +0, as in
// [SqDist].
func (p Panels[T]) SqDistVec(x, d []T) { p.apply("d", panelTable[T]().sqDist, x, d) }

// AbsDistVec computes the Manhattan distances d_i = Σ_j |x_j − a_ij| of x to every row i. x has Cols
// elements, and d has Padded() and must not overlap x.
//
// Roundings: t = x_j − a_ij is rounded, and then d_i = d_i + |t|, for j in order, from +0.
func (p Panels[T]) AbsDistVec(x, d []T) { p.apply("d", panelTable[T]().absDist, x, d) }

// SqDistParts computes the terms t_ij = (x_j − a_ij)² of the squared distances of x to the rows of one panel. x has Cols elements. t receives
// [PanelRows] rows in a panel, PanelRows·Cols elements, and must not overlap x. The distances with weights of the columns are
// then products of t with a vector, see [Panels.MultiplyVec].
//
// Roundings: x_j − a_ij is rounded, and its square is rounded.
func (p Panels[T]) SqDistParts(panel int, x, t []T) { p.parts(panel, panelTable[T]().sqParts, x, t) }

// AbsDistParts is SqDistParts of the terms t_ij = |x_j − a_ij| of Manhattan distances.
//
// Roundings: x_j − a_ij is rounded.
func (p Panels[T]) AbsDistParts(panel int, x, t []T) { p.parts(panel, panelTable[T]().absParts, x, t) }

// parts checks the arguments and calls f for a panel.
func (p Panels[T]) parts(panel int, f partsEntry[T], x, t []T) {
	n := PanelRows * p.Cols
	checkLen("Data", p.Data, p.Padded()*p.Cols)
	checkLen("x", x, p.Cols)
	checkLen("t", t, n)
	checkApart("t", t, "x", x)
	if panel < 0 || panel >= p.Padded()/PanelRows {
		panic(fmt.Sprintf("la: panel %d of %d", panel, p.Padded()/PanelRows))
	}
	a := p.Data[panel*n:][:n]
	raceRead(a)
	raceRead(x)
	raceWrite(t)
	const columns = partsPiece / PanelRows
	for q := 0; q < p.Cols; q += columns {
		f(min(columns, p.Cols-q), &a[q*PanelRows], &x[q], &t[q*PanelRows])
	}
}

// apply checks the arguments and calls f for all panels. name is the argument that receives y.
func (p Panels[T]) apply(name string, f panelEntry[T], x, y []T) {
	n := p.Padded()
	checkLen("Data", p.Data, n*p.Cols)
	checkLen("x", x, p.Cols)
	checkLen(name, y, n)
	checkApart(name, y, "x", x)
	raceRead(p.Data)
	raceRead(x)
	raceWrite(y)
	if n > 0 {
		f.rectangle(n/PanelRows, p.Cols, first(p.Data), first(x), first(y))
	}
}

// LowerPanels holds the lower triangle of a matrix in panels of [PanelRows] rows. Rows of zeros before
// the first one fill its panel. A panel has the columns up to its last row, and zeros above the diagonal.
type LowerPanels[T Float] struct {
	Order int // of the matrix
	Data  []T // LowerPanelElements(Order) elements
}

// LowerPanelElements returns the number of elements of [LowerPanels] of an order: 64·b·(n − 32·(b−1)) of order n
// with b panels.
func LowerPanelElements(order int) int {
	b := roundUp(order, PanelRows) / PanelRows
	return PanelRows * b * (order - PanelRows*(b-1)/2)
}

// PackLower returns the lower triangle of the square matrix a in panels, rounded to T. Elements above
// the diagonal are not read.
func PackLower[T Float](a Matrix[float64]) LowerPanels[T] {
	a.checkSquare("A")
	l := LowerPanels[T]{Order: a.Rows, Data: newLine[T](LowerPanelElements(a.Rows))}
	for i := range a.Rows {
		at := i + l.Before()
		panel := l.Data[l.first(at/PanelRows):]
		for j, v := range a.Row(i)[:i+1] {
			panel[j*PanelRows+at%PanelRows] = T(v)
		}
	}
	return l
}

// Padded returns the number of rows with the padding, the smallest multiple of [PanelRows] that is at least
// Order.
func (l LowerPanels[T]) Padded() int { return roundUp(l.Order, PanelRows) }

// Before returns the number of rows of zeros, fewer than [PanelRows].
func (l LowerPanels[T]) Before() int { return l.Padded() - l.Order }

// first returns the index of the first element of a panel.
func (l LowerPanels[T]) first(panel int) int {
	// Panel p has 64·(p+1) − Before columns.
	return PanelRows * (PanelRows*panel*(panel+1)/2 - panel*l.Before())
}

// MultiplyVec computes y = L·x. x has Order elements and y has Padded(). The result begins at y[Before()], and zeros are
// before it. x and y must not overlap.
//
// Roundings: y_i = fma(l_ij, x_j, y_i) from +0 for j in order, to the last column of the panel of row i.
func (l LowerPanels[T]) MultiplyVec(x, y []T) { l.MultiplyPanels(0, l.Padded()/PanelRows, x, y) }

// MultiplyPanels is MultiplyVec for the panels from begin to end−1 alone. It changes no other elements of y than theirs.
func (l LowerPanels[T]) MultiplyPanels(begin, end int, x, y []T) {
	n := l.Padded()
	checkLen("Data", l.Data, LowerPanelElements(l.Order))
	checkLen("x", x, l.Order)
	checkLen("y", y, n)
	checkApart("y", y, "x", x)
	if begin < 0 || end > n/PanelRows {
		panic(fmt.Sprintf("la: panels %d to %d of %d", begin, end, n/PanelRows))
	}
	raceRead(l.Data)
	raceRead(x)
	raceWrite(y)
	f := panelTable[T]().mul
	for p := begin; p < end; p++ {
		f.rectangle(1, PanelRows*(p+1)-l.Before(), &l.Data[l.first(p)], first(x), &y[p*PanelRows])
	}
}

// MultiplyRows computes y = x·Lᵀ, row by row as [LowerPanels.MultiplyPanels] does, for the panels from begin to end−1. x has Order columns. y has
// Padded() columns and as many rows as x, and must not overlap x. A nil w stands for a new [Workspace].
//
// Roundings: the panel's columns of y are the product of x and the panel's rows, to the last column of the panel, see [Gemm].
func (l LowerPanels[T]) MultiplyRows(w *Workspace, begin, end int, x, y Matrix[T]) {
	n := l.Padded()
	checkLen("Data", l.Data, LowerPanelElements(l.Order))
	x.checkShape("x", x.Rows, l.Order)
	y.checkShape("y", x.Rows, n)
	refuseOverlap("y", &y, "x", &x)
	if begin < 0 || end > n/PanelRows {
		panic(fmt.Sprintf("la: panels %d to %d of %d", begin, end, n/PanelRows))
	}
	for p := begin; p < end; p++ {
		columns := PanelRows*(p+1) - l.Before()
		panel := MatrixOf(columns, PanelRows, l.Data[l.first(p):][:columns*PanelRows])
		of := y.Slice(0, y.Rows, p*PanelRows, (p+1)*PanelRows)
		for q := 0; q < columns; q += BlockK { // a small product is not packed
			last, beta := min(q+BlockK, columns), T(1)
			if q == 0 {
				beta = 0
			}
			Gemm(w, NoTrans, NoTrans, 1, x.Slice(0, x.Rows, q, last), panel.Slice(q, last, 0, PanelRows), beta, of)
		}
	}
}
