//go:build !openblas || !cgo

package main

func bestOpenBLAS() (restarted bool, err error) { return false, nil }

func openblasVersion() string { return "not built in (-tags openblas)" }

const openblasFlag = ""

// peers are the libraries that every row is measured against.
var peers = []peer{gonum}
