// Command release makes a release of all modules of the repository: one commit in which they require each
// other at the version of the release, and a tag for each. It pushes nothing.
//
//	go run ./tool/release v0.1.0
//
// What is pushed then is what it prints. CHANGELOG.md must have a section for the version.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./tool/release VERSION")
		os.Exit(2)
	}
	if err := release(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release makes the commit and the tags in the repository at root.
func release(root, version string) error {
	if err := check(root, version); err != nil {
		return err
	}
	files, err := tracked(root)
	if err != nil {
		return err
	}
	t, err := readTree(root, files)
	if err != nil {
		return err
	}
	if err := t.require(version); err != nil {
		return err
	}
	if _, err := git(root, "commit", "-qam", "Release "+version); err != nil {
		return err
	}
	if err := t.verify(version); err != nil {
		return fmt.Errorf("the commit is made, no tag is: %w", err)
	}
	tags := []string{}
	for _, m := range t.modules {
		tag := m.tag(version)
		if _, err := git(root, "tag", "-a", tag, "-m", m.path+" "+version); err != nil {
			return err
		}
		tags = append(tags, tag)
	}
	fmt.Printf("git push --atomic origin HEAD %s\n", strings.Join(tags, " "))
	return nil
}

// check refuses what cannot be released.
func check(root, version string) error {
	switch {
	case semver.Canonical(version) != version:
		return fmt.Errorf("%q is no version such as v0.1.0", version)
	case semver.Compare(semver.Major(version), "v1") > 0:
		return fmt.Errorf("%s: from v2 on the paths of modules end in the major version", version)
	}
	log, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(strings.Split(string(log), "\n"), func(line string) bool {
		return line == "## "+version || strings.HasPrefix(line, "## "+version+" ")
	}) {
		return fmt.Errorf("CHANGELOG.md has no section %q", "## "+version)
	}
	switch changes, err := git(root, "status", "--porcelain"); {
	case err != nil:
		return err
	case changes != "":
		return errors.New("there are changes that are not committed")
	}
	tags, err := git(root, "tag", "--list", version)
	if err == nil && tags != "" {
		err = fmt.Errorf("%s is there already", version)
	}
	return err
}

// verify computes the sum of the root module once more, from the commit, as the go command will.
func (t *tree) verify(version string) error {
	written, err := t.sums(version)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := zip.CreateFromVCS(&b, module.Version{Path: t.modules[0].path, Version: version}, t.dir, "HEAD", ""); err != nil {
		return err
	}
	committed, err := sumOfZip(b.Bytes())
	if err == nil && committed != written.zip {
		err = fmt.Errorf("the sum of the root module is %s in the commit and %s in go.sum", committed, written.zip)
	}
	return err
}

// tracked lists the files of a repository that git knows.
func tracked(root string) ([]string, error) {
	out, err := git(root, "ls-files", "-z")
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
}

// git runs git in a folder and returns what it prints.
func git(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimRight(string(out), "\n"), nil
}
