// Package golden gives tests the golden files: values computed by other programs,
// in one folder for each family of models.
//
// It registers the flag -golden, the folder with those folders. Every package below
// vi and mcmc that has tests imports it, so that
//
//	go test ./vi/... ./mcmc/... -run Golden -args -golden DIR
//
// runs every file below DIR.
package golden

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

var dir = flag.String("golden", "", "folder with golden files in sub-folders amplitude, bmtmkl, ep, gonen, gpr, kbmf, likelihoods, mgp, mtmkl, pmkl, posteriordb; the repository's testdata/golden unless given")

// Families are the sub-folders that the packages below vi know.
var Families = []string{"amplitude", "bmtmkl", "ep", "gonen", "gpr", "kbmf", "likelihoods", "mgp", "mtmkl", "pmkl", "posteriordb"}

// What JSON arrays become.
type (
	Vec    = []float64
	Mat    = [][]float64
	Tensor = [][][]float64
)

// Dir returns the folder that -golden names.
func Dir(t testing.TB) string {
	t.Helper()
	if *dir != "" {
		return *dir
	}
	up := "."
	for range 6 { // a test runs in its package's folder
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return filepath.Join(up, "testdata", "golden")
		}
		up = filepath.Join(up, "..")
	}
	t.Fatal("no go.mod above the test's folder")
	return ""
}

// Files returns the paths of all golden files, which are named by their place below
// Dir, with slashes.
func Files(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := Dir(t)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = path
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, files, "no golden files below %s", root)
	return files
}

// Family returns the family of a file: the folder that it lies in, perhaps Dir itself.
func Family(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return filepath.Base(filepath.Dir(path))
}

// Run runs a subtest for every golden file of a family; in short runs those alone
// that short names. Without any the test is skipped.
func Run(t *testing.T, family string, short []string, run func(t *testing.T, path string, data []byte)) {
	files := Files(t)
	any := false
	for name, path := range files {
		if Family(path) != family {
			continue
		}
		any = true
		t.Run(name, func(t *testing.T) {
			if testing.Short() && !slices.Contains(short, filepath.Base(path)) {
				t.Skip("a long test")
			}
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			run(t, path, data)
		})
	}
	if !any {
		t.Skipf("%s: no files of %s", Dir(t), family)
	}
}

// Read reads the file of a family that has the given name. The test is skipped if
// the folder given holds other families only.
func Read(t testing.TB, family, name string, into any) {
	t.Helper()
	var found []string
	for _, path := range Files(t) {
		if Family(path) == family {
			found = append(found, filepath.Dir(path))
		}
	}
	if len(found) == 0 {
		t.Skipf("%s: no files of %s", Dir(t), family)
	}
	data, err := os.ReadFile(filepath.Join(found[0], name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// MatrixOf returns the matrix of the given rows.
func MatrixOf(rows Mat) la.Matrix[float64] {
	m := la.NewMatrix[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return m
}

// MatricesOf returns the matrix of each entry of x.
func MatricesOf(x Tensor) (out []la.Matrix[float64]) {
	for _, rows := range x {
		out = append(out, MatrixOf(rows))
	}
	return out
}
