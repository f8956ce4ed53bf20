package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

// tree is a checked out repository.
type tree struct {
	dir     string
	files   []string     // all of them, with slashes, relative to dir
	modules []repoModule // those that are released; the root is the first
}

// repoModule is a module of the repository.
type repoModule struct {
	path string // of imports
	dir  string // with slashes, "." of the root
}

// tag is the tag by which the go command finds a version of the module.
func (m repoModule) tag(version string) string { return path.Join(m.dir, version) }

// readTree finds the modules that go.work uses. Internal ones are not released.
func readTree(dir string, files []string) (*tree, error) {
	t := &tree{dir: dir, files: files}
	work, err := t.work()
	if err != nil {
		return nil, err
	}
	for _, use := range work.Use {
		m := repoModule{dir: path.Clean(use.Path)}
		f, err := t.goMod(m)
		if err != nil {
			return nil, err
		}
		m.path = f.Module.Mod.Path
		switch {
		case m.dir == ".":
			t.modules = slices.Insert(t.modules, 0, m)
		case m.dir != "tool": // which nobody imports or installs
			t.modules = append(t.modules, m)
		}
	}
	if len(t.modules) == 0 || t.modules[0].dir != "." {
		return nil, fmt.Errorf("go.work does not use the root")
	}
	return t, nil
}

func (t *tree) file(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

func (t *tree) work() (*modfile.WorkFile, error) {
	text, err := os.ReadFile(t.file("go.work"))
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork("go.work", text, nil)
}

func (t *tree) goMod(m repoModule) (*modfile.File, error) {
	name := path.Join(m.dir, "go.mod")
	text, err := os.ReadFile(t.file(name))
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

// require makes every module require the root at a version, without a replacement, with its sums; go.work
// gives them the root beside them.
func (t *tree) require(version string) error {
	root := t.modules[0].path
	work, err := t.work()
	if err != nil {
		return err
	}
	for _, r := range slices.Clone(work.Replace) {
		if err := work.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}
	if err := work.AddReplace(root, version, "./", ""); err != nil {
		return err
	}
	work.Cleanup()
	if err := os.WriteFile(t.file("go.work"), modfile.Format(work.Syntax), 0o666); err != nil {
		return err
	}
	s, err := t.sums(version) // go.work is a file of the root
	if err != nil {
		return err
	}
	for _, m := range t.modules[1:] {
		if err := t.requireRoot(m, version); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		if err := t.writeSums(m, version, s); err != nil {
			return err
		}
	}
	return nil
}

// requireRoot edits the go.mod of a nested module.
func (t *tree) requireRoot(m repoModule, version string) error {
	f, err := t.goMod(m)
	if err != nil {
		return err
	}
	for _, r := range slices.Clone(f.Replace) {
		if !t.has(r.Old.Path) {
			return fmt.Errorf("go.mod replaces %s: go install of another module ignores or refuses it", r.Old.Path)
		}
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return err
		}
	}
	for _, r := range f.Require {
		switch {
		case r.Mod.Path == t.modules[0].path:
			if err := f.AddRequire(r.Mod.Path, version); err != nil {
				return err
			}
		case t.has(r.Mod.Path):
			return fmt.Errorf("it requires %s: of the modules here the root alone can be required", r.Mod.Path)
		}
	}
	f.Cleanup()
	text, err := f.Format()
	if err != nil {
		return err
	}
	return os.WriteFile(t.file(path.Join(m.dir, "go.mod")), text, 0o666)
}

// has reports whether a module is one of the tree's.
func (t *tree) has(modulePath string) bool {
	return slices.ContainsFunc(t.modules, func(m repoModule) bool { return m.path == modulePath })
}

// sums are the checksums of the root module in the form of go.sum.
type sums struct{ zip, mod string }

func (t *tree) sums(version string) (s sums, err error) {
	var b bytes.Buffer
	if err := t.writeZip(&b, t.modules[0], version); err != nil {
		return s, err
	}
	if s.zip, err = sumOfZip(b.Bytes()); err != nil {
		return s, err
	}
	s.mod, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(t.file("go.mod")) })
	return s, err
}

// sumOfZip is the sum of the ZIP archive of a module.
func sumOfZip(archive []byte) (string, error) {
	f, err := os.CreateTemp("", "*.zip")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(archive)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", err
	}
	return dirhash.HashZip(f.Name(), dirhash.Hash1)
}

// writeSums puts the sums of the root into the go.sum of a nested module, and removes the sums of
// other versions.
func (t *tree) writeSums(m repoModule, version string, s sums) error {
	name := t.file(path.Join(m.dir, "go.sum"))
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	root := t.modules[0].path
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, root+" ") {
			lines = append(lines, line)
		}
	}
	at := slices.IndexFunc(lines, func(line string) bool { return line > root })
	if at < 0 {
		at = len(lines)
	}
	lines = slices.Insert(lines, at, fmt.Sprintf("%s %s %s\n", root, version, s.zip), fmt.Sprintf("%s %s/go.mod %s\n", root, version, s.mod))
	return os.WriteFile(name, []byte(strings.Join(lines, "")), 0o666)
}

// writeZip writes the archive by which the go command hands on a module: its files, without the
// files of nested modules, and the licence of the root where it has none.
func (t *tree) writeZip(w io.Writer, m repoModule, version string) error {
	var files []zip.File
	licence := false
	for _, name := range t.files {
		if inside, ok := strings.CutPrefix(name, m.dir+"/"); ok || m.dir == "." {
			if !ok {
				inside = name
			}
			licence = licence || inside == "LICENSE"
			files = append(files, file{inside, t.file(name)})
		}
	}
	if !licence {
		files = append(files, file{"LICENSE", t.file("LICENSE")})
	}
	return zip.Create(w, module.Version{Path: m.path, Version: version}, files)
}

// file is a file of a module.
type file struct{ path, at string }

func (f file) Path() string                 { return f.path }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.at) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.at) }
