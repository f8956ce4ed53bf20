//go:build !openblas || !cgo

package main

func bestOpenBLAS() (restarted bool, err error) { return false, nil }

func openblasVersion() string { return "not built in (-tags openblas)" }

// openblasFlag is the flag of the go command that built OpenBLAS in: none.
const openblasFlag = ""

// peers are the libraries that every row is measured against.
var peers = []peer{gonum}
