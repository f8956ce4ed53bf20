package mkl

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		t.Skip()
	}
	n, _ := strconv.Atoi(os.Getenv("ZZ"))
	d, C := 8, 1
	if v := os.Getenv("D"); v != "" {
		d, _ = strconv.Atoi(v)
	}
	if v := os.Getenv("C"); v != "" {
		C, _ = strconv.Atoi(v)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	x := normal(rng, n, d)
	y := make([]float64, n)
	lab := make([]int, n)
	for i := range y {
		f := math.Sin(x.At(i, 0)*2) + x.At(i, 1)*x.At(i, 2) + 0.5*x.At(i, 3)
		y[i] = f + 0.2*rng.NormFloat64()
		if C > 1 {
			lab[i] = min(C-1, max(0, int(math.Floor((y[i]+2)/4*float64(C)))))
		}
	}
	var last time.Time
	show := func(p Progress) {
		if p.Member != 0 {
			fmt.Printf("m%d f%d s%d %.2f %.3fs\n", p.Member, p.Start, p.Sweep, p.Bound, time.Since(last).Seconds())
		}
		last = time.Now()
	}
	_ = show
	f := Fitting{Workers: 1}
	if os.Getenv("V") != "" {
		f.Progress = show
	}
	b := time.Now()
	if C == 1 {
		m, err := Auto{Fitting: f}.Fit(context.Background(), []View{{X: x}}, y)
		fmt.Println(time.Since(b), err)
		fmt.Println(m.Summary())
	} else {
		m, err := AutoClassifier[int]{Fitting: f}.Fit(context.Background(), []View{{X: x}}, lab)
		fmt.Println(time.Since(b), err)
		fmt.Println(m.story())
	}
}
