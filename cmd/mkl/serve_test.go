//go:build !lean

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl/record"
)

// TestServe serves a model of each task over a connection, and ends without an error when it is interrupted. The
// answers equal the answers of mkl/record, which TestRecordsPredict compares with mkl predict.
func TestServe(t *testing.T) {
	files := map[string]string{"d.csv": houses(), "f.csv": flowers()}
	for _, c := range []string{
		"d.csv -target price -model mgp -sweeps 20 -o price.mkl",
		"f.csv -target species -model probit -kernels rbf(width=1) -sweeps 20 -o species.mkl",
		"f.csv -target big,odd -task multilabel -view x,z:rbf(width=1) -sweeps 20 -o labels.mkl",
	} {
		status, _, stderr := command(t, files, "", append([]string{"fit"}, strings.Fields(c)...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		files = nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said, stderr := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := strings.Fields("serve price.mkl species.mkl labels.mkl -listen 127.0.0.1:0")
		ended <- program().Run(ctx, args, strings.NewReader(""), io.Discard, stderr)
		stderr.Close()
	}()
	lines := bufio.NewScanner(said)
	require.True(t, lines.Scan())
	_, address, ok := strings.Cut(lines.Text(), "serving 3 models on ")
	require.True(t, ok, lines.Text())
	go func() { _, _ = io.Copy(io.Discard, said) }()
	for name, table := range map[string]string{"price": houses(), "species": flowers(), "labels": flowers()} {
		all := records(t, table)
		body, err := json.Marshal(map[string]any{"records": all})
		require.NoError(t, err)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/predict?model="+name, strings.NewReader(string(body)))
		require.NoError(t, err)
		w, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		var got struct {
			Model       string
			Predictions []record.Prediction
		}
		require.NoError(t, json.NewDecoder(w.Body).Decode(&got))
		w.Body.Close()
		require.Equal(t, http.StatusOK, w.StatusCode)
		want, err := openRecord(t, name+".mkl").PredictRows(ctx, all)
		require.NoError(t, err)
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var sent []record.Prediction
		require.NoError(t, json.Unmarshal(text, &sent))
		assert.Equal(t, name, got.Model)
		assert.Equal(t, sent, got.Predictions)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	assert.Equal(t, console.StatusOK, <-ended)
}

// TestServeRefuses refuses flags and files before it listens.
func TestServeRefuses(t *testing.T) {
	files := map[string]string{"d.csv": line(), "none.mkl": "no model"}
	status, _, stderr := command(t, files, "", strings.Fields("fit d.csv -target x,z,y -task factors -factors 2 -o f.mkl")...)
	require.Equal(t, console.StatusOK, status, stderr)
	for args, says := range map[string]string{
		"absent.mkl": "absent.mkl", "none.mkl": "none.mkl", "f.mkl": "factors", "f.mkl -interval 1": "-interval", "f.mkl -max-records 0": "-max-records",
		"f.mkl -timeout 0s": "-timeout",
	} {
		status, _, stderr := command(t, nil, "", append([]string{"serve"}, strings.Fields(args)...)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, says)
	}
}
