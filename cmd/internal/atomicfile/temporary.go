package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// disk is what a temporary file asks of the file system. Tests have one that fails.
type disk struct {
	unnamed func(path string) *os.File // nil where the system has no such files
	open    func(name string) (*os.File, error)
	write   func(f *os.File, p []byte) (int, error)
	chmod   func(f *os.File, mode fs.FileMode) error
	sync    func(f *os.File) error
	link    func(f *os.File, name string) error
	rename  func(from, to string) error
	close   func(f *os.File) error
	remove  func(name string) error
}

// system is the machine's own.
var system = disk{
	unnamed: unnamed,
	open:    func(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666) },
	write:   (*os.File).Write, chmod: (*os.File).Chmod, sync: (*os.File).Sync, link: link,
	rename: rename, close: (*os.File).Close, remove: os.Remove,
}

// temporary is a file that is to become the one at path. It is locked, so that others
// can tell it from one whose process is gone.
type temporary struct {
	file *os.File
	disk disk
	path string
	name string // empty as long as the file has none
}

// Write writes to the file, all or with an error.
func (t *temporary) Write(p []byte) (int, error) { return t.disk.write(t.file, p) }

// abandoned is how long nobody has written to a temporary file that counts as left
// behind where locks do not tell.
const abandoned = time.Hour

// mostNames is the number of temporary files that may be beside a path at a time: of
// processes that write there now, or were killed together.
const mostNames = 1000

// create makes an empty temporary file with the permissions that a new file gets.
func (d disk) create(path string) (*temporary, error) {
	if f := d.unnamed(path); f != nil {
		_, _ = lock(f) // nobody else has it
		return &temporary{file: f, disk: d, path: path}, nil
	}
	var f *os.File
	name, err := claim(path, func(name string) error {
		opened, err := d.open(name)
		if err != nil {
			return err
		}
		// Whoever took it for abandoned, in between, has the lock or has removed it.
		if held, known := lock(opened); known && !held || !is(opened, name) {
			return errors.Join(fs.ErrExist, d.close(opened))
		}
		f = opened
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &temporary{f, d, path, name}, nil
}

// rename gives the file its path and closes it.
func (t *temporary) rename() error {
	if t.name == "" {
		name, err := claim(t.path, func(name string) error { return t.disk.link(t.file, name) })
		if err != nil {
			return err
		}
		t.name = name
	}
	if runtime.GOOS == "windows" { // which renames no open file
		if err := t.disk.close(t.file); err != nil {
			return err
		}
		return t.disk.rename(t.name, t.path)
	}
	if err := t.disk.rename(t.name, t.path); err != nil {
		return err
	}
	t.name = "" // nothing to discard
	return t.disk.close(t.file)
}

// discard closes the file and removes it.
func (t *temporary) discard() error {
	var err error
	if t.name != "" && runtime.GOOS != "windows" {
		err = t.disk.remove(t.name) // before its lock ends
		t.name = ""
	}
	if cerr := t.disk.close(t.file); !errors.Is(cerr, fs.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	if t.name != "" {
		err = errors.Join(err, t.disk.remove(t.name))
	}
	return err
}

// claim calls take with the names for temporary files of path, one after another, until
// one is not the name of an existing file. Files left behind under the names that it
// passes are removed.
func claim(path string, take func(name string) error) (string, error) {
	dir, base := filepath.Split(path)
	for i := range mostNames {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d.tmp", base, i))
		err := take(name)
		if errors.Is(err, fs.ErrExist) && remove(name) {
			err = take(name)
		}
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("%s: %d temporary files are beside it", path, mostNames)
}

// remove removes a temporary file whose process is gone and reports whether it did.
func remove(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	held, known := lock(f)
	if !known {
		info, err := f.Stat()
		held = err == nil && time.Since(info.ModTime()) > abandoned
		_ = f.Close() // Windows removes no open file, ours or another's
	} else if !is(f, name) { // another has the name by now
		return false
	}
	return held && os.Remove(name) == nil
}

// is reports whether the open file is the one with the name.
func is(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(name)
	return err == nil && os.SameFile(a, b)
}
