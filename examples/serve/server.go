package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/bmkl/bmkl/mkl"
)

// Limits of a request, and of the wait for those at work when the service ends.
const (
	mostBytes = 1 << 20
	patience  = 5 * time.Second
)

// predictor is what all predictors of one target have. It serves any number of goroutines.
type predictor interface {
	Predict(x ...[]float64) (mean, variance float64, err error)
}

// served is a model that is being served.
type served struct {
	predictor
	name  string
	stamp stamp
}

// stamp distinguishes one version of a file from the next.
type stamp struct {
	modified time.Time
	bytes    int64
}

func stampOf(info os.FileInfo) stamp { return stamp{info.ModTime(), info.Size()} }

// server answers requests by the model of the moment.
type server struct {
	path    string
	model   atomic.Pointer[served]
	refused atomic.Pointer[refusal] // the last file that could not take over; nil if the last one did
	latency histogram
}

// refusal is a file that could not be served.
type refusal struct {
	stamp stamp
	err   error
}

func newServer(path string) (*server, error) {
	s := &server{path: path}
	return s, s.load()
}

// load makes the file the model of the moment. Requests that are at work keep the one that they have.
func (s *server) load() error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := mkl.Load(f)
	if err == nil {
		var p predictor
		if p, err = predictorOf(m); err == nil {
			s.model.Store(&served{predictor: p, name: fmt.Sprint(m), stamp: stampOf(info)})
			s.refused.Store(nil)
			return nil
		}
	}
	err = fmt.Errorf("%s: %w", s.path, err)
	s.refused.Store(&refusal{stampOf(info), err})
	return err
}

// predictorOf makes the form of a model that predicts one sample within microseconds.
func predictorOf(m mkl.Model) (predictor, error) {
	switch m := m.(type) {
	case *mkl.RegressionModel:
		return m.Predictor(mkl.PredictorOptions{})
	case interface {
		Predictor(mkl.PredictorOptions) (*mkl.Predictor, error)
	}: // Gaussian processes and their pools
		return m.Predictor(mkl.PredictorOptions{})
	}
	return nil, fmt.Errorf("this example serves regressions of one target, not %v", m)
}

// swap loads the file if it is another than the last one that was looked at.
func (s *server) swap() {
	info, err := os.Stat(s.path)
	if err != nil {
		return // between two files
	}
	now := stampOf(info)
	if r := s.refused.Load(); now == s.model.Load().stamp || r != nil && now == r.stamp {
		return
	}
	if err := s.load(); err != nil {
		log.Printf("the model of before stays: %v", err)
		return
	}
	log.Printf("now serving %s", s.model.Load().name)
}

// run serves until ctx ends, and then until the requests at work have been answered. At every tick it looks
// for a new file.
func (s *server) run(ctx context.Context, l net.Listener, h http.Handler, ticks <-chan time.Time) error {
	web := &http.Server{Handler: h, ReadHeaderTimeout: patience, ReadTimeout: 2 * patience, WriteTimeout: 2 * patience}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	for {
		select {
		case err := <-failed:
			return err
		case <-ticks:
			s.swap()
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			return web.Shutdown(last)
		}
	}
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /predict", s.predict)
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /latency", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.latency.summary()) })
	return mux
}

// predict answers {"x": [[…], …]}, a list for each of the model's inputs, by the mean and the standard
// deviation.
func (s *server) predict(w http.ResponseWriter, r *http.Request) {
	x, err := question(http.MaxBytesReader(w, r.Body, mostBytes))
	if err != nil {
		var tooLarge *http.MaxBytesError
		status := http.StatusBadRequest
		if errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		answer(w, status, failure{err.Error()})
		return
	}
	begin := time.Now()
	mean, variance, err := s.model.Load().Predict(x...)
	s.latency.add(time.Since(begin))
	if err != nil { // not as many numbers as the model takes, or one that is not finite
		answer(w, http.StatusUnprocessableEntity, failure{err.Error()})
		return
	}
	answer(w, http.StatusOK, map[string]float64{"mean": mean, "sd": math.Sqrt(variance)})
}

// question reads the body of a question. A null is no number, and nothing may follow.
func question(body io.Reader) (x [][]float64, err error) {
	var request struct {
		X [][]*float64 `json:"x"`
	}
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(&request); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		if err == nil {
			err = errors.New("something follows the question")
		}
		return nil, err
	}
	for i, input := range request.X {
		values := make([]float64, len(input))
		for j, v := range input {
			if v == nil {
				return nil, fmt.Errorf("x[%d][%d] is null", i, j)
			}
			values[j] = *v
		}
		x = append(x, values)
	}
	return x, nil
}

type failure struct {
	Error string `json:"error"`
}

// health says which model is served, and whether a newer file could not be.
func (s *server) health(w http.ResponseWriter, _ *http.Request) {
	m := s.model.Load()
	state := map[string]any{"model": m.name, "modified": m.stamp.modified}
	if r := s.refused.Load(); r != nil {
		state["refused"] = r.err.Error()
	}
	answer(w, http.StatusOK, state)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client is gone
}
