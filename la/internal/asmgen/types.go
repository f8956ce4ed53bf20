package main

import "fmt"

// lanes is the number of lanes of a dot product, dotLanes in package la.
const lanes = 32

// A pair is the two types of a routine: matrices are stored in the first, and vectors are stored,
// and all arithmetic is done, in the second.
type pair struct {
	name                string // last part of the names of its routines
	storage, arithmetic string
	from, size          int    // bytes of an element of a matrix and of a vector
	suffix              string // of instructions: D or S, for doubles or singles
	shift               int    // log₂ of from
}

var pairs = []pair{
	{"64", "float64", "float64", 8, 8, "D", 3},
	{"32", "float32", "float32", 4, 4, "S", 2},
	{"Mixed", "float32", "float64", 4, 8, "D", 2},
}

// mixed reports whether elements of a matrix are widened after they are loaded.
func (p pair) mixed() bool { return p.from != p.size }

// pointers returns the parameters that point to matrix elements (names in first) and to vector
// elements (names in others).
func (p pair) pointers(first, others string) string {
	if p.mixed() {
		return fmt.Sprintf("%s *%s, %s *%s", first, p.storage, others, p.arithmetic)
	}
	return fmt.Sprintf("%s, %s *%s", first, others, p.arithmetic)
}

// dotSignature returns the declaration of Dot and the offset of its result.
func (p pair) dotSignature() (signature string, result int) {
	return fmt.Sprintf("(n int, %s, lanes *[dotLanes]%s) %s", p.pointers("a", "x"), p.arithmetic, p.arithmetic), 32
}

// dotAxpySignature returns the declaration of DotAxpy and the offset of its result.
func (p pair) dotAxpySignature() (signature string, result int) {
	return fmt.Sprintf("(n int, alpha %s, %s, lanes *[dotLanes]%s) %s",
		p.arithmetic, p.pointers("a", "x, y"), p.arithmetic, p.arithmetic), 48
}

// axpySignature returns the declaration of Axpy. Its arguments take axpyBytes.
func (p pair) axpySignature() string {
	return fmt.Sprintf("(n int, alpha %s, %s)", p.arithmetic, p.pointers("a", "y"))
}

// axpysSignature returns the declaration of Axpys. Its arguments take axpysBytes.
func (p pair) axpysSignature() string {
	coefficients := fmt.Sprintf("x, a *%s", p.arithmetic)
	if p.mixed() {
		coefficients = fmt.Sprintf("x *%s, a *%s", p.arithmetic, p.storage)
	}
	return fmt.Sprintf("(n int, %s, lda int, y *%s)", coefficients, p.arithmetic)
}

// scalSignature returns the declaration of Scal. Its arguments take scalBytes.
func (p pair) scalSignature() string {
	return fmt.Sprintf("(n int, alpha %s, x *%s)", p.arithmetic, p.arithmetic)
}

// negRootSignature returns the declaration of NegRoot. Its arguments take negRootBytes.
func (p pair) negRootSignature() string {
	return fmt.Sprintf("(n int, x *%s)", p.arithmetic)
}

// restTimesSignature returns the declaration of RestTimes. Its arguments take restTimesBytes.
func (p pair) restTimesSignature() string {
	return fmt.Sprintf("(n int, e, x *%s)", p.arithmetic)
}

// Bytes of the arguments.
const axpyBytes, axpysBytes, scalBytes, negRootBytes, restTimesBytes = 32, 40, 24, 16, 24
