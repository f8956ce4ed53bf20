package la

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBitsDoNotDependOnTheArchitecture compares a digest of results with the digest of the first
// machine that computed it (amd64, portable kernels). The other tests compare instruction sets with
// the portable kernels of the same binary. This test also finds changes that a compiler makes to
// portable code, such as fusing a product and a sum. Only a change to the definition of a result may
// change the digest.
func TestBitsDoNotDependOnTheArchitecture(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		assert.Equal(t, uint64(0xd8dc436256bacc31), digest[float64](t), "float64")
		assert.Equal(t, uint64(0x32437c8b56536400), digest[float32](t), "float32")
	})
}

// digest returns a hash of the results of every routine on matrices whose
// elements are exact multiples of 2^-20 between -1 and 1.
func digest[T Float](t *testing.T) uint64 {
	r := rand.New(rand.NewPCG(20, 12))
	random := func(rows, cols int) Matrix[T] {
		m := NewMatrix[T](rows, cols)
		for i := range m.Data {
			m.Data[i] = T(r.IntN(1<<21)-1<<20) / (1 << 20)
		}
		return m
	}
	h := fnv.New64a()
	add := func(x ...T) {
		for _, v := range x {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(float64(v))))
		}
	}
	w := new(Workspace)
	const n, k = 61, BlockK + 7

	a, b, c := random(n, k), random(k, n), random(n, n)
	Gemm(w, NoTrans, NoTrans, T(0.7), a, b, T(-1.3), c)
	add(c.Data...)
	SqDist(w, a, random(n, k), c)
	add(c.Data...)
	x, y := random(1, k).Data, random(1, n).Data
	Gemv(w, NoTrans, T(0.7), a, x, T(0.3), y)
	add(y...)
	Gemv(w, Transpose, T(0.7), a, y, T(0.3), x)
	add(x...)

	s := random(n, n)
	Syrk(w, NoTrans, T(0.3), a, T(0.1), s)
	for i := range n {
		s.Set(i, i, s.At(i, i)+k)
	}
	add(s.Data...)
	Symv(w, T(0.7), s, random(1, n).Data, T(0.3), y)
	add(y...)
	l := s.Clone()
	require.NoError(t, Cholesky(w, l))
	add(l.Data...)
	add(T(LogDet(l)))
	rhs := random(n, 5)
	CholeskySolve(w, l, rhs)
	CholeskySolveVec(l, y)
	add(rhs.Data...)
	add(y...)
	CholeskyInvDiag(w, l, y)
	add(y...)
	inv := l.Clone()
	TriInv(w, inv)
	add(inv.Data...)
	CholeskyInv(w, l)
	add(l.Data...)

	e := make([]T, 3*k)
	for i := range e {
		e[i] = T(i-k) / 5
	}
	Exp(e, e)
	add(e...)
	Axpy(T(0.7), x, e[:k])
	Scal(T(0.7), e)
	add(e...)
	add(Dot(x, e[:k]), SumSq(x))
	return h.Sum64()
}
