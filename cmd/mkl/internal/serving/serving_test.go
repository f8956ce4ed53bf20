package serving

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/record"
)

// notes are as mkl fit writes them: a number that is filled in by 2, a text, and a boolean that is required. Names are
// HTML, which pages have to escape.
const notes = `{"task":"regression","targets":["<b>price</b>"],"views":[{"name":"v","columns":["size","<i>city","garden"],"plan":[
	{"name":"size","type":"number","fill":2},
	{"name":"<i>city","type":"text","categories":["\"><script>","Ulm"],"fill":0},
	{"name":"garden","type":"boolean"}],"left":[{"column":"id","why":"counts the rows"}]}]}`

// fit writes a model file whose predictions grow with scale.
func fit(t *testing.T, path string, scale float64) {
	t.Helper()
	x, y := la.NewMatrix[float64](12, 4), make([]float64, 12)
	for i := range y {
		x.Set(i, 0, float64(i%5))
		x.Set(i, 1+i%2, 1)
		x.Set(i, 3, float64(i/3%2))
		y[i] = scale * (float64(i%5) + float64(2*(i%2)) + math.Sin(float64(i)))
	}
	m, err := mkl.MultiGP{Fitting: mkl.Fitting{Notes: map[string]string{"mkl-command": notes}}}.
		Fit(t.Context(), []mkl.View{{X: x, Kernel: kernel.RBF{Width: 3}}}, y)
	require.NoError(t, err)
	f, err := os.Create(path + ".new")
	require.NoError(t, err)
	require.NoError(t, m.Save(f))
	require.NoError(t, f.Close())
	require.NoError(t, os.Rename(path+".new", path))
}

// limits are generous.
var limits = Options{Interval: 0.95, MaxBytes: 1 << 20, MaxRecords: 100, Concurrent: 4, Wait: time.Minute, Timeout: time.Minute}

// served is a server of new models of the given names, the folder of their files, and what the server logs.
func served(t *testing.T, opt Options, names ...string) (s *Server, folder string, log *[]string) {
	t.Helper()
	folder, log = t.TempDir(), new([]string)
	var models []*Model
	for i, name := range names {
		path := filepath.Join(folder, name+".mkl")
		fit(t, path, float64(i+1))
		m, err := OpenModel(t.Context(), path, 0)
		require.NoError(t, err)
		models = append(models, m)
	}
	s, err := New(opt, models, func(format string, args ...any) { *log = append(*log, fmt.Sprintf(format, args...)) })
	require.NoError(t, err)
	return s, folder, log
}

// ask sends a request to a server.
func ask(t *testing.T, s *Server, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
	return w
}

// read reads an answer.
func read[T any](t *testing.T, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v), w.Body.String())
	return v
}

// opened opens a model file without the server.
func opened(t *testing.T, path string) *record.Predictor {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	p, err := record.Open(f)
	require.NoError(t, err)
	return p
}

// Answers have the bits of mkl/record, with null, absent and unknown values.
func TestPredict(t *testing.T) {
	s, folder, _ := served(t, limits, "houses")
	p := opened(t, filepath.Join(folder, "houses.mkl"))
	records := []map[string]any{
		{"size": 3.1, "<i>city": "Ulm", "garden": true},
		{"size": nil, "<i>city": "Rome", "garden": "no"},
		{"garden": 0, "id": 7},
	}
	want, err := p.PredictRows(t.Context(), records)
	require.NoError(t, err)
	for _, c := range []struct {
		query    string
		interval float64
	}{{"", 0.95}, {"?interval=0.5&model=houses", 0.5}} {
		body, err := json.Marshal(map[string]any{"records": records})
		require.NoError(t, err)
		w := ask(t, s, "POST", "/predict"+c.query, string(body))
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		got := read[Answer](t, w)
		require.Len(t, got.Predictions, len(records))
		assert.Nil(t, got.Prediction)
		assert.Equal(t, "houses", got.Model)
		assert.Equal(t, c.interval, got.Interval)
		for i, g := range got.Predictions {
			assert.Equal(t, predictionOf(want[i], c.interval, nil), g)
			lower, upper := want[i].Numbers[0].Interval(c.interval)
			assert.Equal(t, []float64{want[i].Numbers[0].Mean, want[i].Numbers[0].SD, lower, upper},
				[]float64{float64(g.Numbers[0].Mean), float64(g.Numbers[0].SD), float64(g.Numbers[0].Lower), float64(g.Numbers[0].Upper)})
			body, err := json.Marshal(records[i])
			require.NoError(t, err)
			single := read[Answer](t, ask(t, s, "POST", "/predict"+c.query, string(body)))
			assert.Equal(t, &got.Predictions[i], single.Prediction)
			assert.Empty(t, single.Predictions)
		}
		assert.Equal(t, []string{"size"}, got.Predictions[1].Missing)
		assert.Equal(t, []string{"<i>city"}, got.Predictions[1].Unknown)
	}
}

