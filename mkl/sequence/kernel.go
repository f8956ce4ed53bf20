package sequence

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Kernel is a measure of how similar two strings are. Only this
// package implements it; the zero values of its kernels are ready to use.
type Kernel interface {
	// String returns the kernel in the notation that [Parse] reads, with all defaults
	// filled in.
	String() string

	// check returns an error for settings that make no sense for strings of an alphabet.
	check(a Alphabet) error

	// values computes the kernel, not yet scaled. If the task has the same strings in rows
	// and columns, it computes the lower triangle only.
	values(ctx context.Context, t *task) error

	// scaled returns the kernel of two strings scaled to unit diagonal. v is its value, x and y are
	// the kernels of the two strings with themselves.
	scaled(v, x, y float64) float64

	// view returns the view of the scaled kernel of the training strings.
	view(k mkl.Features) mkl.View
}

// Spectrum counts the substrings of K letters that strings have in common:
//
//	k(x, y) = Σ_u #_u(x)·#_u(y)   over all strings u of K letters.
//
// Source: C. Leslie, E. Eskin and W. S. Noble, "The spectrum kernel: a string kernel for
// SVM protein classification", PSB 2002.
type Spectrum struct {
	// K is the substrings' length; 0 means 3. It is at most 12 for proteins, 32 for
	// DNA and 8 for bytes.
	K int
}

// Mismatch is [Spectrum] in which a substring counts for every string that differs from it
// in at most M of their K letters.
//
// Source: C. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble, "Mismatch string
// kernels for discriminative protein classification", Bioinformatics 20 (2004).
type Mismatch struct {
	// K is the length of a substring and M the number of letters that may differ; both 0 means 5 and 1.
	// M must be less than K. The cost grows with the number of ways to choose 2M of K
	// letters.
	K, M int
}

// Subsequence compares the subsequences of K letters, with gaps. Each occurrence counts
// Decay to the power of its length, from its first letter to its last:
//
//	k(x, y) = Σ_u (Σ_i Decay^(i_K−i_1+1))·(Σ_j Decay^(j_K−j_1+1)),
//
// over all strings u of K letters and the positions i_1 < … < i_K in x and j in y at which u
// occurs. It costs K·|x|·|y|.
//
// Source: H. Lodhi, C. Saunders, J. Shawe-Taylor, N. Cristianini and C. Watkins, "Text
// classification using string kernels", JMLR 2 (2002).
type Subsequence struct {
	K     int     // letters; 0 means 3, at most 64
	Decay float64 // above 0, at most 1; 0 means 0.5
}

// Oligomer compares histograms of distances. For any two strings u and v of K letters
// and each distance d ≥ 0 it counts how often v begins d letters after u:
//
//	k(x, y) = Σ_d Σ_u Σ_v #_{u,v,d}(x)·#_{u,v,d}(y).
//
// With K = 1 this is the monomer distance kernel.
//
// Source: T. Lingner and P. Meinicke, "Remote homology detection based on oligomer
// distances", Bioinformatics 22 (2006).
type Oligomer struct {
	// K is the length of u and v; 0 means 1. It is at most 6 for proteins, 16 for DNA
	// and 4 for bytes.
	K int

	// Longest is the longest distance; 0 means all distances that occur.
	Longest int
}

// Alignment is the score of the best local alignment, by the algorithm of Smith and
// Waterman. It is not positive semidefinite: models that use kernels as features accept
// it, Gaussian processes do not.
//
// Sources: T. F. Smith and M. S. Waterman, "Identification of common molecular
// subsequences", J. Mol. Biol. 147 (1981); O. Gotoh, "An improved algorithm for matching
// biological sequences", J. Mol. Biol. 162 (1982).
type Alignment struct {
	Gaps Gaps // both 0 means 11 and 1 for proteins, 10 and 1 for others
}

// LocalAlignment sums e^(Beta·score) over all local alignments, while [Alignment] uses
// only the best one, and returns log(sum)/Beta. The logarithm is not positive semidefinite;
// the sum itself is, but it is nearly the identity.
//
// Source: H. Saigo, J.-P. Vert, N. Ueda and T. Akutsu, "Protein homology detection using
// string alignment kernels", Bioinformatics 20 (2004).
type LocalAlignment struct {
	Beta float64 // 0 means 0.5, as in the paper; at most 20
	Gaps Gaps    // both 0 means 12 and 2, as in the paper

	// Sum returns the sum without the logarithm.
	Sum bool
}

