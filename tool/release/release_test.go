package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goCommand runs go in a folder and returns what it prints.
func goCommand(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
	return string(out)
}

// copyTree copies the files of the repository to a folder, as git would commit them.
func copyTree(t *testing.T, to string) (files []string) {
	t.Helper()
	const root = "../.."
	out, err := git(root, "ls-files", "-coz", "--exclude-standard")
	require.NoError(t, err)
	for _, name := range strings.FieldsFunc(out, func(r rune) bool { return r == 0 }) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet from git
		}
		require.NoError(t, err)
		at := filepath.Join(to, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o777))
		require.NoError(t, os.WriteFile(at, text, 0o666))
		files = append(files, name)
	}
	return files
}

// serve writes the modules of a tree to a folder, laid out as a module proxy.
func (t *tree) serve(tb testing.TB, version, to string) {
	tb.Helper()
	for _, m := range t.modules {
		dir := filepath.Join(to, filepath.FromSlash(m.path), "@v")
		require.NoError(tb, os.MkdirAll(dir, 0o777))
		write := func(name string, text []byte) {
			require.NoError(tb, os.WriteFile(filepath.Join(dir, name), text, 0o666))
		}
		var archive bytes.Buffer
		require.NoError(tb, t.writeZip(&archive, m, version))
		mod, err := os.ReadFile(t.file(filepath.Join(m.dir, "go.mod")))
		require.NoError(tb, err)
		info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0).UTC()})
		require.NoError(tb, err)
		write("list", []byte(version+"\n"))
		write(version+".info", info)
		write(version+".mod", mod)
		write(version+".zip", archive.Bytes())
	}
}

// forget removes a version of the modules from the cache of modules.
func (t *tree) forget(version, cache string) {
	for _, m := range t.modules {
		at := filepath.FromSlash(m.path)
		_ = os.RemoveAll(filepath.Join(cache, at) + "@" + version)
		downloads := filepath.Join(cache, "cache", "download", at, "@v")
		names, _ := filepath.Glob(filepath.Join(downloads, version+".*"))
		for _, name := range append(names, filepath.Join(downloads, "list")) { // the list is made anew where it is missing
			_ = os.Remove(name)
		}
	}
}

// user is a program that stands outside of the repository and uses a package of every module but the command.
const user = `package main

import (
	"context"
	"fmt"

	"github.com/bmkl/bmkl/gonum"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/tune"
	"gonum.org/v1/gonum/mat"
)

func main() {
	x := mat.NewDense(3, 1, []float64{0, 1, 2})
	view := mkl.View{X: gonum.Features(x), Kernel: kernel.Linear{}}
	m, err := mkl.MultiGP{}.Fit(context.Background(), []mkl.View{view}, []float64{1, 2, 3.5})
	fmt.Println(m.Kind(), err, tune.Search{}.MaxSteps)
}
`

// TestInstall releases the present tree under a version, and installs and uses it as anyone would whose
// go command finds that version: the command by go install, the libraries by go get.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command anew")
	}
	version := fmt.Sprintf("v0.99.0-test.%d", os.Getpid())
	work := t.TempDir()
	dir := filepath.Join(work, "tree")
	tr, err := readTree(dir, copyTree(t, dir))
	require.NoError(t, err)
	require.NoError(t, tr.require(version))
	proxy := filepath.Join(work, "proxy")
	tr.serve(t, version, proxy)

	// What others made comes from the cache of modules, which earlier builds filled, or else from where it
	// always does. In that cache the version is put too: elsewhere all that others made would be compiled anew.
	slash := func(path string) string { return "file://" + filepath.ToSlash(path) }
	cache := strings.TrimSpace(goCommand(t, ".", nil, "env", "GOMODCACHE"))
	always := strings.TrimSpace(goCommand(t, ".", nil, "env", "GOPROXY"))
	t.Cleanup(func() { tr.forget(version, cache) })
	env := []string{
		"GOPROXY=" + slash(proxy) + "," + slash(filepath.Join(cache, "cache", "download")) + "," + always,
		"GONOSUMDB=github.com/bmkl/bmkl,github.com/bmkl/bmkl/*", "GOWORK=off", "GOBIN=" + filepath.Join(work, "bin"),
		"GOFLAGS=-modcacherw " + os.Getenv("GOFLAGS"), // with the flags of the tests, others' packages are compiled already
	}
	goCommand(t, work, env, "install", tr.modules[0].path+"/cmd/mkl@"+version)
	out, err := exec.Command(filepath.Join(work, "bin", "mkl"), "version").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.True(t, strings.HasPrefix(string(out), "mkl "+version+", go"), "%s", out)

	dir = filepath.Join(work, "user")
	require.NoError(t, os.MkdirAll(dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(user), 0o666))
	goCommand(t, dir, env, "mod", "init", "example.com/user")
	get := []string{"get"}
	for _, m := range tr.modules {
		get = append(get, m.path+"@"+version)
	}
	goCommand(t, dir, env, get...)
	goCommand(t, dir, env, "get", ".")
	assert.Equal(t, "multigp <nil> 0\n", goCommand(t, dir, env, "run", "."))

	for _, m := range tr.modules[1:] { // a clone of the release needs no go.work
		goCommand(t, tr.file(m.dir), env, "list", "-mod=readonly", "-deps", "-f", "{{with .Error}}{{.}}{{end}}", "./...")
	}
}