// With a tolerance records are predicted by a predictor, alone and in lists.
func TestPredictWithinTolerance(t *testing.T) {
	path := filepath.Join(t.TempDir(), "houses.mkl")
	fit(t, path, 1)
	m, err := OpenModel(t.Context(), path, 0.01)
	require.NoError(t, err)
	s, err := New(limits, []*Model{m}, t.Logf)
	require.NoError(t, err)
	one := map[string]any{"size": 3.1, "<i>city": "Ulm", "garden": true}
	p := opened(t, path)
	exact, err := p.PredictRows(t.Context(), []map[string]any{one})
	require.NoError(t, err)
	near, err := p.Within(0.01)
	require.NoError(t, err)
	want, err := near.Predict(t.Context(), one)
	require.NoError(t, err)
	single, err := json.Marshal(one)
	require.NoError(t, err)
	list, err := json.Marshal(map[string]any{"records": []map[string]any{one}})
	require.NoError(t, err)
	for _, body := range [][]byte{single, list} {
		got := read[Answer](t, ask(t, s, "POST", "/predict", string(body)))
		if got.Prediction == nil {
			got.Prediction = &got.Predictions[0]
		}
		assert.Equal(t, predictionOf(*want, 0.95, nil), *got.Prediction)
		assert.InDelta(t, exact[0].Numbers[0].Mean, float64(got.Prediction.Numbers[0].Mean), 0.01*exact[0].Numbers[0].SD)
	}
	_, err = OpenModel(t.Context(), path, math.Inf(1))
	assert.ErrorContains(t, err, "is not positive")
}

// A request can ask what each view adds. The answer has the bits of PredictRowViews.
func TestPredictViews(t *testing.T) {
	s, folder, _ := served(t, limits, "houses")
	p := opened(t, filepath.Join(folder, "houses.mkl"))
	one := map[string]any{"size": 3.1, "<i>city": "Ulm", "garden": true}
	parts, err := p.PredictRowViews(t.Context(), []map[string]any{one})
	require.NoError(t, err)
	body, err := json.Marshal(one)
	require.NoError(t, err)
	got := read[Answer](t, ask(t, s, "POST", "/predict?views=true", string(body))).Prediction
	assert.Equal(t, parts[0], got.Views)
	require.Len(t, got.Views, 1)
	assert.Equal(t, "<b>price</b>", got.Views[0].Of)
	assert.InDelta(t, float64(got.Numbers[0].Mean), got.Views[0].Constant+got.Views[0].Views[0].Mean, 1e-9)
	assert.Empty(t, read[Answer](t, ask(t, s, "POST", "/predict?views=false", string(body))).Prediction.Views)
	w := ask(t, s, "POST", "/predict?views=some", string(body))
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Contains(t, w.Body.String(), "neither true nor false")
}