// Pairwise describes a string by its [Alignment] scores with all training strings,
// each scaled to unit diagonal, and returns the cosine of two such descriptions.
//
// Source: L. Liao and W. S. Noble, "Combining pairwise sequence similarity and support
// vector machines for detecting remote protein evolutionary and structural
// relationships", J. Comput. Biol. 10 (2003).
type Pairwise struct {
	Gaps Gaps // as in Alignment
}

// Gaps are the costs of gaps in alignments: n letters without a partner in the other
// string cost Open + (n−1)·Extend. A pair of amino acids scores as in BLOSUM62. In other alphabets
// a pair scores 5 if its letters are equal and −4 if not. An unknown letter scores −1
// with any letter.
type Gaps struct {
	Open   int // the cost of the first letter
	Extend int // the cost of each further letter, at most Open
}

func (g Gaps) or(open, extend int) Gaps {
	if g == (Gaps{}) {
		return Gaps{open, extend}
	}
	return g
}

func (g Gaps) check() error {
	if g.Open < 1 || g.Open > 1000 || g.Extend < 0 || g.Extend > g.Open {
		return fmt.Errorf("Gaps: Open is %d and Extend %d: Open is between 1 and 1000, Extend between 0 and Open", g.Open, g.Extend)
	}
	return nil
}

func (g Gaps) String() string { return fmt.Sprintf("open=%d,extend=%d", g.Open, g.Extend) }

func (k Spectrum) filled() Spectrum {
	if k.K == 0 {
		k.K = 3
	}
	return k
}

func (k Mismatch) filled() Mismatch {
	if k == (Mismatch{}) {
		return Mismatch{5, 1}
	}
	return k
}

func (k Subsequence) filled() Subsequence {
	if k.K == 0 {
		k.K = 3
	}
	if k.Decay == 0 {
		k.Decay = 0.5
	}
	return k
}

func (k Oligomer) filled() Oligomer {
	if k.K == 0 {
		k.K = 1
	}
	return k
}

// filled leaves gaps unchanged: they depend on the alphabet, and [aligned] fills them in.
func (k LocalAlignment) filled() LocalAlignment {
	if k.Beta == 0 {
		k.Beta = 0.5
	}
	k.Gaps = k.Gaps.or(12, 2)
	return k
}

// String implements [Kernel].
func (k Spectrum) String() string { return fmt.Sprintf("spectrum(k=%d)", k.filled().K) }

// String implements [Kernel].
func (k Mismatch) String() string {
	k = k.filled()
	return fmt.Sprintf("mismatch(k=%d,m=%d)", k.K, k.M)
}

// String implements [Kernel].
func (k Subsequence) String() string {
	k = k.filled()
	return fmt.Sprintf("subsequence(k=%d,decay=%s)", k.K, strconv.FormatFloat(k.Decay, 'g', -1, 64))
}

// String implements [Kernel].
func (k Oligomer) String() string {
	k = k.filled()
	if k.Longest == 0 {
		return fmt.Sprintf("oligomer(k=%d)", k.K)
	}
	return fmt.Sprintf("oligomer(k=%d,longest=%d)", k.K, k.Longest)
}

// String implements [Kernel].
func (k Alignment) String() string { return withGaps("alignment", k.Gaps) }

// String implements [Kernel].
func (k Pairwise) String() string { return withGaps("pairwise", k.Gaps) }

// withGaps omits the gaps if they are default values, which depend on the alphabet.
func withGaps(name string, g Gaps) string {
	if g == (Gaps{}) {
		return name
	}
	return name + "(" + g.String() + ")"
}

// String implements [Kernel].
func (k LocalAlignment) String() string {
	k = k.filled()
	s := "la(beta=" + strconv.FormatFloat(k.Beta, 'g', -1, 64) + "," + k.Gaps.String()
	if k.Sum {
		s += ",sum"
	}
	return s + ")"
}

// checkLength returns an error unless 1 ≤ k and n substrings of k letters fit into the given number of bits.
func checkLength(a Alphabet, k, n, bits int) error {
	if most := bits / (n * a.bits()); k < 1 || k > most {
		return fmt.Errorf("K is %d, not between 1 and %d for %v", k, most, a)
	}
	return nil
}

