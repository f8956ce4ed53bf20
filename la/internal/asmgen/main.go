// Asmgen writes the vector routines of package la: dot products, axpys and scalings in asm_amd64.s and
// asm_arm64.s, chains over panels in panel_amd64.s and panel_arm64.s, steps of Matérn correlations in
// matern_amd64.s and matern_arm64.s, and integers made from floats in words_amd64.s. They exist for three instruction sets and three pairs of types, and differ
// only in mnemonics, registers and strides. Run "go generate" in la after a change here. The test
// of this package fails while a file in la differs from what asmgen writes.
//
// A routine is a method that emits its comment and then its instructions in order.
//
//	text.go        the text so far: comments, labels, instructions
//	types.go       the pairs of types and the declarations of the routines in Go
//	x86.go         AVX-512 and AVX2: registers, masks
//	x86_dot.go     Dot and DotAxpy
//	x86_dots.go    Dots and DotAxpys: four rows side by side
//	x86_axpy.go    Axpy, Axpys and Scal
//	panel.go       the routines on panels
//	x86_panel.go   the same for AVX-512 and AVX2
//	x86_bytes.go   products of panels of bytes
//	x86_words.go   vectors of integers made from floats, and back
//	x86_matern.go  NegRoot and RestTimes
//	neon.go        NEON: registers, moves
//	neon_dot.go    Dot and DotAxpy
//	neon_axpy.go   Axpy, Axpys and Scal
//	neon_panel.go  the routines on panels
//	neon_matern.go NegRoot and RestTimes
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", ".", "folder of package la, where the files are written")
	flag.Parse()
	for name, generate := range files {
		if err := os.WriteFile(filepath.Join(*dir, name), generate(), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// files maps the name of each generated file to the function that returns its text.
var files = map[string]func() []byte{
	"asm_amd64.s": generateX86, "panel_amd64.s": generateX86Panels,
	"asm_arm64.s": generateNEON, "panel_arm64.s": generateNEONPanels,
	"matern_amd64.s": generateX86Matern, "matern_arm64.s": generateNEONMatern,
	"words_amd64.s": generateX86Words,
}
