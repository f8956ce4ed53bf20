//go:build !lean

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/serving"
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
	address, end := startService(t, "price.mkl species.mkl labels.mkl")
	for name, table := range map[string]string{"price": houses(), "species": flowers(), "labels": flowers()} {
		all := records(t, table)
		body, err := json.Marshal(map[string]any{"records": all})
		require.NoError(t, err)
		var got struct {
			Model       string
			Predictions []record.Prediction
		}
		status, answer := request(t, http.MethodPost, address+"/predict?model="+name, string(body))
		require.Equal(t, http.StatusOK, status, answer)
		require.NoError(t, json.Unmarshal([]byte(answer), &got))
		want, err := openRecord(t, name+".mkl").PredictRows(t.Context(), all)
		require.NoError(t, err)
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var sent []record.Prediction
		require.NoError(t, json.Unmarshal(text, &sent))
		assert.Equal(t, name, got.Model)
		assert.Equal(t, sent, got.Predictions)
	}
	end()
}

// startService runs mkl serve with arguments, and returns its address. end interrupts it, and asserts that it ends without an error.
func startService(t *testing.T, args string) (address string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	said, stderr := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- program().Run(ctx, append(strings.Fields("serve -listen 127.0.0.1:0"), strings.Fields(args)...), strings.NewReader(""), io.Discard, stderr)
		stderr.Close()
	}()
	lines := bufio.NewScanner(said)
	require.True(t, lines.Scan())
	before, address, ok := strings.Cut(lines.Text(), " on http://")
	require.True(t, ok, lines.Text())
	assert.Contains(t, before, "serving ")
	go func() { _, _ = io.Copy(io.Discard, said) }()
	return "http://" + address, func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		assert.Equal(t, console.StatusOK, <-ended)
	}
}

// request sends a request, and returns the status and the body of the answer.
func request(t *testing.T, method, address, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	w, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	return w.StatusCode, string(text)
}

// kindsTable has a target of every kind: numbers, classes, labels, counts with exposures, grades and censored times.
func kindsTable() string {
	var b strings.Builder
	b.WriteString("a,b,city,y,z,known,class,big,odd,faults,days,grade,time,died\n")
	for i := range 48 {
		a, c := float64(i%7)-3, float64(i*i%11)/5
		y := math.Sin(a) + c/2
		days := 1 + float64(i%5)/2
		fmt.Fprintf(&b, "%g,%g,%s,%.4g,%.4g,%g,%s,%d,%d,%d,%g,%d,%.4g,%d\n", a, c, []string{"Ulm", "Bonn", "Köln"}[i%3], y, a-c, float64(i%4)/2,
			[]string{"red", "green", "blue"}[(i%7+i%3)%3], i%7/4, i%2, int(days*math.Exp(y))+i%3, days, min(2, int(y+1.5)), math.Exp(y/2+float64(i%5)/9), min(1, i%4))
	}
	return b.String()
}

