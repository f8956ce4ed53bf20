package habits

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository reads the source, which is the same on every machine.
func repository(t *testing.T) *Tree {
	t.Helper()
	if testing.Short() {
		t.Skip("a long test")
	}
	tree, err := Read(os.DirFS("../.."))
	require.NoError(t, err)
	return tree
}

func TestImportsRunDownwards(t *testing.T) {
	for _, finding := range repository(t).Imports() {
		t.Error(finding)
	}
}

func TestPublicNamesHaveComments(t *testing.T) {
	for _, finding := range repository(t).Comments() {
		t.Error(finding)
	}
}

func TestModelsHaveTheSameBitsEverywhere(t *testing.T) {
	for _, finding := range repository(t).Elementary() {
		t.Error(finding)
	}
	wrong := read(t, map[string]string{"vi/x/x.go": "package x\n\nimport \"math\"\n\nvar y = math.Log(2)\n"})
	assert.Len(t, wrong.Elementary(), 1)
	wrong = read(t, map[string]string{"mkl/x.go": "package mkl\n\nimport \"math/rand/v2\"\n\nvar r = rand.New(rand.NewPCG(1, 2))\n"})
	assert.Len(t, wrong.Elementary(), 1)
}

func TestEstimatorsHaveExamples(t *testing.T) {
	for _, finding := range repository(t).Examples() {
		t.Error(finding)
	}
	const a = "package mkl\n\ntype A[T any] struct{}\n\nfunc (A[T]) Fit() (*M[T], error) { return nil, nil }\n\n" +
		"type M[T any] struct{}\n\nfunc (m *M[T]) Predictor() int { return 0 }\n"
	for example, want := range map[string][]string{
		"":                                      {"mkl/a.go:5: A has no Example"},
		"func ExampleA() {}":                    {"mkl/a.go:5: no Example of A uses the predictor of its models"},
		"func ExampleA() { m.Predictor() }":     nil,
		"func ExampleA_two() { m.Predictor() }": nil,
		"func ExampleM() { m.Predictor() }":     nil,
	} {
		tree := read(t, map[string]string{"mkl/a.go": a, "mkl/a_test.go": "package mkl\n\n" + example + "\n"})
		assert.Equal(t, want, tree.Examples(), example)
	}
}

// Test binaries below vi and mcmc take the flag -golden, so that one command can run
// all golden tests: each imports the package that registers it.
func TestGoldenFlagIsTaken(t *testing.T) {
	for _, p := range repository(t).Packages {
		if root, _, _ := strings.Cut(p.Path, "/"); root != "vi" && root != "mcmc" || len(p.Tests) == 0 {
			continue
		}
		taken := false
		for _, f := range p.Tests {
			for _, spec := range f.Imports {
				taken = taken || strings.Trim(spec.Path.Value, `"`) == "github.com/bmkl/bmkl/internal/testkit/golden"
			}
		}
		assert.True(t, taken, "%s: its tests do not import internal/testkit/golden", p.Path)
	}
}

// The tests above say nothing unless they see every module.
func TestReadSeesNestedModules(t *testing.T) {
	var paths []string
	for _, p := range repository(t).Packages {
		paths = append(paths, p.Path)
	}
	assert.Subset(t, paths, []string{"bench", "cmd/mkl", "gonum", "tool/habits", "la", "mcmc", "mkl", "mkl/tune", "vi"})
}

// read returns the tree of files given by path and text.
func read(t *testing.T, files map[string]string) *Tree {
	m := fstest.MapFS{}
	for path, text := range files {
		m[path] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := Read(m)
	require.NoError(t, err)
	return tree
}

func TestImports(t *testing.T) {
	const b = "github.com/bmkl/bmkl/"
	for _, c := range []struct {
		name, file, imports string
		want                []string
	}{
		{"down", "mkl/a.go", b + "la", nil},
		{"down to a family", "mcmc/a.go", b + "vi/probit", nil},
		{"a family on its ground", "vi/probit/a.go", b + "vi", nil},
		{"not of this repository", "la/a.go", "github.com/bmkl/other", nil},
		{"up", "la/a.go", b + "vi", []string{"la/a.go:3: la imports vi, which does not stand below it"}},
		{"up to a family", "vi/a.go", b + "vi/mgp", []string{"vi/a.go:3: vi imports vi/mgp, which does not stand below it"}},
		{"from internal up", "vi/internal/check/a.go", b + "vi",
			[]string{"vi/internal/check/a.go:3: vi/internal/check imports vi, which does not stand below it"}},
		{"beside", "vi/slab/a.go", b + "vi/mgp", []string{"vi/slab/a.go:3: vi/slab imports vi/mgp, which stands beside it"}},
		{"a test beside", "vi/slab/a_test.go", b + "vi/mgp", nil},
		{"a test above", "vi/slab/a_test.go", b + "mkl", []string{"vi/slab/a_test.go:3: a test of vi/slab imports mkl, which does not stand below or beside it"}},
		{"the helper of a test", "vi/slab/slabtest/a.go", b + "vi/slab", nil},
		{"the helper of a test, used by one", "vi/mgp/a_test.go", b + "vi/slab/slabtest", nil},
		{"the helper of a test, used elsewhere", "mkl/a.go", b + "vi/slab/slabtest", []string{"mkl/a.go:3: mkl imports vi/slab/slabtest, which is for tests"}},
		{"an external test of its own package", "vi/slab/a_test.go", b + "vi/slab", nil},
		{"for another platform", "la/a_windows.go", b + "mkl", []string{"la/a_windows.go:3: la imports mkl, which does not stand below it"}},
		{"to nowhere", "mkl/a.go", b + "attic", []string{"mkl/a.go:3: mkl imports attic, which does not stand below it"}},
		{"from nowhere", "attic/a.go", b + "la", []string{"attic/a.go:1: package attic stands on no floor of habits.Floors"}},
		{"in test data", "la/testdata/a.go", b + "mkl", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := read(t, map[string]string{c.file: "package a\n\nimport _ \"" + c.imports + "\"\n"})
			assert.Equal(t, c.want, tree.Imports())
		})
	}
}

