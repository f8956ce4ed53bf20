package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// web writes the package of npm, and the folder of the playground, which any web server can show.
func web(o order) (string, error) {
	files, err := library(o)
	if err != nil {
		return "", err
	}
	playground := filepath.Join(o.out, "playground")
	if err := os.MkdirAll(playground, 0o777); err != nil {
		return "", err
	}
	pages, err := folder(filepath.Join(o.root, "web", "playground"), "*")
	if err != nil {
		return "", err
	}
	for _, f := range append(files, pages...) {
		if f.name == "mkl.js" { // for Node only
			continue
		}
		if err := os.WriteFile(filepath.Join(playground, f.name), f.data, 0o666); err != nil {
			return "", err
		}
	}
	for _, name := range []string{"LICENSE", "NOTICE", "web/README.md", "web/package.json"} {
		data, err := os.ReadFile(filepath.Join(o.root, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		if name == "web/package.json" {
			data = packageVersion.ReplaceAll(data, []byte(`"version": "`+o.release.NPM()+`"`))
		}
		files = append(files, entry{filepath.Base(name), data, 0o644})
	}
	packed, err := npm(files)
	if err != nil {
		return "", err
	}
	out := filepath.Join(o.out, "bmkl-"+o.release.NPM()+".tgz")
	return out, os.WriteFile(out, packed, 0o666)
}

var packageVersion = regexp.MustCompile(`"version": "[^"]*"`)

// library are the files that both need: modules of JavaScript, Go's own support, and the command, compressed.
func library(o order) ([]entry, error) {
	files, err := folder(filepath.Join(o.root, "web"), "*.js")
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	command, err := os.ReadFile(o.binary)
	if err != nil {
		return nil, err
	}
	small, err := compressed(command)
	return append(files, entry{"wasm_exec.js", support, 0o644}, entry{"mkl.wasm.gz", small, 0o644}), err
}

// folder are the files of a folder that match a pattern, in the order of their names.
func folder(at, pattern string) (files []entry, err error) {
	names, err := filepath.Glob(filepath.Join(at, pattern))
	if err == nil && names == nil {
		err = fmt.Errorf("%s has no files %s", at, pattern)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, entry{filepath.Base(name), data, 0o644})
	}
	return files, nil
}

// npm is the archive of a package of npm, whose files lie in the folder package.
func npm(files []entry) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if f.name == "mkl.js" {
			f.mode = 0o755
		}
		h := &tar.Header{Name: "package/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)), Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compressed(b.Bytes())
}

// compressed are bytes in gzip's format, which browsers unpack by themselves.
func compressed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
