package sequence

import "context"

// The kernel is the sum, over pairs of substrings with one from each string, of the number of strings
// that differ from both in at most M letters. That number depends only on the number h of letters in
// which the two substrings differ: N_h, which is 0 for h > 2M. Let C_h be
// the number of pairs that differ in h letters. Let θ_i be the number of pairs
// that agree when i letters are left out, summed over the ways to leave out i letters:
//
//	θ_i = Σ_{h ≤ i} binomial(K−h, i−h)·C_h,
//
// This can be inverted, so that Σ_h N_h·C_h = Σ_i w_i·θ_i with
//
//	w_i = Σ_{h ≥ i} (−1)^(h−i)·binomial(K−i, h−i)·N_h,   i, h ≤ min(2M, K).
//
// Each θ_i is a sum of spectrum kernels: nothing depends on the size of the alphabet.
//
// Source of the counting: P. Kuksa, P.-H. Huang and V. Pavlovic, "Scalable algorithms for
// string kernels with inexact matching", NIPS 2008.

// values implements [Kernel].
func (k Mismatch) values(ctx context.Context, t *task) error {
	k = k.filled()
	keep := make([]bool, k.K)
	for left, w := range k.weights(t.alphabet.size()) {
		err := choose(keep, k.K-left, func() error {
			return t.add(ctx, w, substrings(t.alphabet, k.K, keep))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// choose calls visit for each way to set n of the bools to true.
func choose(set []bool, n int, visit func() error) error {
	var from func(i, n int) error
	from = func(i, n int) error {
		if n > len(set)-i {
			return nil
		}
		if i == len(set) {
			return visit()
		}
		set[i] = false
		if err := from(i+1, n); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		set[i] = true
		err := from(i+1, n-1)
		set[i] = false
		return err
	}
	return from(0, n)
}

// weights returns w_i for an alphabet with the given number of letters.
func (k Mismatch) weights(letters int) []float64 {
	k = k.filled()
	w := make([]float64, min(2*k.M, k.K)+1)
	for i := range w {
		sign := 1.0
		for h := i; h < len(w); h++ {
			w[i] += float64(sign * binomial(k.K-i, h-i) * k.common(h, letters))
			sign = -sign
		}
	}
	return w
}

// common returns N_h. Consider a string that counts for both substrings. Of the h letters in which they differ, it
// agrees with the first in some, with the second in some, and with neither in n. Of the other letters it
// changes c.
func (k Mismatch) common(h, letters int) float64 {
	total := 0.0
	for c := range k.K - h + 1 {
		for n := range h + 1 {
			for first := range h - n + 1 {
				second := h - n - first
				if c+n+second > k.M || c+n+first > k.M {
					continue
				}
				total += float64(binomial(k.K-h, c) * power(letters-1, c) *
					binomial(h, n) * power(letters-2, n) * binomial(h-n, first))
			}
		}
	}
	return total
}

func binomial(n, k int) float64 {
	b := 1.0
	for i := range k {
		b = b * float64(n-i) / float64(i+1)
	}
	return b
}

func power(base, exponent int) float64 {
	p := 1.0
	for range exponent {
		p *= float64(base)
	}
	return p
}
