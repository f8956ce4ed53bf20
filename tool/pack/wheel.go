package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a file of an archive.
type entry struct {
	name string
	data []byte
	mode os.FileMode
}

// wheel writes a wheel: a zip archive of the package's files, the command as a script, and metadata.
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func wheel(o order) (string, error) {
	files, err := wheelFiles(o)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return "", err
		}
		if _, err := w.Write(f.data); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	out := filepath.Join(o.out, fmt.Sprintf("bmkl-%s-py3-none-%s.whl", o.release.Python(), tags[o.platform]))
	return out, os.WriteFile(out, b.Bytes(), 0o666)
}

// wheelFiles are the files of a wheel, the list of them last.
func wheelFiles(o order) ([]entry, error) {
	stem := "bmkl-" + o.release.Python()
	info := stem + ".dist-info/"
	files, err := sources(filepath.Join(o.root, "python", "bmkl"), "bmkl/")
	if err != nil {
		return nil, err
	}
	command, err := os.ReadFile(o.binary)
	if err != nil {
		return nil, err
	}
	files = append(files, entry{stem + ".data/scripts/" + filepath.Base(o.binary), command, 0o755})
	for _, name := range []string{"LICENSE", "NOTICE", "sbom.cdx.json"} {
		data, err := os.ReadFile(filepath.Join(o.root, name))
		if err != nil {
			return nil, err
		}
		place := info + "licenses/" + name
		if name == "sbom.cdx.json" {
			place = info + "sboms/" + name
		}
		files = append(files, entry{place, data, 0o644})
	}
	readme, err := os.ReadFile(filepath.Join(o.root, "python", "README.md"))
	if err != nil {
		return nil, err
	}
	files = append(files, entry{info + "METADATA", metadata(o.release, readme), 0o644}, entry{info + "WHEEL", wheelNote(o.platform), 0o644})
	slices.SortStableFunc(files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return append(files, record(info+"RECORD", files)), nil
}

// sources are the files of a Python package.
func sources(folder, prefix string) (files []entry, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if err == nil && names == nil {
		err = fmt.Errorf("%s has no files of Python", folder)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, entry{path.Join(prefix, filepath.Base(name)), data, 0o644})
	}
	return files, nil
}

// metadata is the core metadata of the package, version 2.4.
func metadata(r Release, readme []byte) []byte {
	return fmt.Appendf(nil, `Metadata-Version: 2.4
Name: bmkl
Version: %s
Summary: Bayesian multiple kernel learning for scikit-learn
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Project-URL: Source, https://github.com/bmkl/bmkl
Requires-Python: >=3.9
Requires-Dist: numpy
Requires-Dist: scikit-learn>=1.2
Provides-Extra: pandas
Requires-Dist: pandas; extra == "pandas"
Description-Content-Type: text/markdown

%s`, r.Python(), readme)
}

// wheelNote says for which machines the wheel is.
func wheelNote(platform string) []byte {
	b := []byte("Wheel-Version: 1.0\nGenerator: bmkl tool/pack\nRoot-Is-Purelib: false\n")
	for tag := range strings.SplitSeq(tags[platform], ".") {
		b = fmt.Appendf(b, "Tag: py3-none-%s\n", tag)
	}
	return b
}

// record lists the files with their hashes and sizes; its own line has neither.
func record(name string, files []entry) entry {
	var b strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	_, _ = io.WriteString(&b, name+",,\n")
	return entry{name, []byte(b.String()), 0o644}
}
