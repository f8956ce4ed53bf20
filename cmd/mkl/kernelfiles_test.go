package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// kernelFile is kernels between the samples rows and the samples columns, by name, of a feature of the samples.
func kernelFile(rows, columns []int, scale float64, feature func(i int) float64) string {
	var b strings.Builder
	b.WriteString("who")
	for _, j := range columns {
		fmt.Fprintf(&b, ",s%d", j)
	}
	b.WriteString("\n")
	for _, i := range rows {
		fmt.Fprintf(&b, "s%d", i)
		for _, j := range columns {
			d := feature(i) - feature(j)
			fmt.Fprintf(&b, ",%g", scale*math.Exp(-d*d/2))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Files of kernels with other orders and other samples than the targets give the predictions of files in order. The kernel of a row with
// itself is needed only where it is not known.
func TestKernelFiles(t *testing.T) {
	one := func(i int) float64 { return float64(i%7) / 2 }
	two := func(i int) float64 { return float64(i*i%11) / 3 }
	rng := rand.New(rand.NewPCG(1, 1))
	shuffled := func(n int) []int { return rng.Perm(n) }
	var train, test []int
	y, yt := "who,y\n", "who,y\n"
	for i := range 36 {
		line := fmt.Sprintf("s%d,%g\n", i, math.Sin(one(i))+0.5*two(i))
		if i < 30 {
			train, y = append(train, i), y+line
		} else {
			test, yt = append(test, i), yt+line
		}
	}
	files := map[string]string{
		"y.csv": y, "yt.csv": yt, "twice.csv": y + "s3,1\n",
		"a.csv": kernelFile(train, train, 1, one), "b.csv": kernelFile(train, train, 1, two),
		"sa.csv": kernelFile(shuffled(36), shuffled(36), 1, one), "sb.csv": kernelFile(shuffled(36), shuffled(36), 1, two),
		"b2.csv": kernelFile(shuffled(30), shuffled(30), 2, two), "tb2.csv": kernelFile(test, train, 2, two),
		"few.csv":    kernelFile(test, train[:20], 1, two),
		"lacks7.csv": kernelFile(slices.Concat(train[:7], train[8:]), train, 1, two),
	}
	command(t, files, "")
	refused := func(args, want string) {
		t.Helper()
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status)
		assert.Contains(t, stderr, want)
	}
	const fit = " -target y -task regression -model mgp -join who -view a=@%s:precomputed -view b=@%s:precomputed -o "
	_, said := run(t, "", "fit y.csv"+fmt.Sprintf(fit, "a.csv", "b.csv")+"m")
	assert.Contains(t, said, `view "a": k(x, x) is 1 for every sample: predictions need no column a_self and take it as 1`)
	run(t, "", "fit y.csv"+fmt.Sprintf(fit, "sa.csv", "sb.csv")+"s")
	want, _ := run(t, "", "predict m yt.csv -view a=@sa.csv -view b=@sb.csv")
	got, _ := run(t, "", "predict s yt.csv -view a=@sa.csv -view b=@sb.csv")
	assert.Equal(t, want, got)
	run(t, "", "evaluate s yt.csv -view a=@sa.csv -view b=@sb.csv")
	first, _ := run(t, "", "cv y.csv -target y -task regression -models mgp -folds 3 -join who -view a=@a.csv:precomputed -view b=@b.csv:precomputed")
	again, _ := run(t, "", "cv y.csv -target y -task regression -models mgp -folds 3 -join who -view a=@sa.csv:precomputed -view b=@sb.csv:precomputed")
	assert.Equal(t, first, again)

	// Without a diagonal of 1: rows of the fit have k(x, x) among their kernels.
	run(t, "", "fit y.csv"+fmt.Sprintf(fit, "sa.csv", "b2.csv")+"two")
	run(t, "", "predict two y.csv -view a=@sa.csv -view b=@b2.csv")
	refused("predict two yt.csv -view a=@sa.csv -view b=@tb2.csv", `view "b": tb2.csv lacks the column b_self, the kernel of each row with itself, k(x, x): the row "s30" is not a sample of the fit`)

	// Mismatches are named.
	_, said = run(t, "", "fit y.csv"+fmt.Sprintf(fit, "sa.csv", "lacks7.csv")+"few")
	assert.Contains(t, said, `1 of 30 rows left out, where something is missing: y.csv: row 8 (line 9), column 1 "who": lacks7.csv has no row for "s7"`)
	run(t, "", "predict few yt.csv -view a=@sa.csv -view b=@sb.csv")
	refused("fit y.csv -missing refuse"+fmt.Sprintf(fit, "sa.csv", "lacks7.csv")+"few", `lacks7.csv has no row for "s7": -missing impute`)
	refused("fit y.csv -missing refuse"+fmt.Sprintf(fit, "sa.csv", "few.csv")+"few", `few.csv has no row for "s0"`)
	refused("fit twice.csv"+fmt.Sprintf(fit, "a.csv", "b.csv")+"x", `"s3" is there twice: kernels that are given need one row for each`)
	refused("predict m yt.csv -view a=@sa.csv -view b=@few.csv", `view "b": few.csv has 20 columns where the model needs 31`)
	refused("predict m yt.csv -view a=@sa.csv -view b=@few.csv", `10 of 30 columns of the fit are missing, the first is "s20"`)
}
