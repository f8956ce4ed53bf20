package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// tags are what a wheel says of the machines of each platform. The command is linked statically: it runs with any
// libc of Linux. macOS 12 is the oldest that Go 1.26 supports.
var tags = map[string]string{
	"linux/amd64":   "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
	"linux/arm64":   "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64":  "macosx_12_0_x86_64",
	"darwin/arm64":  "macosx_12_0_arm64",
	"windows/amd64": "win_amd64",
	"windows/arm64": "win_arm64",
}

// Platforms are the platforms that packages are made for.
func Platforms() []string { return slices.Sorted(maps.Keys(tags)) }

// Release is a version as packages call it.
type Release struct {
	Number  string // 0.1.0
	Preview bool   // not released yet
}

// Python is the version by PEP 440.
func (r Release) Python() string {
	if r.Preview {
		return r.Number + ".dev0"
	}
	return r.Number
}

// NPM is the version by the rules of npm.
func (r Release) NPM() string {
	if r.Preview {
		return r.Number + "-dev"
	}
	return r.Number
}

// R is the version by R's rules, by which a fourth number of 9000 is a preview.
func (r Release) R() string {
	if r.Preview {
		return r.Number + ".9000"
	}
	return r.Number
}

var section = regexp.MustCompile(`(?m)^## (v\d+\.\d+\.\d+)(.*)$`)

// release is the version that is named, or the newest of the CHANGELOG.
func release(root, named string) (Release, error) {
	if named != "" {
		if semver.Canonical(named) != named || semver.Prerelease(named) != "" {
			return Release{}, fmt.Errorf("-version %s: no version such as v0.1.0", named)
		}
		return Release{Number: named[1:]}, nil
	}
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return Release{}, err
	}
	found := section.FindStringSubmatch(string(text))
	if found == nil {
		return Release{}, fmt.Errorf("CHANGELOG.md has no section such as ## v0.1.0")
	}
	return Release{Number: found[1][1:], Preview: strings.Contains(found[2], "not released")}, nil
}

// browser is the platform of WebAssembly.
const browser = "js/wasm"

// build compiles the command for a platform. For browsers it leaves out what the tag lean does.
func build(root, out, platform string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	goos, goarch, _ := strings.Cut(platform, "/")
	tags := "arrow_json_stdlib"
	if platform == browser {
		tags = "lean"
	}
	c := exec.Command("go", "build", "-trimpath", "-tags="+tags, "-ldflags=-s -w", "-o", out, "./mkl")
	c.Dir = filepath.Join(root, "cmd")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, said)
	}
	return nil
}
