// Command lab keeps the tables of docs/lab true. Above each table a comment names the command that
// printed its figures. lab runs the cheap commands again, compares the figures, and prints those that are stale.
//
//	go run ./tool/lab                    what needs no data from elsewhere
//	go run ./tool/lab -data DIR          and what reads the data sets in DIR
//	go run ./tool/lab -run motorcycle    only commands that match the expression
//	go run ./tool/lab -write             also writes the new figures into the pages
//
// It exits with status 1 if a figure is stale. It runs in the root of the repository. The comment is
//
//	<!-- lab
//	measured: 2026-11-23, commit 2fa2c90, two cores of an Intel Xeon
//	command: go run ./cmd/papers calibration -data $DATA -json
//	seconds: 14
//	rows: .runs[]
//	key set: .set
//	column accuracy, %: .measures.accuracy*100 ± 0.1
//	besides: 1
//	-->
//
// Seconds is about how long the command takes. The other fields say how what it prints becomes
// rows. What it prints is JSON, or else counts as an array of lines, for jq's capture. Rows is a jq query for
// the records; key is a query for a cell that says which row of the table a record is; column is a query for a
// figure, with the deviation that it may have beyond its last digit. A cell with several numbers has a query for
// an array. Besides is how many rows of the table are from elsewhere, such as the figures of a paper. A table
// without rows is not compared. A table that no command of the repository makes has a field origin, which says
// what made it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	root := flag.String("root", ".", "root of the repository")
	data := flag.String("data", "", "folder of data sets, for the commands that name $DATA")
	most := flag.Duration("most", time.Minute, "run commands that take no longer, by what their comments say")
	only := flag.String("run", "", "run only the commands that match this regular `expression`")
	write := flag.Bool("write", false, "write new figures into the pages")
	list := flag.Bool("list", false, "list all tables and their commands; run none")
	flag.Parse()
	pick, err := regexp.Compile(*only)
	if err != nil || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := &checker{root: *root, data: *data, most: *most, pick: pick, out: os.Stdout}
	pages, err := readPages(filepath.Join(*root, "docs", "lab"))
	if err == nil && *list {
		c.list(pages)
		return
	}
	if err == nil {
		err = c.check(ctx, pages)
	}
	if err == nil && *write {
		err = writePages(pages)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(2)
	}
	if c.stale > 0 && !*write {
		os.Exit(1)
	}
}