// Mistakes have their status, and name the record and the column.
func TestFailures(t *testing.T) {
	opt := limits
	opt.MaxBytes, opt.MaxRecords = 200, 2
	one, _, _ := served(t, opt, "houses")
	two, _, _ := served(t, opt, "houses", "flats")
	seen := map[Code]bool{}
	for _, c := range []struct {
		server         *Server
		method, target string
		body           string
		status, record int
		column, says   string
	}{
		{one, "POST", "/predict", `{"size":1}`, 400, 1, "garden", "has no value"},
		{one, "POST", "/predict", `{"records":[{"garden":true},{"garden":null}]}`, 400, 2, "garden", "has no value"},
		{one, "POST", "/predict", `{"size":"x","garden":1}`, 400, 1, "size", ""},
		{one, "POST", "/predict", `{"size":1e999,"garden":1}`, 400, 1, "size", ""},
		{one, "POST", "/predict", `{"size":[1],"garden":1}`, 400, 1, "size", ""},
		{one, "POST", "/predict", `{"siz":1,"garden":1}`, 400, 1, "siz", "is no column"},
		{one, "POST", "/predict", `{"records":7,"garden":1}`, 400, 1, "records", "is no column"},
		{one, "POST", "/predict", `{"records":[]}`, 400, 0, "", "empty"},
		{one, "POST", "/predict", `{"records":[{"garden":1},3]}`, 400, 2, "", "no object"},
		{one, "POST", "/predict", `{"records":[{},{},{}]}`, 413, 0, "", "3 records"},
		{one, "POST", "/predict", `{"size":` + strings.Repeat(" ", 300) + `1}`, 413, 0, "", "200 bytes"},
		{one, "POST", "/predict", `{"garden":1}` + strings.Repeat(" ", 300), 413, 0, "", "200 bytes"},
		{one, "POST", "/predict", `{"garden":1}{}`, 400, 0, "", "follows"},
		{one, "POST", "/predict", `[1]`, 400, 0, "", "a list of records"},
		{one, "POST", "/predict", `"size"`, 400, 0, "", "an object was expected"},
		{one, "POST", "/predict", `null`, 400, 0, "", "null"},
		{one, "POST", "/predict", ``, 400, 0, "", "no JSON object"},
		{one, "POST", "/predict?interval=1", `{}`, 400, 0, "", "interval"},
		{one, "POST", "/predict?interval=NaN", `{}`, 400, 0, "", "interval"},
		{one, "POST", "/predict?model=none", `{}`, 404, 0, "", `"none"`},
		{two, "POST", "/predict", `{"garden":1}`, 400, 0, "", "?model=NAME"},
		{two, "POST", "/nowhere", ``, 404, 0, "", "/nowhere"},
	} {
		w := ask(t, c.server, c.method, c.target, c.body)
		assert.Equal(t, c.status, w.Code, "%s %s", c.target, c.body)
		got := read[Failure](t, w)
		assert.Equal(t, c.status, got.Code.Status(), got.Code)
		assert.Equal(t, c.column != "", got.Code == CodeValue)
		seen[got.Code] = true
		assert.Equal(t, c.record, got.Record, c.body)
		assert.Equal(t, c.column, got.Column, c.body)
		assert.NotEmpty(t, got.Message)
		assert.Contains(t, got.Message, c.says)
	}
	assert.Equal(t, map[Code]bool{CodeBody: true, CodeValue: true, CodeParameter: true, CodeNotFound: true, CodeTooLarge: true}, seen)
	a := read[Answer](t, ask(t, two, "POST", "/predict?model=houses", `{"garden":1}`))
	b := read[Answer](t, ask(t, two, "POST", "/predict?model=flats", `{"garden":1}`))
	assert.NotEqual(t, a.Prediction.Numbers, b.Prediction.Numbers)
	_, err := New(limits, []*Model{one.models[0], two.models[0]}, nil)
	assert.ErrorContains(t, err, "same name")
}

// Where all predictions are taken, or one takes too long, the status is 503.
func TestBusy(t *testing.T) {
	opt := limits
	opt.Concurrent, opt.Wait = 1, 0
	s, _, _ := served(t, opt, "houses")
	require.Equal(t, http.StatusOK, ask(t, s, "POST", "/predict", `{"garden":1}`).Code, "the place is free")
	s.busy <- struct{}{}
	w := ask(t, s, "POST", "/predict", `{"garden":1}`)
	assert.Equal(t, http.StatusServiceUnavailable, w.Code)
	assert.Equal(t, "1", w.Header().Get("Retry-After"))
	assert.Equal(t, CodeBusy, read[Failure](t, w).Code)
	<-s.busy
	require.Equal(t, http.StatusOK, ask(t, s, "POST", "/predict", `{"garden":1}`).Code)
	s.opt.Timeout = -1
	w = ask(t, s, "POST", "/predict", `{"garden":1}`)
	assert.Equal(t, http.StatusServiceUnavailable, w.Code, w.Body.String())
	assert.Equal(t, CodeTimeout, read[Failure](t, w).Code)
	assert.Empty(t, s.busy, "the place is free again")
}

