package acquire

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl"
)

// DefaultDraws is the number of draws of [ClassInformation] where none is given.
const DefaultDraws = 2000

// ClassInformation is [Information] for any number of classes, and for classifiers of any sharpness. It returns for each sample the mutual
// information, in nats, of its class and the functions f of the classes. With the probabilities p(f) of the classes and their entropy H,
//
//	I = H(E[p(f)]) − E[H(p(f))].
//
// It is at most the logarithm of the number of classes. The means are over draws from the posterior, DefaultDraws if draws is 0. The
// seed decides them. All samples have the same draws of standard normal numbers, each also with the other sign, so that scores of similar
// samples have similar errors. It is an error if draws is negative.
//
// Source: as [Information].
func ClassInformation(f *mkl.ClassFunctions, draws int, seed uint64) ([]float64, error) {
	switch {
	case draws < 0:
		return nil, fmt.Errorf("acquire: draws is %d", draws)
	case draws == 0:
		draws = DefaultDraws
	}
	out := make([]float64, len(f.Mean))
	if len(out) == 0 {
		return out, nil
	}
	L := len(f.Mean[0])
	z := make([]float64, draws*L)
	src := special.NewRand(rand.NewPCG(seed, 0x62616c64))
	for i := range z {
		z[i] = src.NormFloat64()
	}
	K := max(L, 2)
	values, p, mean := make([]float64, L), make([]float64, K), make([]float64, K)
	for i := range out {
		clear(mean)
		var entropy float64
		for d := 0; d < len(z); d += L {
			for _, sign := range []float64{1, -1} {
				for o, m := range f.Mean[i] {
					values[o] = m + float64(sign*math.Sqrt(max(0, f.Variance[i][o]))*z[d+o])
				}
				f.Probabilities(values, p)
				for c, v := range p {
					mean[c] += v
					entropy += surprise(v)
				}
			}
		}
		share := 1 / float64(2*draws)
		for _, v := range mean {
			out[i] += surprise(float64(share * v))
		}
		out[i] = max(0, out[i]-float64(share*entropy))
	}
	return out, nil
}
