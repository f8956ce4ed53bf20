package la

import (
	"fmt"
	"os"
	"strings"
	"unsafe"
)

// An instructionSet is one implementation of the kernel table.
type instructionSet struct {
	name string
	f64  kernels[float64]
	f32  kernels[float32]

	mixed vectorKernels[float32, float64]

	strips64 stripKernels[float64]
	strips32 stripKernels[float32]

	panels64 panelKernels[float64]
	panels32 panelKernels[float32]

	exp2Sum  exp2SumEntry
	mulBytes bytesEntry

	mulBytesRows bytesRowsEntry // nil where one vector at a time is as fast
	words        wordKernels
}

// newSet returns an instruction set with the portable routines.
func newSet(name string) *instructionSet {
	return &instructionSet{name: name, f64: genericKernels[float64](), f32: genericKernels[float32](),
		mixed:    genericVectorKernels[float32, float64](),
		strips64: genericStripKernels[float64](), strips32: genericStripKernels[float32](),
		panels64: genericPanelKernels[float64](), panels32: genericPanelKernels[float32](),
		exp2Sum: genericExp2Sum, mulBytes: genericMulBytes, words: genericWords}
}

// instructionSets holds the sets that are in this binary and that this CPU can run, best first. The
// last one is generic.
var instructionSets = completed(append(machineSets(), &genericSet))

// completed adds to every set the entries that are made from other entries.
func completed(sets []*instructionSet) []*instructionSet {
	for _, s := range sets {
		s.f64.complete()
		s.f32.complete()
		s.mixed.complete()
	}
	return sets
}

// active is the instruction set in use. It is nil if activeErr is an error.
var active, activeErr = selectSet(os.Getenv("BMKL_KERNEL"))

// InstructionSet returns the name of the instruction set in use: avx512, avx2, neon or generic.
// It is the best one that this CPU has, unless the environment variable BMKL_KERNEL names another.
//
// It returns an error if BMKL_KERNEL names an instruction set that is unknown, or that this CPU or
// this build lacks. Every routine of the package panics with this error. A program whose users may
// set the variable calls InstructionSet first and prints the error.
func InstructionSet() (string, error) {
	if active == nil {
		return "", activeErr
	}
	return active.name, nil
}

// selectSet returns the instruction set with the given name. The empty name stands for the best set.
func selectSet(name string) (*instructionSet, error) {
	if name == "" {
		return instructionSets[0], nil
	}
	have := make([]string, len(instructionSets))
	for i, s := range instructionSets {
		if s.name == name {
			return s, nil
		}
		have[i] = s.name
	}
	return nil, fmt.Errorf("la: BMKL_KERNEL=%s is not available here; available: %s", name, strings.Join(have, ", "))
}

// table returns the kernels in use for T.
func table[T Float]() *kernels[T] {
	s := active
	if s == nil {
		panic(activeErr)
	}
	if is64[T]() {
		return (*kernels[T])(unsafe.Pointer(&s.f64))
	}
	return (*kernels[T])(unsafe.Pointer(&s.f32))
}

// vectorTable returns the kernels in use for matrices stored in S and arithmetic
// in T, which is S or wider.
func vectorTable[S, T Float]() *vectorKernels[S, T] {
	if is64[S]() == is64[T]() {
		return (*vectorKernels[S, T])(unsafe.Pointer(&table[T]().vectorKernels))
	}
	table[T]() // panics if no set is in use
	return (*vectorKernels[S, T])(unsafe.Pointer(&active.mixed))
}

// stripTable returns the kernels in use for the strips of triangles.
func stripTable[T Float]() *stripKernels[T] {
	table[T]() // panics if no set is in use
	k := (*stripKernels[T])(unsafe.Pointer(&active.strips64))
	if !is64[T]() {
		k = (*stripKernels[T])(unsafe.Pointer(&active.strips32))
	}
	return k
}

// panelTable returns the kernels in use for panels.
func panelTable[T Float]() *panelKernels[T] {
	table[T]() // panics if no set is in use
	if is64[T]() {
		return (*panelKernels[T])(unsafe.Pointer(&active.panels64))
	}
	return (*panelKernels[T])(unsafe.Pointer(&active.panels32))
}

// is64 reports whether T is float64. The compiler evaluates it in each instance of generic code.
func is64[T Float]() bool {
	var z T
	return unsafe.Sizeof(z) == 8
}
