package la

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPanelsAreTheSameEverywhere(t *testing.T) {
	floats(t, testPanels[float64], testPanels[float32])
}

func testPanels[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, rows := range []int{0, 1, 63, 64, 65, 200} {
		for _, cols := range []int{0, 1, 2, 5, 33, panelPiece/PanelRows + 3} {
			a, x := filled[T](r, rows, cols), filled[T](r, 1, cols).Row(0)
			p := PackPanels(a)
			n := p.Padded()
			everywhere(t, serial, func(*Workspace) []T {
				size := PanelRows * cols
				y := make([]T, 3*n+2*size)
				p.MultiplyVec(x, y[:n])
				p.SqDistVec(x, y[n:2*n])
				p.AbsDistVec(x, y[2*n:3*n])
				if n > 0 {
					p.SqDistParts(n/PanelRows-1, x, y[3*n:][:size])
					p.AbsDistParts(0, x, y[3*n+size:])
				}
				return y
			}, "%d×%d", rows, cols)
		}
	}
}

// The loops of the definitions, in the order of the columns.
func TestPanelsAreWhatTheySay(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	a, x := filled[float64](r, 130, 7), filled[float64](r, 1, 7).Row(0)
	p := PackPanels(a)
	y, sq, abs := make([]float64, p.Padded()), make([]float64, p.Padded()), make([]float64, p.Padded())
	p.MultiplyVec(x, y)
	p.SqDistVec(x, sq)
	p.AbsDistVec(x, abs)
	d := NewMatrix[float64](1, 130)
	SqDist(nil, MatrixOf(1, 7, x), a, d)
	assert.Equal(t, d.Row(0), sq[:130], "the distances of SqDist")
	for i := range 130 {
		var wantY, wantAbs float64
		for j, v := range a.Row(i) {
			wantY, wantAbs = math.FMA(v, x[j], wantY), wantAbs+math.Abs(x[j]-v)
		}
		assert.Equal(t, wantY, y[i], "row %d", i)
		assert.Equal(t, wantAbs, abs[i], "row %d", i)
	}
	squares, sizes := make([]float64, PanelRows*7), make([]float64, PanelRows*7)
	for panel := range 3 {
		p.SqDistParts(panel, x, squares)
		p.AbsDistParts(panel, x, sizes)
		for i := panel * PanelRows; i < min(130, (panel+1)*PanelRows); i++ {
			for j, v := range a.Row(i) {
				assert.Equal(t, (x[j]-v)*(x[j]-v), squares[j*PanelRows+i%PanelRows], "row %d", i)
				assert.Equal(t, math.Abs(x[j]-v), sizes[j*PanelRows+i%PanelRows], "row %d", i)
			}
		}
	}
}

// Panels that are too many for one call of a kernel are as the first ones.
func TestManyPanels(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	const cols, rows = 4, 3 * panelPiece / 4
	a, x := filled[float64](r, rows, cols), filled[float64](r, 1, cols).Row(0)
	p := PackPanels(a)
	y, sq := make([]float64, p.Padded()), make([]float64, p.Padded())
	p.MultiplyVec(x, y)
	p.SqDistVec(x, sq)
	for i := range rows {
		var want, wantSq float64
		for j, v := range a.Row(i) {
			want, wantSq = math.FMA(v, x[j], want), math.FMA(x[j]-v, x[j]-v, wantSq)
		}
		if want != y[i] {
			assert.Equal(t, want, y[i], "row %d", i)
		}
		if math.Abs(wantSq-sq[i]) > 1e-14*(1+wantSq) {
			assert.Equal(t, wantSq, sq[i], "row %d", i)
		}
	}
}

// Products are rounded before they are added, whatever the length.
func TestAddProducts(t *testing.T) {
	floats(t, testAddProducts[float64], testAddProducts[float32])
}

func testAddProducts[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	for _, n := range []int{0, 1, 63, 64, 65, 200, partsPiece + 70} {
		x, y, z := filled[T](r, 1, n).Row(0), filled[T](r, 1, n).Row(0), filled[T](r, 1, n).Row(0)
		want := slices.Clone(z)
		for i := range want {
			product := x[i] * y[i]
			want[i] += T(product)
		}
		everywhere(t, serial, func(*Workspace) []T {
			got := slices.Clone(z)
			AddProducts(x, y, got)
			sameBits(t, want, got, "length %d", n)
			return got
		}, "length %d", n)
	}
	assert.PanicsWithValue(t, "la: y: length 2 where 3 is needed", func() { AddProducts(make([]T, 3), make([]T, 2), make([]T, 3)) })
}

func TestLowerPanelsMultiply(t *testing.T) {
	floats(t, testLowerPanels[float64], testLowerPanels[float32])
}

func testLowerPanels[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for _, n := range []int{0, 1, 63, 64, 65, 130, panelPiece/PanelRows + 70} {
		a := filled[float64](r, n, n)
		for i := range n {
			for j := i + 1; j < n; j++ {
				a.Set(i, j, math.NaN()) // not to be read
			}
		}
		l := PackLower[T](a)
		x := make([]T, n)
		for i := range x {
			x[i] = T(r.NormFloat64())
		}
		want := make([]T, l.Padded())
		for i := range n {
			for j, v := range a.Row(i)[:i+1] {
				want[l.Before()+i] = fma(T(v), x[j], want[l.Before()+i])
			}
		}
		everywhere(t, serial, func(*Workspace) []T {
			y := make([]T, l.Padded())
			l.MultiplyVec(x, y)
			sameBits(t, want, y, "order %d", n)
			for p := range l.Padded() / PanelRows {
				part := make([]T, l.Padded())
				l.MultiplyPanels(p, p+1, x, part)
				clear(y[:p*PanelRows])
				clear(y[(p+1)*PanelRows:])
				sameBits(t, y, part, "order %d, panel %d", n, p)
				copy(y, want)
			}
			return y
		}, "order %d", n)
	}
}