// While files are swapped, each answer is of one of the two models, and none fails.
func TestConcurrentSwap(t *testing.T) {
	s, folder, _ := served(t, limits, "houses", "other")
	path, other := filepath.Join(folder, "houses.mkl"), filepath.Join(folder, "other.mkl")
	files := [2][]byte{}
	want := map[string]bool{}
	for i, p := range []string{path, other} {
		var err error
		files[i], err = os.ReadFile(p)
		require.NoError(t, err)
		got, err := opened(t, p).Predict(t.Context(), map[string]any{"garden": 1})
		require.NoError(t, err)
		want[fmt.Sprint(got.Numbers[0].Mean, got.Numbers[0].SD)] = true
	}
	require.Len(t, want, 2)
	done := make(chan struct{})
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				w := ask(t, s, "POST", "/predict?model=houses", `{"garden":1}`)
				var got Answer
				if assert.Equal(t, http.StatusOK, w.Code) && assert.NoError(t, json.Unmarshal(w.Body.Bytes(), &got)) {
					n := got.Prediction.Numbers[0]
					assert.True(t, want[fmt.Sprint(float64(n.Mean), float64(n.SD))])
				}
			}
		})
	}
	for i := range 10 {
		require.NoError(t, os.WriteFile(path+".new", files[(i+1)%2], 0o600))
		require.NoError(t, os.Rename(path+".new", path))
		s.Reload(t.Context())
		w := ask(t, s, "POST", "/predict?model=houses", `{"garden":1}`)
		n := read[Answer](t, w).Prediction.Numbers[0]
		got, err := opened(t, path).Predict(t.Context(), map[string]any{"garden": 1})
		require.NoError(t, err)
		assert.Equal(t, got.Numbers[0].Mean, float64(n.Mean), "the new model answers at once")
	}
	close(done)
	clients.Wait()
}

// A broken, absent or unfit file leaves the old model, is looked at once, and is seen in health, the list and metrics.
func TestBrokenReload(t *testing.T) {
	s, folder, log := served(t, limits, "houses")
	path := filepath.Join(folder, "houses.mkl")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	before := ask(t, s, "POST", "/predict", `{"garden":1}`).Body.String()
	s.Poll(t.Context())
	assert.Empty(t, *log, "nothing changed")
	replace := func(content []byte) {
		require.NoError(t, os.WriteFile(path+".new", content, 0o600))
		require.NoError(t, os.Rename(path+".new", path))
	}
	for i, broken := range []func(){
		func() { replace(good[:len(good)/2]) },
		func() { replace([]byte("no model")) },
		func() { require.NoError(t, os.Remove(path)) },
	} {
		broken()
		s.Poll(t.Context())
		s.Poll(t.Context())
		require.Len(t, *log, i+1)
		assert.Contains(t, (*log)[i], "the old model stays")
		assert.Equal(t, before, ask(t, s, "POST", "/predict", `{"garden":1}`).Body.String())
		assert.JSONEq(t, `{"status":"ok","models":1,"refused":["houses"]}`, ask(t, s, "GET", "/healthz", "").Body.String())
		assert.Contains(t, ask(t, s, "GET", "/models", "").Body.String(), `"refused":`)
	}
	fit(t, path, 2)
	s.Poll(t.Context())
	require.Len(t, *log, 4)
	assert.Contains(t, (*log)[3], "a new model is served")
	assert.NotEqual(t, before, ask(t, s, "POST", "/predict", `{"garden":1}`).Body.String())
	assert.JSONEq(t, `{"status":"ok","models":1,"refused":[]}`, ask(t, s, "GET", "/healthz", "").Body.String())
	text := ask(t, s, "GET", "/metrics", "").Body.String()
	assert.Contains(t, text, "mkl_loads_total{model=\"houses\",result=\"loaded\"} 2\nmkl_loads_total{model=\"houses\",result=\"refused\"} 3\n")
}

func TestMetrics(t *testing.T) {
	s, _, _ := served(t, limits, `a"b`)
	ask(t, s, "POST", "/predict", `{"records":[{"garden":1},{"garden":0}]}`)
	ask(t, s, "POST", "/predict", `{}`)
	ask(t, s, "POST", "/predict?model=x1", `{}`)
	ask(t, s, "POST", "/predict?model=x2", `{}`)
	w := ask(t, s, "GET", "/metrics", "")
	assert.Equal(t, "text/plain; version=0.0.4; charset=utf-8", w.Header().Get("Content-Type"))
	text := w.Body.String()
	for _, line := range []string{
		`mkl_requests_total{model=""} 2`, `mkl_requests_total{model="a\"b"} 2`,
		`mkl_errors_total{model="",status="404"} 2`, `mkl_errors_total{model="a\"b",status="400"} 1`,
		`mkl_records_total{model="a\"b"} 2`, `mkl_request_seconds_bucket{model="a\"b",le="+Inf"} 2`, `mkl_request_seconds_count{model="a\"b"} 2`,
		`# TYPE mkl_request_seconds histogram`,
	} {
		assert.Contains(t, text, line+"\n")
	}
	assert.NotContains(t, text, "x1", "clients make no series")
	assert.Regexp(t, `(?m)^go_goroutines [1-9]\d*$`, text)
	assert.Regexp(t, `(?m)^go_memstats_heap_alloc_bytes [1-9]\d*$`, text)
	var m metrics
	m.request("m", 200, 1, 3*time.Millisecond)
	m.request("m", 200, 1, 5*time.Millisecond)
	m.request("m", 200, 1, time.Hour)
	var b strings.Builder
	m.write(&b)
	for _, line := range []string{`le="0.0025"} 0`, `le="0.005"} 2`, `le="30"} 2`, `le="+Inf"} 3`} {
		assert.Contains(t, b.String(), line+"\n")
	}
}

