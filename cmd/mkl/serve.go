//go:build !lean

package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/serving"
)

// serveCmd is mkl serve.
type serveCmd struct {
	Model []string `arg:"" help:"Model files that mkl fit wrote. A model has the name of its file without the extension."`

	Listen     string        `placeholder:"ADDRESS" default:"localhost:8080" help:"Address to listen on. Port 0 takes a free port."`
	Interval   float64       `placeholder:"P" default:"0.95" help:"Probability of the intervals of numbers and times."`
	Tolerance  float64       `placeholder:"SHARE" help:"Predict records faster, with an error of at most this share of the predictive standard deviation, or of this probability. A file of mkl compile is ready at once. By default and for 0 the predictions are exactly the model's."`
	Poll       time.Duration `placeholder:"TIME" default:"2s" help:"Time between two checks for changed model files; 0 means no checks."`
	MaxBytes   int64         `placeholder:"N" default:"4194304" help:"Largest size of the body of a request, in bytes."`
	MaxRecords int           `placeholder:"N" default:"10000" help:"Largest number of records in a request."`
	Concurrent int           `placeholder:"N" help:"Largest number of predictions at the same time; by default and for 0 the number of processors."`
	Wait       time.Duration `placeholder:"TIME" default:"1s" help:"Longest time that a request waits for other predictions."`
	Timeout    time.Duration `placeholder:"TIME" default:"30s" help:"Longest time that the prediction of a request may take."`
}

// drain is how long requests may take to end after an interrupt.
const drain = 30 * time.Second

// Run serves until it is interrupted.
func (c *serveCmd) Run(e *console.Env) error {
	switch {
	case !(c.Interval > 0 && c.Interval < 1):
		return console.Inputf("-interval is %v: a probability is between 0 and 1", c.Interval)
	case !(c.Tolerance >= 0):
		return console.Inputf("-tolerance is %v: it is at least 0", c.Tolerance)
	case c.Poll < 0, c.Wait < 0, c.Timeout <= 0:
		return console.Inputf("-poll and -wait are at least 0, and -timeout is longer than 0")
	case c.MaxBytes < 1, c.MaxRecords < 1, c.Concurrent < 0:
		return console.Inputf("-max-bytes and -max-records are at least 1, and -concurrent at least 0")
	}
	if c.Concurrent == 0 {
		c.Concurrent = runtime.GOMAXPROCS(0)
	}
	var models []*serving.Model
	for _, path := range c.Model {
		m, err := serving.OpenModel(e.Ctx, path, c.Tolerance)
		if err != nil {
			return console.Input(err)
		}
		models = append(models, m)
	}
	s, err := serving.New(serving.Options{
		Interval: c.Interval, MaxBytes: c.MaxBytes, MaxRecords: c.MaxRecords, Concurrent: c.Concurrent, Wait: c.Wait, Timeout: c.Timeout,
	}, models, func(format string, args ...any) {
		fmt.Fprintf(e.Stderr, "%s %s\n", time.Now().UTC().Format(time.RFC3339), console.Printable(fmt.Sprintf(format, args...)))
	})
	if err != nil {
		return console.Input(err)
	}
	l, err := new(net.ListenConfig).Listen(e.Ctx, "tcp", c.Listen)
	if err != nil {
		return console.Input(err)
	}
	var ticks <-chan time.Time
	if c.Poll > 0 {
		t := time.NewTicker(c.Poll)
		defer t.Stop()
		ticks = t.C
	}
	reload := make(chan os.Signal, 1)
	notifyReload(reload)
	defer signal.Stop(reload)
	e.Hold()
	fmt.Fprintf(e.Stderr, "serving %s on http://%s\n", console.Plural(len(models), "model"), l.Addr())
	return s.Run(e.Ctx, l, ticks, reload, drain)
}
