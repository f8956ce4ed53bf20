//go:build openblas && cgo

package main

/*
#cgo LDFLAGS: -lopenblas
#include <cblas.h>

// LAPACK's Fortran entry points that OpenBLAS optimises; row-major lower is
// their upper.
void dpotrf_(char*, int*, double*, int*, int*);
void dpotri_(char*, int*, double*, int*, int*);
*/
import "C"

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/bmkl/bmkl/la"
)

// coreTypes are the values of OPENBLAS_CORETYPE worth trying; the empty one leaves the
// choice to OpenBLAS. It reads the variable when it is loaded, so that each needs a
// process of its own.
var coreTypes = []string{"", "HASWELL", "ZEN", "SKYLAKEX", "COOPERLAKE", "SAPPHIRERAPIDS"}

// bestOpenBLAS runs the program again with the core type whose dgemm is
// fastest here, unless it is already running so.
func bestOpenBLAS() (restarted bool, err error) {
	const probe, chosen = "BMKL_BENCH_PROBE", "BMKL_BENCH_CORE"
	C.openblas_set_num_threads(1)
	if os.Getenv(probe) != "" {
		n := 1024
		a, b, c := random(n, n, 1), random(n, n, 2), random(n, n, 3)
		s := inTurn([]contender{{run: func(int) { openblas.gemm(a, b, c) }}}, 15, 30*time.Millisecond)
		fmt.Println(s[0].q1)
		return true, nil
	}
	if os.Getenv(chosen) != "" {
		return false, nil
	}
	best, bestTime := "", 0.0
	for _, core := range coreTypes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "OPENBLAS_CORETYPE="+core, probe+"=1")
		out, err := cmd.Output()
		if err != nil {
			continue // this CPU lacks the instructions
		}
		if t, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err == nil && (bestTime == 0 || t < bestTime) {
			best, bestTime = core, t
		}
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), "OPENBLAS_CORETYPE="+best, chosen+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return true, cmd.Run()
}

func openblasVersion() string {
	return strings.Fields(C.GoString(C.openblas_get_config()))[1] + " " + C.GoString(C.openblas_get_corename())
}

type openblasPeer struct{}

var openblas = openblasPeer{}

func ptr(m la.Matrix[float64]) *C.double  { return (*C.double)(&m.Data[0]) }
func ptr32(m la.Matrix[float32]) *C.float { return (*C.float)(&m.Data[0]) }

func (openblasPeer) name() string { return "OpenBLAS" }

func (openblasPeer) gemm(a, b, c la.Matrix[float64]) {
	C.cblas_dgemm(C.CblasRowMajor, C.CblasNoTrans, C.CblasNoTrans, C.int(c.Rows), C.int(c.Cols), C.int(a.Cols),
		1, ptr(a), C.int(a.Stride), ptr(b), C.int(b.Stride), 0, ptr(c), C.int(c.Stride))
}

func (openblasPeer) gemm32(a, b, c la.Matrix[float32]) {
	C.cblas_sgemm(C.CblasRowMajor, C.CblasNoTrans, C.CblasNoTrans, C.int(c.Rows), C.int(c.Cols), C.int(a.Cols),
		1, ptr32(a), C.int(a.Stride), ptr32(b), C.int(b.Stride), 0, ptr32(c), C.int(c.Stride))
}

func (openblasPeer) syrk(a, c la.Matrix[float64]) {
	C.cblas_dsyrk(C.CblasRowMajor, C.CblasLower, C.CblasNoTrans, C.int(c.Rows), C.int(a.Cols),
		1, ptr(a), C.int(a.Stride), 0, ptr(c), C.int(c.Stride))
}

func (openblasPeer) cholesky(a la.Matrix[float64]) {
	uplo, n, ld, info := C.char('U'), C.int(a.Rows), C.int(a.Stride), C.int(0)
	C.dpotrf_(&uplo, &n, ptr(a), &ld, &info)
	if info != 0 {
		panic(fmt.Sprint("dpotrf: ", info))
	}
}

func (openblasPeer) inverse(l la.Matrix[float64]) {
	uplo, n, ld, info := C.char('U'), C.int(l.Rows), C.int(l.Stride), C.int(0)
	C.dpotri_(&uplo, &n, ptr(l), &ld, &info)
	if info != 0 {
		panic(fmt.Sprint("dpotri: ", info))
	}
}

func (openblasPeer) gemv(a la.Matrix[float64], x, y []float64) {
	C.cblas_dgemv(C.CblasRowMajor, C.CblasNoTrans, C.int(a.Rows), C.int(a.Cols), 1, ptr(a), C.int(a.Stride),
		(*C.double)(&x[0]), 1, 0, (*C.double)(&y[0]), 1)
}

func (openblasPeer) symv(a la.Matrix[float64], x, y []float64) {
	C.cblas_dsymv(C.CblasRowMajor, C.CblasLower, C.int(a.Rows), 1, ptr(a), C.int(a.Stride),
		(*C.double)(&x[0]), 1, 0, (*C.double)(&y[0]), 1)
}

// openblasFlag is the flag of the go command that builds this file in.
const openblasFlag = " -tags openblas"

// peers are the libraries that every row is measured against.
var peers = []peer{gonum, openblas}
