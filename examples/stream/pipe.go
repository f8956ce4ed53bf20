package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
)

// predictor is what predictors of one target have. It serves any number of goroutines.
type predictor interface {
	Predict(x ...[]float64) (mean, variance float64, err error)
}

// row is a line on its way: the reader makes it, a worker answers it, the writer waits for the answer.
type row struct {
	line   int
	text   string
	answer chan answer // of one
}

// answer is what is written of a line.
type answer struct {
	Line  int     `json:"line"`
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`
	Error string  `json:"error,omitempty"` // why the line could not be predicted
}

// pipe predicts the lines of in and writes the answers to out in the same order. A line that cannot be
// predicted gets an answer that says why. No more than a few lines for each worker are held: where out is
// slow, in waits. It ends with in, with the context, or where out fails, once the read under way has ended.
func pipe(ctx context.Context, in io.Reader, out io.Writer, p predictor, workers int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work, order := make(chan row, workers), make(chan row, 4*workers)
	failed := make(chan error, 1) // of reading
	go func() {
		defer close(order)
		defer close(work)
		failed <- read(ctx, in, work, order)
	}()
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for r := range work {
				r.answer <- r.predict(p)
			}
		})
	}
	err := write(out, order)
	cancel() // where writing failed, nothing more is to be read
	for range order {
	}
	group.Wait()
	if err != nil {
		return err
	}
	return <-failed
}

// read hands on the lines, first to the writer, which so knows their order.
func read(ctx context.Context, in io.Reader, work, order chan<- row) error {
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		r := row{line: n, text: lines.Text(), answer: make(chan answer, 1)}
		for _, to := range []chan<- row{order, work} {
			select {
			case to <- r:
			case <-ctx.Done():
				r.answer <- answer{Line: n, Error: "not predicted"} // if the writer has it already
				return context.Cause(ctx)
			}
		}
	}
	return lines.Err()
}

// write writes the answers in their order, and lets none wait for those to come.
func write(out io.Writer, order <-chan row) error {
	w := bufio.NewWriter(out)
	encode := json.NewEncoder(w)
	for r := range order {
		if err := encode.Encode(<-r.answer); err != nil {
			return err
		}
		if len(order) == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// predict answers a line. All of its numbers are the one input of the model.
func (r row) predict(p predictor) answer {
	a := answer{Line: r.line}
	var x []float64
	for i, cell := range strings.Split(r.text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
		if err != nil {
			a.Error = fmt.Sprintf("column %d: %q is not a number", i+1, cell)
			return a
		}
		x = append(x, v)
	}
	mean, variance, err := p.Predict(x)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.Mean, a.SD = mean, math.Sqrt(variance)
	return a
}