// Every module is handed on with its licence, and without the files of another.
func TestZip(t *testing.T) {
	files, err := tracked("../..")
	require.NoError(t, err)
	tr, err := readTree("../..", files)
	require.NoError(t, err)
	var dirs []string
	for _, m := range tr.modules {
		dirs = append(dirs, m.dir)
		var b bytes.Buffer
		require.NoError(t, tr.writeZip(&b, m, "v0.99.0"))
		z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		require.NoError(t, err)
		mods := 0
		for _, f := range z.File {
			assert.True(t, strings.HasPrefix(f.Name, m.path+"@v0.99.0/"))
			if strings.HasSuffix(f.Name, "/go.mod") {
				mods++
			}
		}
		assert.Equal(t, 1, mods, m.path)
		f, err := z.Open(m.path + "@v0.99.0/LICENSE")
		require.NoError(t, err)
		text, err := io.ReadAll(f)
		require.NoError(t, err)
		assert.Contains(t, string(text), "Apache License")
	}
	assert.Equal(t, []string{".", "bench", "cmd", "gonum", "mkl/tune"}, dirs)
	assert.Equal(t, "v0.99.0", tr.modules[0].tag("v0.99.0"))
	assert.Equal(t, "cmd/v0.99.0", tr.modules[2].tag("v0.99.0"))
}

// repository is a small one of two modules. The second requires the first.
func repository(t *testing.T, changelog string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"CHANGELOG.md":   changelog,
		"LICENSE":        "free\n",
		"a.go":           "package a\n",
		"go.mod":         "module example.com/a\n\ngo 1.26.0\n",
		"go.work":        "go 1.26.0\n\nuse (\n\t.\n\t./b\n)\n\nreplace example.com/a v0.0.0 => ./\n",
		"b/b.go":         "package b\n\nimport _ \"example.com/a\"\n",
		"b/go.mod":       "module example.com/a/b\n\ngo 1.26.0\n\nrequire example.com/a v0.0.0\n\nreplace example.com/a => ../\n",
		"b/go.sum":       "example.com/a v0.0.0 h1:old=\nexample.org/z v1.0.0 h1:z=\n",
		".gitattributes": "* -text\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"config", "user.name", "A"}, {"config", "user.email", "a@example.com"}, {"config", "commit.gpgsign", "false"},
		{"add", "-A"}, {"commit", "-qm", "Begin"},
	} {
		_, err := git(dir, args...)
		require.NoError(t, err)
	}
	return dir
}

func TestRelease(t *testing.T) {
	dir := repository(t, "# Changes\n\n## v0.1.0 (1 January 2027)\n")
	require.NoError(t, release(dir, "v0.1.0"))
	tags, err := git(dir, "tag", "--points-at", "HEAD")
	require.NoError(t, err)
	assert.Equal(t, "b/v0.1.0\nv0.1.0", tags)
	read := func(name string) string {
		text, err := git(dir, "show", "v0.1.0:"+name)
		require.NoError(t, err)
		return text
	}
	assert.Equal(t, "module example.com/a/b\n\ngo 1.26.0\n\nrequire example.com/a v0.1.0", read("b/go.mod"))
	assert.Regexp(t, `^example.com/a v0.1.0 h1:\S{44}\nexample.com/a v0.1.0/go.mod h1:\S{44}\nexample.org/z v1.0.0 h1:z=$`, read("b/go.sum"))
	assert.Contains(t, read("go.work"), "replace example.com/a v0.1.0 => ./")
	assert.ErrorContains(t, release(dir, "v0.1.0"), "v0.1.0 is there already")
}

func TestReleaseRefuses(t *testing.T) {
	dir := repository(t, "# Changes\n\n## v0.1.0\n")
	for version, want := range map[string]string{
		"0.1.0":  `"0.1.0" is no version such as v0.1.0`,
		"v1":     `"v1" is no version such as v0.1.0`,
		"v2.0.0": "v2.0.0: from v2 on the paths of modules end in the major version",
		"v0.2.0": `CHANGELOG.md has no section "## v0.2.0"`,
	} {
		assert.EqualError(t, release(dir, version), want)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a // changed\n"), 0o666))
	assert.EqualError(t, release(dir, "v0.1.0"), "there are changes that are not committed")
}