// The page shows the form and the prediction; no name or value becomes HTML.
func TestPage(t *testing.T) {
	s, folder, _ := served(t, limits, "houses")
	w := ask(t, s, "GET", "/", "")
	require.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
	want, err := opened(t, filepath.Join(folder, "houses.mkl")).Predict(t.Context(), map[string]any{"size": "4", "<i>city": `"><script>`, "garden": "yes"})
	require.NoError(t, err)
	post := func(fields url.Values, site string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(fields.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w
	}
	full := url.Values{"column.size": {"4"}, "column.<i>city": {`"><script>`}, "column.garden": {"yes"}}
	predicted := post(full, "same-origin")
	require.Equal(t, http.StatusOK, predicted.Code)
	text := predicted.Body.String()
	assert.Contains(t, text, fmt.Sprintf("%.4g</h3>", want.Numbers[0].Mean))
	assert.Contains(t, text, "<svg")
	assert.Contains(t, text, `<option selected>yes</option>`)
	full.Set("column.size", "<script>")
	wrong := post(full, "same-origin")
	assert.Equal(t, http.StatusBadRequest, wrong.Code)
	assert.Contains(t, wrong.Body.String(), `role="alert"`)
	for _, w := range []*httptest.ResponseRecorder{w, predicted, wrong} {
		text := w.Body.String()
		for _, bad := range []string{"<script", "<i>", "<b>", "http://", "https://"} {
			assert.NotContains(t, text, bad)
		}
		assert.NotContains(t, text, "ZgotmplZ")
	}
	assert.Equal(t, http.StatusForbidden, post(full, "cross-site").Code)
	assert.Equal(t, http.StatusNotFound, ask(t, s, "GET", "/?model=%3Cscript%3E", "").Code)
}

func TestOpenAPI(t *testing.T) {
	s, _, _ := served(t, limits, "houses", "flats")
	got := read[struct {
		OpenAPI string
		Paths   map[string]struct {
			Post struct {
				Parameters  []struct{ Schema struct{ Enum []string } }
				RequestBody struct {
					Content map[string]struct {
						Schema struct {
							AnyOf []struct {
								AnyOf []struct {
									Title      string
									Properties map[string]any
									Required   []string
								}
							}
						}
					}
				}
			}
		}
	}](t, ask(t, s, "GET", "/openapi.json", ""))
	assert.Equal(t, "3.1.0", got.OpenAPI)
	assert.Len(t, got.Paths, 4)
	post := got.Paths["/predict"].Post
	assert.Equal(t, []string{"houses", "flats"}, post.Parameters[0].Schema.Enum)
	one := post.RequestBody.Content["application/json"].Schema.AnyOf[0].AnyOf
	require.Len(t, one, 2)
	assert.Equal(t, "flats", one[1].Title)
	assert.Len(t, one[1].Properties, 3)
	assert.Equal(t, []string{"garden"}, one[1].Required)
}

// When the service ends, a request that has begun gets its answer.
func TestRun(t *testing.T) {
	s, _, log := served(t, limits, "houses")
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended, ticks, reload := make(chan error, 1), make(chan time.Time), make(chan os.Signal)
	go func() { ended <- s.Run(ctx, l, ticks, reload, time.Minute) }()
	reload <- os.Interrupt
	ticks <- time.Time{} // is received after the reload
	assert.Len(t, *log, 1)

	body, write := io.Pipe()
	begun := make(chan struct{})
	trace := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	r, err := http.NewRequestWithContext(trace, http.MethodPost, "http://"+l.Addr().String()+"/predict", body)
	require.NoError(t, err)
	r.Header.Set("Expect", "100-continue")
	go func() {
		<-begun // the handler reads the body
		cancel()
		for { // until nobody listens any more
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
			if err != nil {
				break
			}
			c.Close()
		}
		_, _ = io.WriteString(write, `{"garden":1}`)
		write.Close()
	}()
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	w, err := client.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	assert.Equal(t, http.StatusOK, w.StatusCode)
	var got Answer
	require.NoError(t, json.NewDecoder(w.Body).Decode(&got))
	assert.Len(t, got.Prediction.Numbers, 1)
	client.CloseIdleConnections()
	assert.NoError(t, <-ended)
}
