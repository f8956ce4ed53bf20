package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// rPackage runs R CMD build on a copy of the package that carries the command.
func rPackage(o order) (string, error) {
	if o.platform != runtime.GOOS+"/"+runtime.GOARCH {
		return "", errors.New("a package of R is made on its own platform")
	}
	folder, err := os.MkdirTemp("", "pack")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	copied := filepath.Join(folder, "bmkl")
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(o.root, "r"))); err != nil {
		return "", err
	}
	if err := setVersion(filepath.Join(copied, "DESCRIPTION"), o.release.R()); err != nil {
		return "", err
	}
	bin := filepath.Join(copied, "inst", "bin")
	if err := os.MkdirAll(bin, 0o777); err != nil {
		return "", err
	}
	command, err := os.ReadFile(o.binary)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(bin, filepath.Base(o.binary)), command, 0o777); err != nil {
		return "", err
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return "", err
	}
	c := exec.Command("R", "CMD", "build", "--no-build-vignettes", copied)
	c.Dir = out
	if said, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("R CMD build: %w: %s", err, strings.TrimSpace(string(said)))
	}
	return filepath.Join(o.out, fmt.Sprintf("bmkl_%s.tar.gz", o.release.R())), nil
}

var versionLine = regexp.MustCompile(`(?m)^Version: .*$`)

// setVersion writes the version into a DESCRIPTION.
func setVersion(file, version string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, versionLine.ReplaceAll(text, []byte("Version: "+version)), 0o666)
}
