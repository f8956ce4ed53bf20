// Package serving answers requests for predictions over HTTP with models that mkl fit wrote. docs/guide/serve.md
// describes the service.
package serving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/record"
)

// Options are the limits of a service.
type Options struct {
	Interval   float64       // probability of intervals, where a request asks for no other
	MaxBytes   int64         // of the body of a request
	MaxRecords int           // of a request
	Concurrent int           // predictions at a time
	Wait       time.Duration // for other predictions, before a request is refused
	Timeout    time.Duration // of the prediction of a request
}

// Server answers requests. It can be used by several goroutines.
type Server struct {
	opt     Options
	models  []*Model
	busy    chan struct{}
	metrics metrics
	log     func(format string, args ...any)
}

// New returns a server of models, at least one. It returns an error if two models have the same name. log writes a
// line about a model file that was loaded or refused.
func New(opt Options, models []*Model, log func(format string, args ...any)) (*Server, error) {
	s := &Server{opt: opt, models: models, busy: make(chan struct{}, opt.Concurrent), log: log}
	for i, m := range models {
		if j := slices.IndexFunc(models[:i], func(o *Model) bool { return o.name == m.name }); j >= 0 {
			return nil, fmt.Errorf("%s and %s have the same name %q: rename a file", models[j].path, m.path, m.name)
		}
		s.metrics.load(m.name, nil)
	}
	return s, nil
}

// Run serves until ctx ends, and then until the requests that are being answered have their answers, at most
// patience. Each tick looks for model files that changed. Each value of reload loads all model files again.
func (s *Server) Run(ctx context.Context, l net.Listener, ticks <-chan time.Time, reload <-chan os.Signal, patience time.Duration) error {
	web := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 40*time.Second + s.opt.Wait + s.opt.Timeout, // it begins with the header's end
		IdleTimeout:  2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }()
	for {
		select {
		case err := <-failed:
			return err
		case <-ticks:
			s.Poll(ctx)
		case <-reload:
			s.Reload(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			if err := web.Shutdown(last); err != nil {
				return errors.Join(fmt.Errorf("requests were cut off: %w", err), web.Close())
			}
			return nil
		}
	}
}

// Reload loads all model files again.
func (s *Server) Reload(ctx context.Context) {
	for _, m := range s.models {
		remark, err := m.Reload(ctx)
		s.loaded(m, remark, err)
	}
}

// Poll loads the model files that changed.
func (s *Server) Poll(ctx context.Context) {
	for _, m := range s.models {
		if tried, remark, err := m.Poll(ctx); tried {
			s.loaded(m, remark, err)
		}
	}
}

// loaded counts an attempt to load a model, and writes a line.
func (s *Server) loaded(m *Model, remark string, err error) {
	s.metrics.load(m.name, err)
	switch {
	case err != nil:
		s.log("%s: the old model stays: %v", m.name, err)
	case remark != "":
		s.log("%s: a new model is served; clients may have to change: %s differ", m.name, remark)
	default:
		s.log("%s: a new model is served", m.name)
	}
}

// Handler answers the requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /predict", s.predict)
	mux.HandleFunc("GET /models", s.list)
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, s.openAPI()) })
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.metrics.write(w)
		runtimeGauges(w)
	})
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("POST /{$}", s.page)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusNotFound, &Failure{Code: CodeNotFound, Message: fmt.Sprintf("there is no %s %s", r.Method, r.URL.Path)})
	})
	// Other sites' pages must not make a visitor's browser use the service.
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusForbidden, &Failure{Code: CodeForbidden, Message: "the request comes from the page of another site"})
	}))
	inner := own.Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		inner.ServeHTTP(w, r)
	})
}

// predict answers POST /predict.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	out, model, records, err := s.answerTo(w, r)
	status := http.StatusOK
	if err != nil {
		status = err.Code.Status()
		answer(w, status, err)
	} else {
		answer(w, status, out)
	}
	s.metrics.request(model, status, records, time.Since(begin))
}

