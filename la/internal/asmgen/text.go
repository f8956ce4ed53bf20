package main

import (
	"fmt"
	"strings"
)

// text is the assembly written so far.
type text struct{ strings.Builder }

// begin opens a routine: it emits the declaration in Go, the lines of the comment, and TEXT.
// args is the number of bytes of the arguments and results.
func (t *text) begin(name, signature string, args int, comment ...string) {
	fmt.Fprintf(t, "\n// func %s%s\n//\n", name, signature)
	for _, c := range comment {
		fmt.Fprintf(t, "//%s\n", c)
	}
	fmt.Fprintf(t, "TEXT ·%s(SB), NOSPLIT, $0-%d\n", name, args)
}

// op emits an instruction.
func (t *text) op(format string, args ...any) { fmt.Fprintf(t, "\t"+format+"\n", args...) }

// label emits a label.
func (t *text) label(l string) { fmt.Fprintf(t, "\n%s:\n", l) }

// offset returns the offset of an address, empty for 0.
func offset(o int) string {
	if o == 0 {
		return ""
	}
	return fmt.Sprint(o)
}
