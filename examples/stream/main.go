// Command stream predicts what comes in, line by line, as fast as it comes: rows of numbers on standard
// input, in CSV without names, and for each a line of JSON on standard output, in the same order.
//
//	tail -f sensors.csv | go run ./examples/stream -model sensors.mkl
package main

import (
	"context"
	"flag"
	"io"
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
	p, err := load(*path)
	if err != nil {
		log.Fatal(err)
	}
	if err := pipe(ctx, until(ctx, os.Stdin), os.Stdout, p, *workers); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// until returns what in gives until ctx ends, also while a read waits: closing standard input would not end
// that. Then reading fails, and one goroutine is left waiting for in.
func until(ctx context.Context, in io.Reader) io.Reader {
	out, fed := io.Pipe()
	go func() {
		_, err := io.Copy(fed, in)
		_ = fed.CloseWithError(err) // which never fails
	}()
	context.AfterFunc(ctx, func() { _ = fed.CloseWithError(context.Cause(ctx)) })
	return out
}

// load reads a model and makes its predictor.
func load(path string) (predictor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := mkl.LoadAs[*mkl.AutoModel](f)
	if err != nil {
		return nil, err
	}
	return m.Predictor(mkl.PredictorOptions{})
}