// answerTo predicts the records of a request.
func (s *Server) answerTo(w http.ResponseWriter, r *http.Request) (out *Answer, model string, n int, failed *Failure) {
	m, failed := s.model(r)
	if failed != nil {
		return nil, "", 0, failed
	}
	interval, failed := s.interval(r)
	if failed != nil {
		return nil, m.name, 0, failed
	}
	records, single, failed := s.records(http.MaxBytesReader(w, r.Body, s.opt.MaxBytes))
	if failed != nil {
		return nil, m.name, 0, failed
	}
	views, failed := s.views(r)
	if failed != nil {
		return nil, m.name, 0, failed
	}
	version := m.now.Load()
	times, failed := version.times(r)
	if failed != nil {
		return nil, m.name, 0, failed
	}
	got, failed := s.run(r.Context(), version, records, asked{interval, times, views})
	if failed != nil {
		return nil, m.name, 0, failed
	}
	out = &Answer{Model: m.name, Predictions: got}
	if single {
		out.Prediction, out.Predictions = &got[0], nil
	}
	if len(got[0].Numbers)+len(got[0].Times) > 0 {
		out.Interval = interval
	}
	return out, m.name, len(records), nil
}

// model finds the model that a request names.
func (s *Server) model(r *http.Request) (*Model, *Failure) {
	query := r.URL.Query()
	name := query.Get("model")
	if !query.Has("model") {
		if len(s.models) == 1 {
			return s.models[0], nil
		}
		return nil, &Failure{Code: CodeParameter, Message: "several models are served: add ?model=NAME; GET /models lists the names"}
	}
	for _, m := range s.models {
		if m.name == name {
			return m, nil
		}
	}
	return nil, &Failure{Code: CodeNotFound, Message: fmt.Sprintf("no model %q is served; GET /models lists the names", name)}
}

// interval is the probability of intervals that a request asks for.
func (s *Server) interval(r *http.Request) (float64, *Failure) {
	text := r.URL.Query().Get("interval")
	if text == "" {
		return s.opt.Interval, nil
	}
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p > 0 && p < 1) {
		return 0, &Failure{Code: CodeParameter, Message: fmt.Sprintf("interval %q is no probability between 0 and 1", text)}
	}
	return p, nil
}

// asked is what a request asks for, beside the records.
type asked struct {
	interval float64
	times    []float64 // of a model of times: see [After]
	views    bool      // what each view adds
}

// times are the times at which a request asks for probabilities.
func (v *version) times(r *http.Request) (times []float64, failed *Failure) {
	text := r.URL.Query().Get("times")
	if text == "" {
		return nil, nil
	}
	if _, ok := v.predictor.Model().(*mkl.SurvivalModel); !ok {
		return nil, &Failure{Code: CodeUnsupported, Message: "times are for models of times until an event, and this is one of " + v.predictor.Task()}
	}
	for part := range strings.SplitSeq(text, ",") {
		t, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(t > 0 && t <= math.MaxFloat64) {
			return nil, &Failure{Code: CodeParameter, Message: fmt.Sprintf("times: %q is no positive number; ?times=90,365 has commas between times", part)}
		}
		times = append(times, t)
	}
	return times, nil
}

// views is whether a request asks for what each view adds.
func (s *Server) views(r *http.Request) (bool, *Failure) {
	text := r.URL.Query().Get("views")
	if text == "" {
		return false, nil
	}
	views, err := strconv.ParseBool(text)
	if err != nil {
		return false, &Failure{Code: CodeParameter, Message: fmt.Sprintf("views %q is neither true nor false", text)}
	}
	return views, nil
}

// records reads one record, or an object whose only name is records, with a list.
func (s *Server) records(body io.Reader) (all []map[string]any, single bool, failed *Failure) {
	d := json.NewDecoder(body)
	d.UseNumber()
	var one map[string]any
	err := d.Decode(&one)
	if err == nil {
		if _, after := d.Token(); after != io.EOF {
			err = errors.New("something follows the object")
			if tooLarge(after) {
				err = after
			}
		}
	}
	switch {
	case tooLarge(err):
		return nil, false, &Failure{Code: CodeTooLarge, Message: fmt.Sprintf("the body is larger than %d bytes", s.opt.MaxBytes)}
	case errors.As(err, new(*json.UnmarshalTypeError)):
		return nil, false, &Failure{Code: CodeBody, Message: "the body is a list or a single value where an object was expected: " +
			`{"column": value} is a record, {"records": […]} a list of records`}
	case err != nil:
		return nil, false, &Failure{Code: CodeBody, Message: "the body is no JSON object: " + err.Error()}
	case one == nil:
		return nil, false, &Failure{Code: CodeBody, Message: "the body is null where a record was expected"}
	}
	list, ok := one["records"].([]any)
	if !ok || len(one) != 1 {
		return []map[string]any{one}, true, nil
	}
	switch {
	case len(list) == 0:
		return nil, false, &Failure{Code: CodeBody, Message: "the list of records is empty"}
	case len(list) > s.opt.MaxRecords:
		return nil, false, &Failure{Code: CodeTooLarge,
			Message: fmt.Sprintf("%d records; a request may have %d", len(list), s.opt.MaxRecords)}
	}
	for i, v := range list {
		record, ok := v.(map[string]any)
		if !ok {
			return nil, false, &Failure{Code: CodeBody, Record: i + 1, Message: fmt.Sprintf("record %d is no object", i+1)}
		}
		all = append(all, record)
	}
	return all, false, nil
}

