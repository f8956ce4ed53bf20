package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// notice returns the file NOTICE: the table of all modules, then the texts of those that
// are given on in binary form, each text once.
func (s *supply) notice() []byte {
	var b bytes.Buffer
	b.WriteString(`bmkl is licensed under the Apache License 2.0 (see LICENSE). It is built from the modules below, which others wrote
and license as follows. "mkl" are linked into the command, "library" into programs that import the packages, "scale" into
those that import the packages of scale/nats or scale/beam; "tests" are used only by tests, measurements, releases and
the site of the manuals.
Texts of the first three follow the table.

This file is written by go run ./tool/supply.

`)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, m := range s.modules {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", m.path, m.version, m.use, strings.Join(m.licences, " AND "))
	}
	_ = t.Flush() // a buffer takes everything

	var texts []string // each once
	owners := map[string][]string{}
	for _, m := range s.modules {
		if m.use == inTests {
			continue
		}
		for _, text := range m.texts {
			if owners[text] == nil {
				texts = append(texts, text)
			}
			if !slices.Contains(owners[text], m.path) {
				owners[text] = append(owners[text], m.path)
			}
		}
	}
	for _, text := range texts {
		line := strings.Repeat("=", 80)
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s\n", line, strings.Join(owners[text], "\n"), line, text)
	}
	return b.Bytes()
}
