package kernel

import "math"

// IBS is the kernel of genotypes, the mean share of alleles that two samples have in common (identity by state),
//
//	mean over j of 1 − |x_j−y_j|/2.
//
// A feature is a number of minor alleles, 0, 1 or 2, or an expected number in between. A value outside of 0 to 2 counts
// as the nearer end. The features must not be standardised. Source: Wessel and Schork, 2006.
type IBS struct{}

// String implements [Kernel].
func (IBS) String() string { return "ibs" }

// Check implements [Kernel].
func (IBS) Check(int) error { return nil }

// Statistic implements [Kernel]. It is the kernel itself.
func (IBS) Statistic() Statistic {
	return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) float64 {
		apart := 0.0
		for j, v := range x {
			apart += math.Abs(min(max(v, 0), 2) - min(max(y[j], 0), 2))
		}
		return max(0, 1-apart/float64(2*len(x)))
	}}
}

// Apply implements [Kernel].
func (IBS) Apply([]float64) {}

// Properties implements [Kernel].
func (IBS) Properties() Properties { return Properties{Bounded: true, Definite: true} }

// Missing implements [Kernel].
func (IBS) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k IBS) Resolve(float64) Kernel { return k }
