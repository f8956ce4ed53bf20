package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIdentify(t *testing.T) {
	const permission = "Permission is hereby granted, free of charge, to any person\nobtaining a copy of "
	const conditions = "Redistribution and use in source and\nbinary forms, with or without modification, are permitted"
	for _, c := range []struct {
		text string
		want []string
	}{
		{permission + "this software and associated documentation files", []string{"MIT"}},
		{"SIL OPEN FONT LICENSE Version 1.1 - 26 February 2007 " + permission + "the Font Software", []string{"OFL-1.1"}},
		{conditions, []string{"BSD-2-Clause"}},
		{conditions + " may be used to endorse or promote products\n derived from this software", []string{"BSD-3-Clause"}},
		{"   Apache License\n   Version 2.0, January 2004\n" + conditions, []string{"Apache-2.0", "BSD-2-Clause"}},
		{"GNU GENERAL PUBLIC LICENSE", nil},
		{"", nil},
	} {
		assert.Equal(t, c.want, identify(c.text), c.text)
	}
}

// A module whose licence nobody has read is an error that says which.
func TestLicencesAreRead(t *testing.T) {
	dir := t.TempDir()
	m := &module{path: "example.org/m", version: "v1.0.0", dir: dir}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("Do as you like."), 0o600))
	assert.ErrorContains(t, m.readLicences(), `example.org/m v1.0.0: no licence that is known among ["LICENSE"]`)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE.txt"), []byte("The FreeType Project LICENSE\r\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "license.go"), []byte("package m"), 0o600))
	m = &module{path: "example.org/m", dir: dir}
	require.NoError(t, m.readLicences())
	assert.Equal(t, []string{"FTL"}, m.licences)
	assert.Contains(t, m.texts, "The FreeType Project LICENSE")
}

// small is a command that needs b by way of a; c is for tests.
func small() *supply {
	s := &supply{needs: map[string][]string{}, modules: []*module{
		{path: "a.org/a", version: "v1.0.0+incompatible", sum: "h1:a", use: inCommand, licences: []string{"MIT"}, texts: []string{"MIT of many"}},
		{path: "b.org/b", version: "v2.0.0", sum: "h1:b", use: inCommand, licences: []string{"BSD-2-Clause", "MIT"}, texts: []string{"BSD of b", "MIT of many"}},
		{path: "c.org/c", version: "v3.0.0", use: inTests, licences: []string{"MIT"}, texts: []string{"MIT of c"}},
	}}
	s.addNeeds([]listed{
		{ImportPath: "a.org/a/in", Imports: []string{"b.org/b", "fmt"}},
		{ImportPath: "a.org/a", Imports: []string{"a.org/a/in", "b.org/b"}},
		{ImportPath: "b.org/b", Imports: []string{"fmt"}},
		{ImportPath: command, Imports: []string{"a.org/a"}},
	}, map[string]string{"a.org/a/in": "a.org/a", "a.org/a": "a.org/a", "b.org/b": "b.org/b", command: command})
	return s
}

func TestBill(t *testing.T) {
	var file bytes.Buffer
	require.NoError(t, small().writeBill(&file))
	var b bill
	d := json.NewDecoder(&file)
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&b))
	require.Len(t, b.Components, 2)
	assert.Equal(t, "pkg:golang/a.org/a@v1.0.0%2Bincompatible", b.Components[0].PURL)
	assert.Equal(t, []licence{{"BSD-2-Clause AND MIT"}}, b.Components[1].Licenses)
	assert.Equal(t, []property{{"go:sum", "h1:b"}}, b.Components[1].Properties)
	assert.Equal(t, []dependency{
		{"pkg:golang/" + command, []string{b.Components[0].Ref}},
		{b.Components[0].Ref, []string{b.Components[1].Ref}},
		{b.Components[1].Ref, []string{}},
	}, b.Dependencies)
}

func TestNotice(t *testing.T) {
	text := string(small().notice())
	assert.Regexp(t, `(?m)^c\.org/c +v3\.0\.0 +tests +MIT$`, text)
	assert.Equal(t, 1, strings.Count(text, "MIT of many"), "each text once")
	assert.Contains(t, text, "a.org/a\nb.org/b\n=")
	assert.NotContains(t, text, "MIT of c", "which is not given on")
}
