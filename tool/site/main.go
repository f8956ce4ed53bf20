// Command site makes a static site of the manuals: a page for each manual below docs and for the pages beside
// the README, with navigation and one style sheet, and nothing that a browser would fetch from elsewhere.
//
//	go run ./tool/site -o FOLDER
//
// A link or a picture that leads nowhere is an error, and so is a manual that docs/index.md does not list.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "", "folder for the site, which is made")
	root := flag.String("root", ".", "root of the repository")
	source := flag.String("source", "https://github.com/bmkl/bmkl", "where readers find the repository's files")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	s, err := read(*root, *source)
	if err == nil {
		err = s.write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d pages, %d pictures\n", *out, len(s.pages), len(s.pictures))
}
