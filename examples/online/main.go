// Command online learns day by day: it adds the samples of today to sums, takes away the samples of a month ago,
// and fits anew from where the last fit ended. The fit takes the same time however many samples a day has,
// and the sums are exact: what was added and taken away leaves no trace.
//
//	go run ./examples/online
//
// The data are made here, of a plant whose characteristic drifts. For every tenth day it prints the error on
// that day of the model before it has learned of the day, and of a model of the first month only.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"

	"github.com/bmkl/bmkl/mkl"
)

func main() {
	days := flag.Int("days", 120, "days after the first month")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if _, err := watch(ctx, os.Stdout, *days); err != nil {
		log.Fatal(err)
	}
}

// window is the days that are learned from.
const window = 30

// watch goes through so many days after the first month. It returns the errors of the two models, day by day.
func watch(ctx context.Context, out io.Writer, days int) (errors [2][]float64, err error) {
	var month []day
	for d := range window {
		month = append(month, measure(d))
	}
	l, err := begin(ctx, month)
	if err != nil {
		return errors, err
	}
	first := l.model
	fmt.Fprintln(out, "day  error of the last month's model  of the first month's")
	for d := window; d < window+days; d++ {
		today := measure(d)
		for k, m := range []*mkl.LandmarkGPModel{l.model, first} {
			e, err := miss(m, today)
			if err != nil {
				return errors, err
			}
			errors[k] = append(errors[k], e)
		}
		if d%10 == 0 {
			k := d - window
			fmt.Fprintf(out, "%3d  %32.3f  %20.3f\n", d, errors[0][k], errors[1][k])
		}
		if err := l.learn(ctx, today); err != nil {
			return errors, err
		}
	}
	return errors, nil
}
