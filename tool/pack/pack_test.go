package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree is a repository with what a wheel needs.
func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"CHANGELOG.md":            "# Changes\n\n## v0.2.0 (not released yet)\n\n## v0.1.0\n",
		"LICENSE":                 "licence",
		"NOTICE":                  "notice",
		"sbom.cdx.json":           "{}",
		"python/README.md":        "# bmkl\n",
		"python/bmkl/__init__.py": "",
		"python/bmkl/_a.py":       "a = 1\n",
		"command/mkl.exe":         "the command",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	return root
}

// A wheel has the package, the command as a script that can be run, metadata, and a list of all files whose hashes
// agree; two wheels of the same sources have the same bytes.
func TestWheel(t *testing.T) {
	root := tree(t)
	r, err := release(root, "")
	require.NoError(t, err)
	o := order{root: root, out: t.TempDir(), platform: "windows/amd64", release: r, binary: filepath.Join(root, "command", "mkl.exe")}
	path, err := wheel(o)
	require.NoError(t, err)
	require.Equal(t, "bmkl-0.2.0.dev0-py3-none-win_amd64.whl", filepath.Base(path))
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer z.Close()
	held := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(in)
		require.NoError(t, err)
		held[f.Name] = string(data)
		if strings.Contains(f.Name, "/scripts/") {
			require.EqualValues(t, 0o755, f.Mode().Perm())
		}
	}
	require.Equal(t, "the command", held["bmkl-0.2.0.dev0.data/scripts/mkl.exe"])
	require.Contains(t, held["bmkl-0.2.0.dev0.dist-info/METADATA"], "\nVersion: 0.2.0.dev0\n")
	require.Contains(t, held["bmkl-0.2.0.dev0.dist-info/WHEEL"], "\nTag: py3-none-win_amd64\n")
	list, err := csv.NewReader(strings.NewReader(held["bmkl-0.2.0.dev0.dist-info/RECORD"])).ReadAll()
	require.NoError(t, err)
	require.Len(t, list, len(held))
	for _, line := range list[:len(list)-1] {
		sum := sha256.Sum256([]byte(held[line[0]]))
		require.Equal(t, "sha256="+base64.RawURLEncoding.EncodeToString(sum[:]), line[1], line[0])
	}
	first, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = wheel(o)
	require.NoError(t, err)
	second, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestVersions(t *testing.T) {
	root := tree(t)
	r, err := release(root, "v1.2.3")
	require.NoError(t, err)
	require.Equal(t, []string{"1.2.3", "1.2.3"}, []string{r.Python(), r.R()})
	r, err = release(root, "")
	require.NoError(t, err)
	require.Equal(t, []string{"0.2.0.dev0", "0.2.0.9000"}, []string{r.Python(), r.R()})
	for _, wrong := range []string{"1.2.3", "v1.2", "v1.2.3-rc.1"} {
		_, err = release(root, wrong)
		require.ErrorContains(t, err, wrong)
	}
	file := filepath.Join(root, "DESCRIPTION")
	require.NoError(t, os.WriteFile(file, []byte("Package: bmkl\nVersion: 0.0.0\nTitle: T\n"), 0o666))
	require.NoError(t, setVersion(file, "1.2.3"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "Package: bmkl\nVersion: 1.2.3\nTitle: T\n", string(text))
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ args, says string }{{"", "usage"}, {"egg", "usage"}, {"wheel -platform plan9/386", "plan9/386"}} {
		require.ErrorContains(t, run(strings.Fields(c.args)), c.says)
	}
}