// TestServeEqualsPredict compares, for every kind of model of samples, the answers of the service with what mkl predict writes, in every digit and
// by the names of the columns.
func TestServeEqualsPredict(t *testing.T) {
	const views = " -view a=a:rbf -view b=b:rbf -view city=city:linear"
	kinds := []struct{ name, fit, predict, query string }{
		{"counts", "-target faults -task counts" + views, "", ""},
		{"exposed", "-target faults -exposure days" + views, "-interval 0.8", "&interval=0.8"},
		{"poisson", "-target faults -exposure days -law poisson" + views, "", ""},
		{"narrow", "-target faults -task counts -law double-poisson" + views, "-interval 0.8", "&interval=0.8"},
		{"countviews", "-target faults -task counts -view a=a -view b=b,city", "", ""},
		{"grades", "-target grade -task ordinal" + views, "", ""},
		{"gradeviews", "-target grade -task ordinal -view a=a -view b=b,city", "", ""},
		{"timeviews", "-target time -event died -view a=a -view b=b,city", "-times 0.5,2", "&times=0.5,2"},
		{"times", "-target time -event died" + views, "-times 0.5,2,1e9,1e-9 -interval 0.5", "&times=0.5,2,1e9,1e-9&interval=0.5"},
		{"pool", "-target y" + views, "", ""},
		{"pools", "-target y,z" + views, "", ""},
		{"classes", "-target class" + views, "", ""},
		{"classweights", "-target class -model bmkl" + views, "", ""},
		{"classprocesses", "-target class -model mgp" + views, "", ""},
		{"probit", "-target class -model probit" + views, "", ""},
		{"labels", "-target big,odd -task multilabel" + views, "", ""},
		{"offsets", "-target y -offset known" + views, "", ""},
		{"process", "-target y -model mgp -offset known" + views, "", ""},
		{"regression", "-target y -model bmkl" + views, "", ""},
		{"outputs", "-target y,z -task multioutput" + views, "", ""},
		{"shared", "-target y,z -task shared" + views, "", ""},
		{"tasks", "-target y,z -task tasks" + views, "", ""},
		{"tasklabels", "-target big,odd -task tasklabels" + views, "", ""},
		{"multitask", "-target y,z -task multitask -view a,b:rbf(width=1)", "", ""},
		{"landmarks", "-target y -model landmarks -landmarks 20 -view a,b,city", "", ""},
		{"landmarkclasses", "-target class -model landmarks -landmarks 20 -view a,b,city", "", ""},
		{"sparse", "-target y -model spikeslab -view a,b,city", "", ""},
		{"strings", "-target y -view a=a:rbf -view name=city:spectrum(k=2,alphabet=bytes)", "", ""},
	}
	files, served := map[string]string{"d.csv": kindsTable()}, ""
	for _, k := range kinds {
		status, _, stderr := command(t, files, "", append(strings.Fields("fit d.csv -sweeps 20 -o "+k.name+".mkl"), strings.Fields(k.fit)...)...)
		require.Equal(t, console.StatusOK, status, "%s: %s", k.name, stderr)
		files, served = nil, served+" "+k.name+".mkl"
	}
	address, end := startService(t, served)
	rows := records(t, kindsTable())
	for _, k := range kinds {
		status, stdout, stderr := command(t, nil, "", append(strings.Fields("predict "+k.name+".mkl d.csv"), strings.Fields(k.predict)...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		want := records(t, stdout)
		require.Len(t, want, len(rows))
		body, err := json.Marshal(map[string]any{"records": rows})
		require.NoError(t, err)
		code, text := request(t, http.MethodPost, address+"/predict?model="+k.name+k.query, string(body))
		require.Equal(t, http.StatusOK, code, "%s: %s", k.name, text)
		var got serving.Answer
		require.NoError(t, json.Unmarshal([]byte(text), &got))
		require.Len(t, got.Predictions, len(rows))
		if got.Predictions[0].Numbers != nil {
			status, stdout, stderr := command(t, nil, "", "predict", k.name+".mkl", "d.csv", "-mean")
			require.Equal(t, console.StatusOK, status, "%s: %s", k.name, stderr)
			for i, one := range records(t, stdout) {
				require.Len(t, one, len(got.Predictions[i].Numbers), k.name)
				for name, mean := range one {
					assert.Equal(t, want[i][name], mean, "%s: -mean: row %d", k.name, i+1)
				}
			}
		}
		for i, p := range got.Predictions {
			require.Equal(t, want[i], cellsOf(p), "%s: row %d", k.name, i+1)
		}
		one, err := json.Marshal(rows[5])
		require.NoError(t, err)
		code, text = request(t, http.MethodPost, address+"/predict?model="+k.name+k.query, string(one))
		require.Equal(t, http.StatusOK, code, text)
		var single serving.Answer
		require.NoError(t, json.Unmarshal([]byte(text), &single))
		assert.Equal(t, got.Predictions[5], *single.Prediction, "%s: one record alone", k.name)
		code, text = request(t, http.MethodGet, address+"/?model="+k.name, "")
		assert.Equal(t, http.StatusOK, code, text)
	}
	for _, c := range []struct{ query, body, says string }{
		{"model=exposed", `{"records":[{"a":1,"b":1,"city":"Ulm","days":2},{"a":1,"b":1,"city":"Ulm"}]}`,
			`{"code":"value","error":"record 2: \"days\" has no value, and a prediction needs the exposure","record":2,"column":"days"}`},
		{"model=exposed", `{"a":1,"b":1,"city":"Ulm","days":0}`,
			`{"code":"value","error":"record 1: \"days\" is an exposure, and 0 is not from 1e-100 to 1e+100","record":1,"column":"days"}`},
		{"model=exposed", `{"a":1,"b":1,"city":"Ulm","days":"long"}`,
			`{"code":"value","error":"record 1: \"days\" is a number, and \"long\" is none","record":1,"column":"days"}`},
		{"model=offsets", `{"a":1,"b":1,"city":"Ulm","known":null}`,
			`{"code":"value","error":"record 1: \"known\" has no value, and a prediction needs the offset","record":1,"column":"known"}`},
		{"model=offsets", `{"a":1,"b":1,"city":"Ulm","known":"inf"}`, `{"code":"value","error":"record 1: \"known\" is a number, and \"inf\" is none","record":1,"column":"known"}`},
		{"model=times&times=1,-2", `{"a":1,"b":1,"city":"Ulm"}`,
			`{"code":"parameter","error":"times: \"-2\" is no positive number; ?times=90,365 has commas between times"}`},
		{"model=counts&times=1", `{"a":1,"b":1,"city":"Ulm"}`,
			`{"code":"unsupported","error":"times are for models of times until an event, and this is one of counts"}`},
	} {
		code, text := request(t, http.MethodPost, address+"/predict?"+c.query, c.body)
		assert.Equal(t, http.StatusBadRequest, code)
		assert.JSONEq(t, c.says, text)
	}
	for name, says := range map[string][]string{
		"times": {"median of time: ", "95.00 % interval: ", "Risk: ", "<svg"}, "exposed": {"faults: ", "Standard deviation: ", "days<small>number, exposure, required"},
		"grades": {"The median grade is ", "<th>grade</th>"},
	} {
		form := url.Values{"column.a": {"1"}, "column.b": {"2"}, "column.city": {"Ulm"}, "column.days": {"2"}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/?model="+name, strings.NewReader(form.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		page, err := io.ReadAll(w.Body)
		w.Body.Close()
		require.NoError(t, err)
		for _, part := range says {
			assert.True(t, strings.Contains(string(page), part), "%s: %s", name, part)
		}
		assert.NotContains(t, string(page), "ZgotmplZ")
	}
	_, text := request(t, http.MethodGet, address+"/models", "")
	assert.Contains(t, text, `{"name":"days","type":"number","views":[],"role":"exposure","required":true}`)
	assert.Contains(t, text, `{"name":"known","type":"number","views":[],"role":"offset","required":true}`)
	_, text = request(t, http.MethodGet, address+"/metrics", "")
	assert.True(t, strings.Contains(text, fmt.Sprintf("mkl_records_total{model=\"times\"} %d\n", len(rows)+2)), "the list, one record, and the page")
	_, text = request(t, http.MethodGet, address+"/openapi.json", "")
	assert.Contains(t, text, "exposure, a positive number")
	_, text = request(t, http.MethodGet, address+"/healthz", "")
	assert.Contains(t, text, `"refused":[]`)
	end()

	address, end = startService(t, "counts.mkl times.mkl grades.mkl offsets.mkl -tolerance 0.01")
	code, text := request(t, http.MethodPost, address+"/predict?model=counts", `{"a":1,"b":1,"city":"Ulm"}`)
	assert.Equal(t, http.StatusOK, code, text)
	var far, near serving.Answer
	for known, to := range map[string]*serving.Answer{"0": &near, "1000": &far} {
		code, text = request(t, http.MethodPost, address+"/predict?model=offsets", `{"a":1,"b":1,"city":"Ulm","known":`+known+`}`)
		require.Equal(t, http.StatusOK, code, text)
		require.NoError(t, json.Unmarshal([]byte(text), to))
	}
	n, f := near.Prediction.Numbers[0], far.Prediction.Numbers[0]
	assert.Equal(t, n.SD, f.SD)
	for _, ends := range [][2]console.Number{{n.Mean, f.Mean}, {n.Lower, f.Lower}, {n.Upper, f.Upper}} {
		assert.InDelta(t, float64(ends[0])+1000, float64(ends[1]), 1e-9, "the offset is added within a tolerance too")
	}
	end()
}

// cellsOf writes an answer of the service as the cells that mkl predict writes.
func cellsOf(p serving.Prediction) map[string]any {
	out := map[string]any{}
	put := func(name string, x float64) { out[name] = strconv.FormatFloat(x, 'g', -1, 64) }
	for _, n := range p.Numbers {
		prefix := ""
		if len(p.Numbers) > 1 {
			prefix = n.Target + "_"
		}
		put(prefix+"mean", float64(n.Mean))
		put(prefix+"sd", float64(n.SD))
		put(prefix+"lower", float64(n.Lower))
		put(prefix+"upper", float64(n.Upper))
	}
	for _, of := range p.Times {
		put("median", float64(of.Median))
		put("lower", float64(of.Lower))
		put("upper", float64(of.Upper))
		put("risk", float64(of.Risk))
		for _, at := range of.After {
			put("p_after_"+strconv.FormatFloat(at.Time, 'g', -1, 64), at.Probability)
		}
	}
	if p.Classes != nil {
		out["label"] = p.Class
	}
	if p.Median != "" {
		out["median"] = p.Median
	}
	for _, c := range p.Classes {
		put("p_"+c.Class, c.Probability)
		if p.Median != "" && c.UpTo < 1 {
			put("p_to_"+c.Class, c.UpTo)
		}
	}
	for _, l := range p.Labels {
		out[l.Target] = map[bool]string{true: "1", false: "0"}[l.Present]
		put("p_"+l.Target, l.Probability)
	}
	return out
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