func tooLarge(err error) bool {
	var large *http.MaxBytesError
	return errors.As(err, &large)
}

// run predicts records, when fewer than the allowed number of predictions run.
func (s *Server) run(ctx context.Context, v *version, records []map[string]any, a asked) ([]Prediction, *Failure) {
	if failed := s.enter(ctx); failed != nil {
		return nil, failed
	}
	defer func() { <-s.busy }()
	ctx, cancel := context.WithTimeout(ctx, s.opt.Timeout)
	defer cancel()
	got, err := v.predictor.PredictRows(ctx, records)
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	out := make([]Prediction, len(got))
	for i, p := range got {
		out[i] = predictionOf(p, a.interval, a.times)
	}
	if a.views {
		parts, err := v.predictor.PredictRowViews(ctx, records)
		if err != nil {
			return nil, s.failure(ctx, err)
		}
		for i := range out {
			out[i].Views = parts[i]
		}
	}
	return out, nil
}

// enter waits until fewer than the allowed number of predictions run.
func (s *Server) enter(ctx context.Context) *Failure {
	select {
	case s.busy <- struct{}{}: // also where the wait is 0
		return nil
	default:
	}
	wait := time.NewTimer(s.opt.Wait)
	defer wait.Stop()
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-wait.C:
		return &Failure{Code: CodeBusy, Message: fmt.Sprintf("%d predictions are running; try again", cap(s.busy))}
	case <-ctx.Done():
		return &Failure{Code: CodeTimeout, Message: "the request was cancelled"}
	}
}

// failure is the answer to an error of a prediction.
func (s *Server) failure(ctx context.Context, err error) *Failure {
	var value *record.ValueError
	switch {
	case errors.Is(err, mkl.ErrNoViews):
		return &Failure{Code: CodeUnsupported, Message: err.Error()}
	case errors.As(err, &value):
		return &Failure{Code: CodeValue, Message: err.Error(), Record: value.Record + 1, Column: value.Column}
	case ctx.Err() != nil:
		return &Failure{Code: CodeTimeout, Message: fmt.Sprintf("the prediction did not end within %v", s.opt.Timeout)}
	}
	return &Failure{Code: CodeInternal, Message: err.Error()}
}

// described is a model in the answer to GET /models.
type described struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind"`
	Task     string          `json:"task"`
	Targets  []string        `json:"targets"`
	Columns  []record.Column `json:"columns"`
	Loaded   time.Time       `json:"loaded"`
	Modified time.Time       `json:"modified"` // of the file
	Bytes    int64           `json:"bytes"`    // of the file
	Refused  string          `json:"refused,omitempty"`
}

// list answers GET /models.
func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	all := make([]described, len(s.models))
	for i, m := range s.models {
		v := m.now.Load()
		all[i] = described{
			Name: m.name, Kind: string(v.predictor.Model().Kind()), Task: v.predictor.Task(), Targets: v.predictor.Targets(), Columns: v.columns,
			Loaded: v.loaded.UTC(), Modified: v.file.ModTime().UTC(), Bytes: v.file.Size(),
		}
		if why := m.refused.Load(); why != nil {
			all[i].Refused = *why
		}
	}
	answer(w, http.StatusOK, map[string]any{"models": all})
}

// health answers GET /healthz. A refused file is no reason to end the service: the old model answers.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	refused := []string{}
	for _, m := range s.models {
		if m.refused.Load() != nil {
			refused = append(refused, m.name)
		}
	}
	answer(w, http.StatusOK, map[string]any{"status": "ok", "models": len(s.models), "refused": refused})
}
