package titsias2011

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/console/consoletest"
	"github.com/bmkl/bmkl/cmd/papers/internal/patches"
	"github.com/bmkl/bmkl/mkl"
)

// stripes is a PNG file with a pattern that few dictionary elements make up.
func stripes(t *testing.T, channels int) string {
	p := patches.New(20, 18, channels)
	for i := range p.Pix {
		x, y := i/channels%20, i/channels/20
		p.Pix[i] = 128 + 60*math.Sin(float64(x+i%channels)) + 40*math.Cos(0.5*float64(y))
	}
	var b bytes.Buffer
	require.NoError(t, p.Write(&b))
	return b.String()
}

func TestReproducePictures(t *testing.T) {
	var app struct {
		Denoise Denoise `cmd:""`
		Inpaint Inpaint `cmd:""`
	}
	for _, c := range []struct {
		channels int
		args     string
		results  int
		pictures []string
	}{
		{1, "denoise -sigma 20 -factors 4 -first 4 -offsets", 2, []string{"denoise-20-given.png", "denoise-20-white.png", "denoise-20-exponential-dictionary.png"}},
		{3, "inpaint -missing 0.5 -factors 4 -first 4 -pi 0.3", 1, []string{"inpaint-given.png", "inpaint.png", "inpaint-dictionary.png"}},
	} {
		args := strings.Fields(c.args + " -image in.png -sweeps 40 -json")
		status, stdout, stderr := consoletest.Run(t, &app, map[string]string{"in.png": stripes(t, c.channels)}, args...)
		require.Equal(t, console.StatusOK, status, stderr)
		var got struct{ Restored []restored }
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.Len(t, got.Restored, c.results)
		for _, r := range got.Restored {
			assert.Greater(t, r.PSNR, 25.0)
			assert.Greater(t, r.PSNR, r.Given)
			assert.Contains(t, r.Sweeps, "; ") // both stages
		}
		for _, name := range c.pictures {
			assert.FileExists(t, name)
		}
	}
}

// TestReproduceMovielens reads the forms of all three sets; without a split it
// makes one.
func TestReproduceMovielens(t *testing.T) {
	write := func(sep string, users, first, last int) string {
		var b strings.Builder
		for u := range users {
			for f := first; f < last; f++ {
				if (u*7+f*5)%3 > 0 {
					fmt.Fprintf(&b, "%d%s%d%s%d%s881250949\n", u+1, sep, 10*f, sep, 3+(u%2*2-1)*(f%2*2-1), sep)
				}
			}
		}
		return b.String()
	}
	for name, files := range map[string]map[string]string{
		"ua":                 {"ua.base": write("\t", 30, 0, 15), "ua.test": write("\t", 30, 14, 16), "u.data": "unused"},
		"ra":                 {"ra.train": write("::", 30, 0, 15), "ra.test": write("::", 30, 14, 16)},
		"ten ratings a user": {"ratings.dat": write("::", 30, 0, 40)},
	} {
		status, stdout, stderr := consoletest.Run(t, new(Movielens), files, "-data", ".", "-factors", "2", "-sweeps", "60", "-json")
		require.Equal(t, console.StatusOK, status, stderr)
		var got struct{ Outcomes []movieOutcome }
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.Len(t, got.Outcomes, 2)
		for _, o := range got.Outcomes {
			assert.Equal(t, name, o.Split)
			assert.Less(t, o.RMSE, 1.0, o.Model) // of a film that was not in training the best guess is off by 1
		}
	}
	status, _, stderr := consoletest.Run(t, new(Movielens), map[string]string{"u.data": "1\t2\n"}, "-data", ".")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "u.data: line 1: fewer than three fields")
}

func TestSplitRatings(t *testing.T) {
	var all []rating
	for u := range int32(5) {
		for f := range 8 * u {
			all = append(all, rating{u, f, 1})
		}
	}
	s := splitRatings(all, 1)
	count := map[int32]int{}
	for _, r := range s.test {
		count[r.user]++
	}
	assert.Equal(t, map[int32]int{2: 10, 3: 10, 4: 10}, count)
	assert.Len(t, s.train, len(all)-30)
}

// TestFactorCheckpoint interrupts a fit and runs the command again: it ends as a run
// without a break, and a third run has nothing left to do.
func TestFactorCheckpoint(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("broken", 0o777))
	y := mkl.DenseTable{{1, 2, 3, 5}, {2, 4, 7, 8}, {-1, -2, -3, -5}, {1, 0, 2, 2}, {3, 1, 1, 1}}
	run := func(ctx context.Context, dir string) ([]float64, error) {
		e := &console.Env{Ctx: ctx, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
		f := factorFlags{Sweeps: 50, Tolerance: 1e-9, Seed: 1, Checkpoint: dir}
		m, err := f.fit(e, "fit", "a test", mkl.FactorAnalysis{Factors: 2}, y)
		if m == nil {
			return nil, err
		}
		return m.Trace().Bounds, err
	}
	want, err := run(t.Context(), "")
	require.NoError(t, err)

	ctx := &afterward{Context: t.Context(), left: 12}
	part, err := run(ctx, "broken")
	require.ErrorIs(t, err, errStopped)
	assert.Less(t, len(part), len(want))
	for range 2 {
		got, err := run(t.Context(), "broken")
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	f := factorFlags{Sweeps: 50, Tolerance: 1e-9, Seed: 1, Checkpoint: "broken"}
	_, err = f.fit(&console.Env{Ctx: t.Context(), Stderr: &bytes.Buffer{}}, "fit", "another test", mkl.FactorAnalysis{Factors: 2}, y)
	assert.ErrorContains(t, err, "-checkpoint broken/fit.state: the file is the state of a fit of other data or with other flags")
}

var errStopped = errors.New("stopped")

// afterward is a context that ends when it has been asked so many times.
type afterward struct {
	context.Context
	left int
}

func (a *afterward) Err() error {
	if a.left--; a.left < 0 {
		return errStopped
	}
	return nil
}
