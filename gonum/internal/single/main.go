// Command single writes the BLAS routines for single precision. Their text is the text of the routines
// for double precision with other names and types.
package main

import (
	"flag"
	"log"
	"os"
	"regexp"
	"strings"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "", "`file` to write")
	flag.Parse()
	text, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, []byte(single(string(text))), 0o666); err != nil {
		log.Fatal(err)
	}
}

// routine finds the names of the routines that are defined.
var routine = regexp.MustCompile(`func \(i BLAS\) D([a-z0-9]+)\(`)

// single returns the source for single precision.
func single(double string) string {
	text := strings.ReplaceAll(double, "float64", "float32")
	for _, found := range routine.FindAllStringSubmatch(double, -1) {
		text = strings.ReplaceAll(text, "D"+found[1], "S"+found[1])
	}
	return "// Code generated from blas_double.go by internal/single. DO NOT EDIT.\n\n" + text
}
