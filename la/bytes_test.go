package la

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Products of bytes are the sums of their definition on every instruction set, and no other memory changes.
func TestLowerBytesMultiply(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	was := active
	defer func() { active = was }()
	for _, cols := range []int{0, 1, 2, 63, 64, 65, 130, 2*bytesPiece + 5} {
		for _, more := range []int{0, 1, 64, 70} {
			l := NewLowerBytes(cols+more, cols)
			x := make([]int16, cols+cols%2)
			for j := range cols {
				x[j] = int16(r.Uint32())
			}
			want := make([]int32, l.Padded())
			for i := range l.Rows {
				row := make([]int8, min(i+1, cols))
				for j := range row {
					row[j] = int8(r.Uint32())
					want[l.Before()+i] += int32(row[j]) * int32(x[j])
				}
				l.SetRow(i, row)
			}
			for _, active = range instructionSets {
				y := make([]int32, l.Padded()+2)
				y[0], y[len(y)-1] = -7, 7
				l.MultiplyVec(x, y[1:len(y)-1])
				assert.Equal(t, slices.Concat([]int32{-7}, want, []int32{7}), y, "%s: %d×%d", active.name, l.Rows, cols)
				for p := range l.Padded() / PanelRows {
					part := make([]int32, l.Padded())
					l.MultiplyPanels(p, p+1, x, part)
					expected := make([]int32, l.Padded())
					copy(expected[p*PanelRows:(p+1)*PanelRows], want[p*PanelRows:])
					assert.Equal(t, expected, part, "%s: panel %d of %d×%d", active.name, p, l.Rows, cols)
				}
			}
		}
	}
}

// Products of several vectors are the products of each, on every instruction set, and no other memory changes.
func TestLowerBytesMultiplyRows(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 66))
	was := active
	defer func() { active = was }()
	for _, cols := range []int{0, 1, 63, 130, 2*bytesPiece + 5} {
		for _, vectors := range []int{0, 1, 3, 4, 5, 11} {
			l := NewLowerBytes(cols+70, cols)
			for i := range l.data {
				l.data[i] = int8(r.Uint32())
			}
			panels := l.Padded() / PanelRows
			xs, ys := cols+cols%2+3, l.Padded()+5
			x, fresh := make([]int16, vectors*xs), make([]int32, vectors*ys+1)
			for i := range x {
				x[i] = int16(r.Uint32())
			}
			for i := range fresh {
				fresh[i] = int32(r.Uint32())
			}
			for _, active = range instructionSets {
				for _, begin := range []int{0, panels - 1} {
					got, want := slices.Clone(fresh), slices.Clone(fresh)
					for i := range vectors {
						for p := begin; p < panels; p++ {
							sums := want[i*ys+p*PanelRows:][:PanelRows]
							clear(sums)
							pairs, panel := l.pairs(p), l.data[l.first(p):]
							for j := range 2 * pairs {
								for q := range sums {
									sums[q] += int32(panel[j/2*2*PanelRows+2*q+j%2]) * int32(x[i*xs+j])
								}
							}
						}
					}
					l.MultiplyRows(begin, panels, vectors, x, xs, got, ys)
					assert.Equal(t, want, got, "%s: %d vectors of %d, from panel %d", active.name, vectors, cols, begin)
				}
			}
		}
	}
}

func TestLowerBytesRefuseBadArguments(t *testing.T) {
	assert.PanicsWithValue(t, "la: a trapezoid of 2 rows and 3 columns", func() { NewLowerBytes(2, 3) })
	l := NewLowerBytes(3, 3)
	assert.PanicsWithValue(t, "la: x: length 3 where 4 is needed", func() { l.MultiplyVec(make([]int16, 3), make([]int32, 64)) })
	assert.PanicsWithValue(t, "la: y: length 3 where 64 is needed", func() { l.MultiplyVec(make([]int16, 4), make([]int32, 3)) })
	assert.PanicsWithValue(t, "la: v: length 3 where 2 is needed", func() { l.SetRow(1, make([]int8, 3)) })
	assert.PanicsWithValue(t, "la: panels 0 to 2 of 1", func() { l.MultiplyPanels(0, 2, make([]int16, 4), make([]int32, 64)) })
	rows := func(begin, end, vectors, x, xs, y, ys int) func() {
		return func() { l.MultiplyRows(begin, end, vectors, make([]int16, x), xs, make([]int32, y), ys) }
	}
	assert.NotPanics(t, rows(0, 1, 2, 8, 4, 128, 64))
	assert.PanicsWithValue(t, "la: panels -1 to 1 of 1", rows(-1, 1, 2, 8, 4, 128, 64))
	assert.PanicsWithValue(t, "la: panels 0 to 2 of 1", rows(0, 2, 2, 8, 4, 128, 64))
	for _, bad := range [][5]int{{2, 8, 3, 128, 64}, {2, 8, 4, 128, 63}, {2, 7, 4, 128, 64}, {2, 8, 4, 127, 64}, {-1, 8, 4, 128, 64}} {
		vectors, x, xs, y, ys := bad[0], bad[1], bad[2], bad[3], bad[4]
		assert.PanicsWithValue(t, fmt.Sprintf("la: %d vectors in x and y of %d and %d elements, %d and %d apart, where each needs 4 and 64", vectors, x, y, xs, ys),
			rows(0, 1, vectors, x, xs, y, ys))
	}
}

func BenchmarkLowerBytes(b *testing.B) {
	for _, n := range []int{704, 1024} {
		l := NewLowerBytes(n, n)
		f := PackLower[float32](NewMatrix[float64](n, n))
		x, y := make([]int16, n), make([]int32, n)
		xf, yf := make([]float32, n), make([]float32, n)
		b.Run("bytes", func(b *testing.B) {
			for b.Loop() {
				l.MultiplyVec(x, y)
			}
		})
		b.Run("float32", func(b *testing.B) {
			for b.Loop() {
				f.MultiplyVec(xf, yf)
			}
		})
	}
}
