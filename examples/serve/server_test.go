package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// write fits y = slope·x and puts the model in place of the file, as the command does: whole, by renaming.
func write(t *testing.T, path string, slope float64) {
	t.Helper()
	x, y := make([]float64, 20), make([]float64, 20)
	for i := range x {
		x[i] = float64(i) - 9.5
		y[i] = slope*x[i] + 0.01*float64(i%3)
	}
	m, err := mkl.MultiGP{}.Fit(t.Context(), []mkl.View{{X: mkl.Column(x), Kernel: kernel.Linear{}}}, y)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, m.Save(&b))
	replace(t, path, b.Bytes())
}

// stamped is the time that the next file has: no two have the same, whatever the clock of the file system.
var stamped = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func replace(t *testing.T, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", text, 0o666))
	stamped = stamped.Add(time.Minute)
	require.NoError(t, os.Chtimes(path+".new", stamped, stamped))
	require.NoError(t, os.Rename(path+".new", path))
}

// service is a server at work.
type service struct {
	t       *testing.T
	path    string
	url     string
	ticks   chan time.Time
	entered chan struct{} // a request to /slow has come
	stop    context.CancelFunc
	ended   chan error
}

func start(t *testing.T) *service {
	log.SetOutput(io.Discard)
	s := &service{t: t, path: filepath.Join(t.TempDir(), "m.mkl"), ticks: make(chan time.Time), entered: make(chan struct{}), ended: make(chan error, 1)}
	write(t, s.path, 1)
	own, err := newServer(s.path)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.url = "http://" + l.Addr().String()
	h := own.handler()
	slow := http.NewServeMux()
	slow.Handle("/", h)
	slow.HandleFunc("POST /slow", func(w http.ResponseWriter, r *http.Request) {
		close(s.entered)
		r.URL.Path = "/predict"
		h.ServeHTTP(w, r)
	})
	var ctx context.Context
	ctx, s.stop = context.WithCancel(t.Context())
	go func() { s.ended <- own.run(ctx, l, slow, s.ticks) }()
	t.Cleanup(s.stop)
	return s
}

// look lets the server look for a new file, and returns once it has.
func (s *service) look() {
	s.ticks <- time.Time{}
	s.ticks <- time.Time{} // taken only after the first was dealt with
}

func (s *service) do(method, path, body string) (status int, got map[string]any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	response, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer response.Body.Close()
	if response.Header.Get("Content-Type") == "application/json" {
		require.NoError(s.t, json.NewDecoder(response.Body).Decode(&got))
	}
	return response.StatusCode, got
}

func TestService(t *testing.T) {
	s := start(t)
	mean := func() float64 {
		status, got := s.do("POST", "/predict", `{"x": [[10]]}`)
		require.Equal(t, http.StatusOK, status, got)
		assert.Positive(t, got["sd"])
		return got["mean"].(float64)
	}
	assert.InDelta(t, 10, mean(), 0.1)

	write(t, s.path, 3)
	s.look()
	assert.InDelta(t, 30, mean(), 0.1, "the new file has taken over")

	replace(t, s.path, []byte("no model"))
	s.look()
	assert.InDelta(t, 30, mean(), 0.1, "the model of before stays")
	status, health := s.do("GET", "/health", "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, health["refused"], "m.mkl: ")

	require.NoError(t, os.Remove(s.path))
	s.look()
	write(t, s.path, 5)
	s.look()
	assert.InDelta(t, 50, mean(), 0.1)
	_, health = s.do("GET", "/health", "")
	assert.NotContains(t, health, "refused")

	_, latency := s.do("GET", "/latency", "")
	assert.EqualValues(t, 4, latency["count"])
	assert.Positive(t, latency["p99_below"])

	s.stop()
	require.NoError(t, <-s.ended)
}

func TestServiceRefuses(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/predict", `{"x": [[1, 2]]}`, http.StatusUnprocessableEntity},
		{"POST", "/predict", `{"x": []}`, http.StatusUnprocessableEntity},
		{"POST", "/predict", `{"x": [["a"]]}`, http.StatusBadRequest},
		{"POST", "/predict", `{`, http.StatusBadRequest},
		{"POST", "/predict", `{"x": [[null]]}`, http.StatusBadRequest},
		{"POST", "/predict", `{"x": [[1]]} 2`, http.StatusBadRequest},
		{"POST", "/predict", `{"x": [[1]]} {"x": [[1]]}`, http.StatusBadRequest},
		{"POST", "/predict", `{"x": [[1]], "y": 2}`, http.StatusBadRequest},
		{"POST", "/predict", `{"x": [[` + strings.Repeat("1,", mostBytes) + `1]]}`, http.StatusRequestEntityTooLarge},
		{"GET", "/predict", "", http.StatusMethodNotAllowed},
		{"GET", "/none", "", http.StatusNotFound},
	} {
		status, got := s.do(c.method, c.path, c.body)
		assert.Equal(t, c.want, status, "%s %s %.30s: %v", c.method, c.path, c.body, got)
	}
}

// The service answers a request that came before the signal to end.
func TestServiceEndsGracefully(t *testing.T) {
	s := start(t)
	body, half := io.Pipe()
	answered := make(chan int, 1)
	go func() {
		response, err := http.Post(s.url+"/slow", "application/json", body)
		if err != nil {
			answered <- 0
			return
		}
		response.Body.Close()
		answered <- response.StatusCode
	}()
	_, err := io.WriteString(half, `{"x": `)
	require.NoError(t, err)
	<-s.entered
	s.stop()
	_, err = io.WriteString(half, `[[10]]}`)
	require.NoError(t, err)
	require.NoError(t, half.Close())
	assert.Equal(t, http.StatusOK, <-answered)
	require.NoError(t, <-s.ended)
}

func TestHistogram(t *testing.T) {
	var h histogram
	assert.Equal(t, summary{}, h.summary())
	for range 98 {
		h.add(3 * time.Microsecond)
	}
	h.add(900 * time.Microsecond)
	h.add(time.Hour)
	assert.Equal(t, summary{Count: 100, P50: 4, P99: 1024, P999: 1 << 31}, h.summary())
}

func TestOnlyRegressions(t *testing.T) {
	x := mkl.Column([]float64{1, 2, 3, 4})
	m, err := mkl.MultiGPClassifier[string]{}.Fit(t.Context(), []mkl.View{{X: x, Kernel: kernel.Linear{}}}, []string{"a", "a", "b", "b"})
	require.NoError(t, err)
	_, err = predictorOf(m)
	assert.ErrorContains(t, err, "this example serves regressions of one target, not ")
}
