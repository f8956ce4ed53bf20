package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
)

// squares is a model of y = x².
func squares(t *testing.T) (predictor, string) {
	t.Helper()
	x, y := la.NewMatrix[float64](30, 1), make([]float64, 30)
	for i := range y {
		x.Set(i, 0, float64(i-15)/5)
		y[i] = x.At(i, 0) * x.At(i, 0)
	}
	m, err := mkl.Auto{}.Fit(t.Context(), []mkl.View{{X: x}}, y)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "squares.mkl")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, m.Save(f))
	require.NoError(t, f.Close())
	p, err := load(path)
	require.NoError(t, err)
	return p, path
}

func TestPipe(t *testing.T) {
	p, _ := squares(t)
	const n = 500
	var in strings.Builder
	at := func(i int) float64 { return 2.5 * math.Sin(float64(i)) }
	for i := range n {
		switch i {
		case 100:
			in.WriteString("oops\n")
		case 101:
			in.WriteString("1,2\n")
		default:
			in.WriteString(strconv.FormatFloat(at(i), 'g', -1, 64) + "\n")
		}
	}
	for _, workers := range []int{1, 2, 7} {
		var out strings.Builder
		require.NoError(t, pipe(t.Context(), strings.NewReader(in.String()), &out, p, workers))
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, lines, n)
		for i, line := range lines {
			var a answer
			require.NoError(t, json.Unmarshal([]byte(line), &a))
			require.Equal(t, i+1, a.Line, "in order")
			switch i {
			case 100:
				assert.Equal(t, `column 1: "oops" is not a number`, a.Error)
			case 101:
				assert.NotEmpty(t, a.Error)
			default:
				assert.InDelta(t, at(i)*at(i), a.Mean, 0.1)
			}
		}
	}
}

// An answer does not wait for the line after it.
func TestPipeAnswersAtOnce(t *testing.T) {
	p, _ := squares(t)
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- pipe(t.Context(), in, out, p, 2) }()
	got := bufio.NewScanner(answers)
	for range 3 {
		_, err := io.WriteString(lines, "1\n")
		require.NoError(t, err)
		require.True(t, got.Scan())
		assert.Contains(t, got.Text(), `"mean":`)
	}
	require.NoError(t, lines.Close())
	assert.NoError(t, <-ended)
}

// The end of the context ends a read that waits; before, what is read is what comes in.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, lines := io.Pipe()
	r := until(ctx, in)
	go func() { _, _ = io.WriteString(lines, "1\n") }()
	got := make([]byte, 2)
	_, err := io.ReadFull(r, got)
	require.NoError(t, err)
	assert.Equal(t, "1\n", string(got))
	cancel()
	_, err = r.Read(got)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, in.Close())

	all, err := io.ReadAll(until(t.Context(), strings.NewReader("1\n2\n")))
	require.NoError(t, err)
	assert.Equal(t, "1\n2\n", string(all))
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Neither a full disk nor the end of the context leaves a goroutine waiting.
func TestPipeEnds(t *testing.T) {
	p, _ := squares(t)
	endless, lines := io.Pipe()
	go func() {
		for {
			if _, err := io.WriteString(lines, "1\n"); err != nil {
				return
			}
		}
	}()
	assert.ErrorContains(t, pipe(t.Context(), endless, full{}, p, 2), "no space left")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIs(t, pipe(ctx, endless, io.Discard, p, 2), context.Canceled)
	require.NoError(t, endless.Close())
}
