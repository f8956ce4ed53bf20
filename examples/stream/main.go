// Command stream predicts what comes in, line by line, as fast as it comes: rows of numbers on standard input, in CSV
// without names, and for each a line of JSON on standard output, in the same order.
//
//	tail -f sensors.csv | go run ./examples/stream -model sensors.mkl
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/bmkl/bmkl/mkl"
)

func main() {
	path := flag.String("model", "", "model file of numbers, as mkl fit makes it without -model")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "predictions at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { os.Stdin.Close() }) // ends the wait for the next line
	p, err := load(*path)
	if err != nil {
		log.Fatal(err)
	}
	if err := pipe(ctx, os.Stdin, os.Stdout, p, *workers); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// load reads a model and makes its predictor.
func load(path string) (predictor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := mkl.LoadAs[*mkl.PoolModel](f)
	if err != nil {
		return nil, err
	}
	return m.Predictor(mkl.ProcessPredictorOptions{})
}
