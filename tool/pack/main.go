// Command pack makes the packages of other languages, each around the command mkl, which it builds. It runs in the
// root of the repository and needs Go only; the package of R needs R too.
//
//	go run ./tool/pack wheel                      a wheel for this platform, in dist
//	go run ./tool/pack wheel -platform all        wheels for six platforms
//	go run ./tool/pack r                          a source package of R that carries the command for this platform
//	go run ./tool/pack web                        the package of npm, and the folder of the playground, by WebAssembly
//
// Equal sources give equal wheels and packages of npm, byte for byte.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// run makes what the arguments say.
func run(args []string) error {
	kinds := map[string]func(order) (string, error){"wheel": wheel, "r": rPackage, "web": web}
	if len(args) == 0 || kinds[args[0]] == nil {
		return errors.New("usage: go run ./tool/pack wheel|r|web [-o FOLDER] [-platform OS/ARCH,…|all] [-version v0.1.0]")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	out := flags.String("o", "dist", "folder to write to")
	platforms := flags.String("platform", runtime.GOOS+"/"+runtime.GOARCH, "platforms, with commas between, or all")
	version := flags.String("version", "", "version, such as v0.1.0; by default the newest of CHANGELOG.md, as a preview if it is not released")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	wanted := strings.Split(*platforms, ",")
	if *platforms == "all" {
		wanted = Platforms()
	}
	if args[0] == "web" {
		wanted = []string{browser}
	}
	for _, p := range wanted {
		if p != browser && !slices.Contains(Platforms(), p) {
			return fmt.Errorf("-platform %s: the platforms are %s", p, strings.Join(Platforms(), ", "))
		}
	}
	r, err := release(".", *version)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o777); err != nil {
		return err
	}
	for _, p := range wanted {
		path, err := one(kinds[args[0]], order{root: ".", out: *out, platform: p, release: r})
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Println(path)
	}
	return nil
}

// order is a package to make.
type order struct {
	root, out, platform string
	release             Release
	binary              string // the command, built for the platform
}

// one builds the command and makes a package around it.
func one(pack func(order) (string, error), o order) (string, error) {
	folder, err := os.MkdirTemp("", "pack")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	o.binary = filepath.Join(folder, "mkl")
	if strings.HasPrefix(o.platform, "windows/") {
		o.binary += ".exe"
	}
	if err := build(o.root, o.binary, o.platform); err != nil {
		return "", err
	}
	return pack(o)
}
