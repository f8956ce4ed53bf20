package sequence

import (
	"fmt"
	"strings"
)

// Alphabet says which letters strings consist of. A letter that is not in it, such as
// the X for an unknown amino acid, is equal to no letter, not even to itself:
// counting kernels leave out all substrings that contain it.
type Alphabet int

const (
	// Bytes are all 256 bytes, each a letter.
	Bytes Alphabet = iota

	// Protein has the 20 amino acids, in upper or lower case.
	Protein

	// DNA has the nucleotides A, C, G and T, in upper or lower case; U is T.
	DNA
)

// aminoAcids are the letters of [Protein] in the order of the table blosum62.
const aminoAcids = "ARNDCQEGHILKMFPSTWYV"

// String returns "bytes", "protein" or "dna".
func (a Alphabet) String() string {
	switch a {
	case Bytes:
		return "bytes"
	case Protein:
		return "protein"
	case DNA:
		return "dna"
	}
	return fmt.Sprintf("Alphabet(%d)", int(a))
}

// ParseAlphabet is the inverse of String.
func ParseAlphabet(name string) (Alphabet, error) {
	for _, a := range []Alphabet{Bytes, Protein, DNA} {
		if a.String() == name {
			return a, nil
		}
	}
	return 0, fmt.Errorf("sequence: the alphabet %q is none of bytes, protein, dna", name)
}

// AlphabetOf returns the alphabet that strings suggest: [DNA] if all letters are A, C, G, T, U
// or N, else [Protein] if all are amino acids or one of the marks B, J, O, U, X, Z, * and -
// for unknown ones, and else [Bytes]. Letters may be upper or lower case.
func AlphabetOf(all []string) Alphabet {
	dna, protein := true, true
	for _, s := range all {
		s = strings.ToUpper(s)
		dna = dna && strings.Trim(s, "ACGTUN") == ""
		protein = protein && strings.Trim(s, aminoAcids+"BJOUXZ*-") == ""
	}
	switch {
	case dna:
		return DNA
	case protein:
		return Protein
	}
	return Bytes
}

func (a Alphabet) check() error {
	if a < Bytes || a > DNA {
		return fmt.Errorf("sequence: Alphabet is %v", a)
	}
	return nil
}

// size returns the number of letters. It is also the code of an unknown letter.
func (a Alphabet) size() int { return [...]int{256, 20, 4}[a] }

// bits returns how many bits hold a letter.
func (a Alphabet) bits() int { return [...]int{8, 5, 2}[a] }

// encode returns the codes of the letters of s, from 0 up.
func (a Alphabet) encode(s string) []uint16 {
	letters := [...]string{"", aminoAcids, "ACGT"}[a]
	codes := make([]uint16, len(s))
	for i := range len(s) {
		c := s[i]
		if a == Bytes {
			codes[i] = uint16(c)
			continue
		}
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if a == DNA && c == 'U' {
			c = 'T'
		}
		at := strings.IndexByte(letters, c)
		if at < 0 {
			at = a.size()
		}
		codes[i] = uint16(at)
	}
	return codes
}

func (a Alphabet) encodeAll(s []string) [][]uint16 {
	all := make([][]uint16, len(s))
	for i := range s {
		all[i] = a.encode(s[i])
	}
	return all
}