func (k Spectrum) check(a Alphabet) error { return checkLength(a, k.filled().K, 1, 64) }

func (k Mismatch) check(a Alphabet) error {
	k = k.filled()
	if err := checkLength(a, k.K, 1, 64); err != nil {
		return err
	}
	if k.M < 0 || k.M >= k.K {
		return fmt.Errorf("M is %d, not between 0 and %d", k.M, k.K-1)
	}
	ways := 0.0
	for left := range min(2*k.M, k.K) + 1 {
		ways += binomial(k.K, left)
	}
	if ways > 10000 || k.common(0, a.size()) > 1<<32 {
		return fmt.Errorf("K is %d and M is %d: a substring has %.0f neighbours, found in %.0f steps, which is too many", k.K, k.M, k.common(0, a.size()), ways)
	}
	return nil
}

func (k Subsequence) check(Alphabet) error {
	k = k.filled()
	if k.K < 1 || k.K > 64 {
		return fmt.Errorf("K is %d, not between 1 and 64", k.K)
	}
	if !(k.Decay > 0 && k.Decay <= 1) {
		return fmt.Errorf("Decay is %g, not above 0 and at most 1", k.Decay)
	}
	return nil
}

func (k Oligomer) check(a Alphabet) error {
	if k.Longest < 0 {
		return fmt.Errorf("Longest is %d", k.Longest)
	}
	return checkLength(a, k.filled().K, 2, 64)
}

func (k Alignment) check(a Alphabet) error { return newScoring(a, k.Gaps).gaps.check() }
func (k Pairwise) check(a Alphabet) error  { return newScoring(a, k.Gaps).gaps.check() }

func (k LocalAlignment) check(Alphabet) error {
	k = k.filled()
	if !(k.Beta > 0 && k.Beta <= 20) {
		return fmt.Errorf("Beta is %g, not above 0 and at most 20", k.Beta)
	}
	return k.Gaps.check()
}

// toUnit divides by the square root of both diagonal values.
func toUnit(v, x, y float64) float64 {
	if !(x > 0 && y > 0) {
		return 0
	}
	return v / math.Sqrt(x) / math.Sqrt(y)
}

func (Spectrum) scaled(v, x, y float64) float64    { return toUnit(v, x, y) }
func (Mismatch) scaled(v, x, y float64) float64    { return toUnit(v, x, y) }
func (Subsequence) scaled(v, x, y float64) float64 { return toUnit(v, x, y) }
func (Oligomer) scaled(v, x, y float64) float64    { return toUnit(v, x, y) }
func (Alignment) scaled(v, x, y float64) float64   { return toUnit(v, x, y) }
func (Pairwise) scaled(v, x, y float64) float64    { return toUnit(v, x, y) }

// scaled works on logarithms.
func (k LocalAlignment) scaled(v, x, y float64) float64 {
	if k.Sum {
		return special.Exp(v - float64(x/2) - float64(y/2))
	}
	return toUnit(v, x, y)
}

// given returns the view of a kernel matrix. The matrix is normalised already; because the view says so,
// every model requires the kernel of a new string with itself.
func given(k Kernel, x mkl.Features, indefinite bool) mkl.View {
	return mkl.View{Name: k.String(), X: x, Input: k.String(), Kernel: kernel.Precomputed{AllowIndefinite: indefinite}, Normalize: true}
}

func (k Spectrum) view(x mkl.Features) mkl.View       { return given(k, x, false) }
func (k Mismatch) view(x mkl.Features) mkl.View       { return given(k, x, false) }
func (k Subsequence) view(x mkl.Features) mkl.View    { return given(k, x, false) }
func (k Oligomer) view(x mkl.Features) mkl.View       { return given(k, x, false) }
func (k Alignment) view(x mkl.Features) mkl.View      { return given(k, x, true) }
func (k LocalAlignment) view(x mkl.Features) mkl.View { return given(k, x, !k.Sum) }

func (k Pairwise) view(x mkl.Features) mkl.View {
	return mkl.View{Name: k.String(), X: x, Input: k.String(), Kernel: kernel.Linear{}, Normalize: true}
}
