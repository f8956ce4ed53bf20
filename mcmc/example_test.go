package mcmc_test

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi"
	"github.com/bmkl/bmkl/vi/probit"
)

// Of two kernels, the first separates the classes, though not without error. The example
// samples their weights and looks at the diagnostics of the chains before it uses the
// draws. A run that is interrupted goes on from its last checkpoint and ends in the same
// draws.
func ExampleProbit() {
	const n = 18
	labels := make([]int, n)
	close, far := la.NewMatrix[float64](n, n), la.NewMatrix[float64](n, n)
	for i := range n {
		labels[i] = (i + i%3) / 9
		for j := range n {
			d := float64(i-j) / 4
			close.Set(i, j, math.Exp(-d*d))
			far.Set(i, j, math.Exp(-math.Abs(math.Sin(float64(7*i))-math.Sin(float64(7*j)))))
		}
	}
	kernels, err := vi.NewDense(close, far)
	if err != nil {
		panic(err)
	}

	machine := mcmc.Probit{Rule: probit.RuleWSum, Rho: vi.Gamma{Shape: 20, Scale: 0.05}, Sampling: mcmc.Sampling{
		Chains: 4, Draws: 250, Thin: 2, BurnIn: 150, Seed: 1, Every: 200,
	}}
	ctx, interrupt := context.WithCancel(context.Background())
	var last []byte // as it would be in a file
	machine.Sampling.Checkpoint = func(c *mcmc.Checkpoint) (err error) {
		if c.Sweeps() == 400 {
			interrupt()
		}
		last, err = c.MarshalBinary()
		return err
	}
	_, err = machine.Sample(ctx, kernels, labels)
	fmt.Println("interrupted:", errors.Is(err, context.Canceled))

	resume := new(mcmc.Checkpoint)
	if err := resume.UnmarshalBinary(last); err != nil {
		panic(err)
	}
	machine.Sampling.Checkpoint, machine.Sampling.Resume = nil, resume
	draws, err := machine.Sample(context.Background(), kernels, labels)
	if err != nil {
		panic(err)
	}
	fmt.Println(draws.Chains(), "chains of", draws.Len(), "draws")

	beta := draws.Summary("beta")[0]
	fmt.Println("R̂ below 1.1:", beta.RHat < 1.1, "effective draws above 50:", beta.BulkESS > 50)
	fmt.Println("the first kernel weighs more:", beta.Mean > 0.5+3*beta.MCSE)
	sensible := true
	for _, m := range draws.Moves() {
		sensible = sensible && m.Rate() > 0.1 && m.Rate() < 0.95
	}
	fmt.Println("acceptance rates between 0.1 and 0.95:", sensible)
	// Output:
	// interrupted: true
	// 4 chains of 250 draws
	// R̂ below 1.1: true effective draws above 50: true
	// the first kernel weighs more: true
	// acceptance rates between 0.1 and 0.95: true
}
