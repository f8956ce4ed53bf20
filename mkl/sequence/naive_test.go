package sequence

import (
	"math"
	"strings"
)

// The kernels as they are defined, string by string, without any of the package's code but
// its table of scores.

func letters(a Alphabet) string {
	return map[Alphabet]string{Protein: "ACDEFGHIKLMNPQRSTVWY", DNA: "ACGT"}[a]
}

// plain returns s in upper case with ? for letters that are unknown.
func plain(a Alphabet, s string) string {
	if a == Bytes {
		return s
	}
	s = strings.ToUpper(s)
	if a == DNA {
		s = strings.ReplaceAll(s, "U", "T")
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters(a), r) {
			return r
		}
		return '?'
	}, s)
}

// inner returns the inner product of two tables of counts.
func inner[K comparable](x, y map[K]float64) float64 {
	sum := 0.0
	for u, n := range x {
		sum += n * y[u]
	}
	return sum
}

func naiveMismatch(a Alphabet, x, y string, k, m int) float64 {
	count := func(s string) map[string]float64 {
		table := map[string]float64{}
		for i := 0; i+k <= len(s); i++ {
			word := s[i : i+k]
			if a != Bytes && strings.Contains(word, "?") {
				continue
			}
			if m == 0 {
				table[word]++
				continue
			}
			var spread func(at, left int, u []byte)
			spread = func(at, left int, u []byte) {
				if at == k {
					table[string(u)]++
					return
				}
				spread(at+1, left, append(u, word[at]))
				if left == 0 {
					return
				}
				for _, c := range []byte(letters(a)) {
					if c != word[at] {
						spread(at+1, left-1, append(u[:at:at], c))
					}
				}
			}
			spread(0, m, nil)
		}
		return table
	}
	return inner(count(x), count(y))
}

func naiveOligomer(a Alphabet, x, y string, k, longest int) float64 {
	type feature struct {
		u, v string
		d    int
	}
	count := func(s string) map[feature]float64 {
		table := map[feature]float64{}
		for i := 0; i+k <= len(s); i++ {
			for j := i; j+k <= len(s); j++ {
				u, v := s[i:i+k], s[j:j+k]
				if (longest == 0 || j-i <= longest) && (a == Bytes || !strings.Contains(u+v, "?")) {
					table[feature{u, v, j - i}]++
				}
			}
		}
		return table
	}
	return inner(count(x), count(y))
}

func naiveSubsequence(a Alphabet, x, y string, k int, decay float64) float64 {
	count := func(s string) map[string]float64 {
		table := map[string]float64{}
		var grow func(from, first int, u string)
		grow = func(from, first int, u string) {
			if len(u) == k {
				table[u] += math.Pow(decay, float64(from-first))
				return
			}
			for i := from; i < len(s); i++ {
				if a != Bytes && s[i] == '?' {
					continue
				}
				if u == "" {
					first = i
				}
				grow(i+1, first, u+s[i:i+1])
			}
		}
		grow(0, 0, "")
		return table
	}
	return inner(count(x), count(y))
}

// naivePairs goes through all alignments by their last pair of letters: value of a pair
// that ends one, from the score of the pair and, for each earlier pair, its value and the
// cost of the letters between. join takes a pair's score and all (value − cost).
func naivePairs(a Alphabet, x, y string, g Gaps, join func(score float64, before []float64) float64) []float64 {
	score := func(c, d byte) float64 {
		switch {
		case a != Bytes && (c == '?' || d == '?'):
			return -1
		case a == Protein:
			return float64(blosum62[strings.IndexByte(aminoAcids, c)][strings.IndexByte(aminoAcids, d)])
		case c == d:
			return 5
		}
		return -4
	}
	cost := func(n int) float64 {
		if n == 0 {
			return 0
		}
		return float64(g.Open + (n-1)*g.Extend)
	}
	value := make([][]float64, len(x))
	var all []float64
	for i := range x {
		value[i] = make([]float64, len(y))
		for j := range y {
			var before []float64
			for p := range i {
				for q := range j {
					before = append(before, value[p][q]-cost(i-p-1)-cost(j-q-1))
				}
			}
			value[i][j] = join(score(x[i], y[j]), before)
			all = append(all, value[i][j])
		}
	}
	return all
}

func naiveAlignment(a Alphabet, x, y string, g Gaps) float64 {
	best := 0.0
	for _, v := range naivePairs(a, x, y, g, func(score float64, before []float64) float64 {
		most := 0.0
		for _, b := range before {
			most = max(most, b)
		}
		return score + most
	}) {
		best = max(best, v)
	}
	return best
}

// naiveLocalAlignment returns the logarithm of the sum. Values are logarithms over β.
func naiveLocalAlignment(a Alphabet, x, y string, g Gaps, beta float64) float64 {
	logSum := func(v []float64) float64 { // log(1 + Σ e^(βv))
		most, sum := 0.0, 0.0
		for _, b := range v {
			most = max(most, beta*b)
		}
		for _, b := range v {
			sum += math.Exp(beta*b - most)
		}
		return most + math.Log(math.Exp(-most)+sum)
	}
	return logSum(naivePairs(a, x, y, g, func(score float64, before []float64) float64 {
		return score + logSum(before)/beta
	}))
}