// Rows of a product are products with the dense triangle, as Gemm computes them.
func TestLowerPanelsMultiplyRows(t *testing.T) {
	floats(t, testLowerPanelsMultiplyRows[float64], testLowerPanelsMultiplyRows[float32])
}

func testLowerPanelsMultiplyRows[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for _, n := range []int{1, 63, 64, 65, 200, 2*BlockK + 70} {
		full, dense := filled[float64](r, n, n), NewMatrix[T](n, n)
		for i := range n {
			for j := range i + 1 {
				dense.Set(i, j, T(full.At(i, j)))
			}
		}
		l := PackLower[T](full)
		for _, rows := range []int{0, 1, 5, 33} {
			x, want := filled[T](r, rows, n), NewMatrix[T](rows, n)
			Gemm(nil, NoTrans, Transpose, 1, x, dense, 0, want)
			everywhere(t, serial, func(w *Workspace) []T {
				y := filled[T](rand.New(rand.NewPCG(1, 1)), rows, l.Padded())
				kept := y.Clone()
				last := l.Padded() / PanelRows
				l.MultiplyRows(w, last-1, last, x, y)
				for i := range rows {
					sameBits(t, kept.Row(i)[:(last-1)*PanelRows], y.Row(i)[:(last-1)*PanelRows], "order %d, row %d: other panels", n, i)
				}
				l.MultiplyRows(w, 0, last, x, y)
				for i := range rows {
					sameBits(t, make([]T, l.Before()), y.Row(i)[:l.Before()], "order %d, row %d: before the first row", n, i)
					sameBits(t, want.Row(i), y.Row(i)[l.Before():], "order %d, row %d", n, i)
				}
				return y.Data
			}, "order %d, %d rows", n, rows)
		}
	}
	l := PackLower[T](NewMatrix[float64](70, 70))
	assert.Panics(t, func() { l.MultiplyRows(nil, 0, 3, NewMatrix[T](2, 70), NewMatrix[T](2, 128)) })
	assert.Panics(t, func() { l.MultiplyRows(nil, 0, 2, NewMatrix[T](2, 69), NewMatrix[T](2, 128)) })
	assert.Panics(t, func() { l.MultiplyRows(nil, 0, 2, NewMatrix[T](2, 70), NewMatrix[T](3, 128)) })
}

func TestPanelsRefuseBadArguments(t *testing.T) {
	p := PackPanels(NewMatrix[float32](3, 2))
	assert.PanicsWithValue(t, "la: x: length 3 where 2 is needed", func() { p.SqDistVec(make([]float32, 3), make([]float32, 64)) })
	assert.PanicsWithValue(t, "la: d: length 3 where 64 is needed", func() { p.SqDistVec(make([]float32, 2), make([]float32, 3)) })
	both := make([]float32, 64)
	assert.PanicsWithValue(t, "la: y overlaps x", func() { p.MultiplyVec(both[:2], both) })
	assert.PanicsWithValue(t, "la: t: length 64 where 128 is needed", func() { p.SqDistParts(0, make([]float32, 2), both) })
	assert.PanicsWithValue(t, "la: panel 1 of 1", func() { p.AbsDistParts(1, make([]float32, 2), make([]float32, 128)) })
	p.Data = p.Data[1:]
	assert.PanicsWithValue(t, "la: Data: length 127 where 128 is needed", func() { p.MultiplyVec(make([]float32, 2), both) })
	l := PackLower[float32](NewMatrix[float64](3, 3))
	l.Order = 65
	assert.PanicsWithValue(t, "la: Data: length 192 where 4224 is needed", func() { l.MultiplyVec(make([]float32, 65), make([]float32, 128)) })
	l.Order = 3
	assert.PanicsWithValue(t, "la: panels 0 to 2 of 1", func() { l.MultiplyPanels(0, 2, both[:3], make([]float32, 64)) })
}

func BenchmarkPanels(b *testing.B) {
	const n = 704
	a := NewMatrix[float32](n, 60)
	for _, cols := range []int{8, 60} {
		p := PackPanels(a.Slice(0, n, 0, cols))
		x, d := make([]float32, cols), make([]float32, n)
		for name, f := range map[string]func(x, d []float32){"sqDist": p.SqDistVec, "absDist": p.AbsDistVec} {
			b.Run(fmt.Sprint(name, "/", cols), func(b *testing.B) {
				b.SetBytes(int64(4 * len(p.Data)))
				for b.Loop() {
					f(x, d)
				}
			})
		}
	}
	l := PackLower[float32](NewMatrix[float64](n, n))
	x, y := make([]float32, n), make([]float32, n)
	b.Run("triangle", func(b *testing.B) {
		b.SetBytes(int64(4 * len(l.Data)))
		for b.Loop() {
			l.MultiplyVec(x, y)
		}
	})
}
