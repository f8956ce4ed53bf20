// Command supply lists what the project is built from: every module of others with its
// licence in NOTICE, and the bill of materials of the command mkl, as CycloneDX, in
// sbom.cdx.json. It runs in the root of the repository.
//
//	go run ./tool/supply          writes both files
//	go run ./tool/supply -check   says whether they are as they should be
//
// A licence that it does not know is an error: somebody has to read it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "compare the files with what they should be")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "supply:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	s, err := gather()
	if err != nil {
		return err
	}
	var bill bytes.Buffer
	if err := s.writeBill(&bill); err != nil {
		return err
	}
	files := map[string][]byte{"NOTICE": s.notice(), "sbom.cdx.json": bill.Bytes()}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !check {
			if err := os.WriteFile(name, files[name], 0o666); err != nil {
				return err
			}
			continue
		}
		was, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !bytes.Equal(was, files[name]) {
			return fmt.Errorf("%s is not what the modules say: go run ./tool/supply", name)
		}
	}
	return nil
}

// command is the package that is given to users as a program.
const command = "github.com/bmkl/bmkl/cmd/mkl"

// ours is the path that the project's own modules begin with.
const ours = "github.com/bmkl/bmkl"

// folders of the project's modules that are built together, as patterns of packages.
var folders = []string{"./...", "./mkl/tune/...", "./gonum/...", "./cmd/...", "./bench/...", "./tool/..."}

// apart are the folders of modules that are built each with the versions of its own.
var apart = []string{"scale/nats", "scale/beam"}

// platforms are those that the command is built for: some modules serve one only.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}

// module is one that somebody else wrote.
type module struct {
	path, version, sum, dir string

	use      string   // the first of uses that it has
	licences []string // SPDX identifiers, in order
	texts    []string // of the files with licences and notices
}

// What a module may be used for, the most first.
const (
	inCommand = "mkl"     // linked into the command
	inLibrary = "library" // linked into programs that import the packages
	inScale   = "scale"   // linked into programs that import the packages of scale
	inTests   = "tests"   // used by tests, measurements, releases and the site of the manuals
)

// supply is everything that the project is built from.
type supply struct {
	modules []*module           // in the order of their paths and versions
	needs   map[string][]string // path to the paths that the command needs it for; command is one of them
}

// listed is what go list says of a package.
type listed struct {
	ImportPath string
	Imports    []string
	Module     *struct {
		Path, Version, Sum, Dir string
		Main                    bool
	}
}

// list runs go list for a platform in a folder: "" is the root of the repository, and
// others are modules of their own.
func list(platform, folder string, args ...string) ([]listed, error) {
	system, arch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Imports,Module"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	if cmd.Dir = folder; folder != "" {
		cmd.Env = append(cmd.Env, "GOWORK=off")
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s in %q: %w", platform, folder, err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list for %s in %q: %w", platform, folder, err)
		}
		all = append(all, p)
	}
}

// gather asks the go command for the modules and reads their licences.
func gather() (*supply, error) {
	s := &supply{needs: map[string][]string{}}
	found := map[string]*module{} // by path and version
	type query struct {
		use, folder string
		args        []string
	}
	queries := []query{
		{inCommand, "", []string{"./cmd/mkl"}},
		{inLibrary, "", []string{"./la", "./stat", "./vi/...", "./mcmc", "./mkl/...", "./mkl/tune/...", "./gonum/..."}},
	}
	for _, folder := range apart {
		queries = append(queries, query{inScale, folder, []string{"./..."}})
	}
	queries = append(queries, query{inTests, "", append([]string{"-test"}, folders...)})
	for _, folder := range apart {
		queries = append(queries, query{inTests, folder, []string{"-test", "./..."}})
	}
	for _, q := range queries {
		for _, platform := range platforms {
			packages, err := list(platform, q.folder, q.args...)
			if err != nil {
				return nil, err
			}
			of := map[string]string{} // package to module
			for _, p := range packages {
				if p.Module == nil {
					continue // the standard library
				}
				if p.Module.Path == ours || strings.HasPrefix(p.Module.Path, ours+"/") {
					of[p.ImportPath] = command
					continue
				}
				of[p.ImportPath] = p.Module.Path
				if key := p.Module.Path + " " + p.Module.Version; found[key] == nil {
					found[key] = &module{path: p.Module.Path, version: p.Module.Version, sum: p.Module.Sum, dir: p.Module.Dir, use: q.use}
				}
			}
			if q.use == inCommand {
				s.addNeeds(packages, of)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		m := found[key]
		if err := m.readLicences(); err != nil {
			return nil, err
		}
		s.modules = append(s.modules, m)
	}
	return s, nil
}

// addNeeds notes which module imports which. The project's own count as the command.
func (s *supply) addNeeds(packages []listed, of map[string]string) {
	for _, p := range packages {
		from, known := of[p.ImportPath]
		if !known {
			continue
		}
		for _, i := range p.Imports {
			if to, known := of[i]; known && to != from && !slices.Contains(s.needs[from], to) {
				s.needs[from] = append(s.needs[from], to)
			}
		}
	}
}