func TestFloor(t *testing.T) {
	assert.Less(t, floor("cmd/internal/spec"), floor("cmd/internal/table"))
	assert.Less(t, floor("cmd/papers"), floor("cmd/papers/internal/paper"))
	assert.Less(t, floor("vi/mgp"), floor("vi"))
	assert.Less(t, floor("vi/mgp"), floor("vi/internal/conjugate"))
	assert.Less(t, floor("vi/internal/conjugate"), floor("vi"))
	assert.Less(t, floor("vi"), floor("vi/internal/check"))
	assert.Equal(t, floor("vi/mgp"), floor("vi/slab"))
	assert.Equal(t, -1, floor("vim"))
}

func TestComments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"function", "// F computes.\nfunc F() {}", nil},
		{"bare function", "func F() {}", []string{"a/a.go:4: F has no comment"}},
		{"comment of another function", "// G computes.\nfunc F() {}", []string{"a/a.go:5: the first line of the comment of F does not name it"}},
		{"name within a word", "// Fs compute.\nfunc F() {}", []string{"a/a.go:5: the first line of the comment of F does not name it"}},
		{"directive is no comment", "//go:noinline\nfunc F() {}", []string{"a/a.go:5: F has no comment"}},
		{"unexported function", "func f() {}", nil},
		{"method", "// A T is.\ntype T[E any] []E\nfunc (*T[E]) F() {}", []string{"a/a.go:6: T.F has no comment"}},
		{"method of an unexported type", "type t int\nfunc (t) F() {}", nil},
		{"String", "// A T is.\ntype T int\nfunc (T) String() string { return \"\" }", nil},
		{"function String", "func String() {}", []string{"a/a.go:4: String has no comment"}},
		{"bare type", "type T int", []string{"a/a.go:4: T has no comment"}},
		{"types in a group", "// Types.\ntype (\n\tT int\n)", []string{"a/a.go:6: T has no comment"}},
		{"constants in a group", "// Limits.\nconst (\n\tA = 1\n\tB = 2\n)", nil},
		{"constants in a bare group", "const (\n\tA = 1 // one\n\tB = 2\n\tc = 3\n)", []string{"a/a.go:6: B has no comment, nor has its group"}},
		{"bare variables", "var A, b, C int", []string{"a/a.go:4: A has no comment, nor has its group", "a/a.go:4: C has no comment, nor has its group"}},
		{"fields", "// T is of A.\ntype T struct {\n\tA, B int\n\tC int // seconds\n\tT2\n\td int\n}", []string{"a/a.go:6: T.B has no comment"}},
		{"fields named after their types", "// T is.\ntype T struct {\n\tPrior *b.SlabPrior\n\tPriors b.SlabPrior\n}", []string{"a/a.go:7: T.Priors has no comment"}},
		{"fields in a block", "// T is.\ntype T struct {\n\t// A and B are.\n\tA int\n\tB int\n\n\tC int\n}", []string{"a/a.go:10: T.C has no comment"}},
		{"fields behind a trailing comment", "// T is.\ntype T struct {\n\tA int // one\n\tB int\n}", []string{"a/a.go:7: T.B has no comment"}},
		{"interface", "// T is.\ntype T interface {\n\t// A does.\n\tA()\n\n\tB()\n}", []string{"a/a.go:9: T.B has no comment"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "// Package a is.\npackage a\n\n" + c.text + "\n"
			assert.Equal(t, c.want, read(t, map[string]string{"a/a.go": text}).Comments())
			assert.Empty(t, read(t, map[string]string{"a/internal/b/a.go": text}).Comments(), "internal")
			assert.Empty(t, read(t, map[string]string{"a/a_test.go": text}).Comments(), "a test")
		})
	}
}

func TestCommentsOfPackages(t *testing.T) {
	tree := read(t, map[string]string{
		"a/a.go":        "package a\n",
		"b/a.go":        "package b\n",
		"b/doc.go":      "// Package b is described in its second file.\npackage b\n",
		"cmd/c/c.go":    "package main\n",
		"d/tag.go":      "//go:build purego\n\npackage d\n",
		"e/e_test.go":   "package e\n",
		"_f/a.go":       "package f\n",
		"internal/a.go": "package internal\n",
	})
	assert.Equal(t, []string{
		"a/a.go:1: package a has no package comment",
		"cmd/c/c.go:1: package main has no package comment",
		"d/tag.go:3: package d has no package comment",
		"internal/a.go:1: package internal has no package comment",
	}, tree.Comments())
}
