package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licences are those that the project knows, by words that no other has.
var licences = []struct {
	id    string // of SPDX
	words string
}{
	{"Apache-2.0", "Apache License Version 2.0, January 2004"},
	{"Apache-2.0", "Licensed under the Apache License, Version 2.0"},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0 International Public License"},
	{"FTL", "The FreeType Project LICENSE"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
	{"OFL-1.1", "SIL OPEN FONT LICENSE Version 1.1"},
	{"BSL-1.0", "Boost Software License - Version 1.0"},
}

// bsd begins the licences of BSD, which differ by a third clause.
const (
	bsd   = "Redistribution and use in source and binary forms"
	third = "used to endorse or promote products derived from"
)

// identify returns the identifiers of the licences that stand in a text.
func identify(text string) (ids []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, l := range licences {
		if strings.Contains(text, l.words) {
			ids = append(ids, l.id)
		}
	}
	switch {
	case strings.Contains(text, bsd) && strings.Contains(text, third):
		ids = append(ids, "BSD-3-Clause")
	case strings.Contains(text, bsd):
		ids = append(ids, "BSD-2-Clause")
	}
	return ids
}

// offered are the files of modules that leave a choice of licences: the one taken.
var offered = map[string]string{"github.com/golang/freetype": "licenses/ftl.txt"}

var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)

// readLicences reads the files of a module with licences and notices.
func (m *module) readLicences() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && legal.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if taken := offered[m.path]; taken != "" {
		names = append(names, taken)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		plain := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
		m.texts = append(m.texts, plain)
		m.licences = append(m.licences, identify(plain)...)
	}
	slices.Sort(m.licences)
	m.licences = slices.Compact(m.licences)
	if len(m.licences) == 0 {
		return fmt.Errorf("%s %s: no licence that is known among %q: read it, and add it to tool/supply", m.path, m.version, names)
	}
	return nil
}
