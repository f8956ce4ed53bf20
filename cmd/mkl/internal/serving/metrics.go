package serving

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	rtmetrics "runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// bounds are the upper bounds of the histogram's buckets, in seconds.
var bounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// metrics counts requests by model. The model of requests that name no served model is the empty text, so clients
// cannot make any number of series.
type metrics struct {
	mu     sync.Mutex
	models map[string]*counts
}

type counts struct {
	requests, records int64
	errors            map[int]int64 // by HTTP status
	buckets           []int64       // by bound, and one for longer requests
	seconds           float64
	loads, refusals   int64
}

// of returns the counts of a model. The caller holds the lock.
func (m *metrics) of(model string) *counts {
	c := m.models[model]
	if c == nil {
		c = &counts{errors: map[int]int64{}, buckets: make([]int64, len(bounds)+1)}
		if m.models == nil {
			m.models = map[string]*counts{}
		}
		m.models[model] = c
	}
	return c
}

// request counts a request with its status, its predicted records and its duration.
func (m *metrics) request(model string, status, records int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.of(model)
	c.requests++
	if status >= 400 {
		c.errors[status]++
	} else {
		c.records += int64(records)
	}
	at, _ := slices.BinarySearch(bounds, took.Seconds())
	c.buckets[at]++
	c.seconds += took.Seconds()
}

// load counts an attempt to load a model file.
func (m *metrics) load(model string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.of(model); err != nil {
		c.refusals++
	} else {
		c.loads++
	}
}

// write writes the text format of Prometheus, version 0.0.4.
func (m *metrics) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := slices.Sorted(maps.Keys(m.models))
	head := func(name, kind, help string) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	head("mkl_requests_total", "counter", "Requests for predictions.")
	for _, n := range names {
		fmt.Fprintf(w, "mkl_requests_total{model=%s} %d\n", label(n), m.models[n].requests)
	}
	head("mkl_errors_total", "counter", "Requests for predictions that were answered with an error.")
	for _, n := range names {
		for _, status := range slices.Sorted(maps.Keys(m.models[n].errors)) {
			fmt.Fprintf(w, "mkl_errors_total{model=%s,status=\"%d\"} %d\n", label(n), status, m.models[n].errors[status])
		}
	}
	head("mkl_records_total", "counter", "Records that were predicted.")
	for _, n := range names {
		fmt.Fprintf(w, "mkl_records_total{model=%s} %d\n", label(n), m.models[n].records)
	}
	head("mkl_loads_total", "counter", "Model files that were loaded or refused.")
	for _, n := range names {
		fmt.Fprintf(w, "mkl_loads_total{model=%s,result=\"loaded\"} %d\n", label(n), m.models[n].loads)
		fmt.Fprintf(w, "mkl_loads_total{model=%s,result=\"refused\"} %d\n", label(n), m.models[n].refusals)
	}
	head("mkl_request_seconds", "histogram", "Seconds from the first byte of a request's body to its answer.")
	for _, n := range names {
		c, sum := m.models[n], int64(0)
		for i, b := range bounds {
			sum += c.buckets[i]
			fmt.Fprintf(w, "mkl_request_seconds_bucket{model=%s,le=\"%s\"} %d\n", label(n), strconv.FormatFloat(b, 'g', -1, 64), sum)
		}
		fmt.Fprintf(w, "mkl_request_seconds_bucket{model=%s,le=\"+Inf\"} %d\n", label(n), c.requests)
		fmt.Fprintf(w, "mkl_request_seconds_sum{model=%s} %s\n", label(n), strconv.FormatFloat(c.seconds, 'g', -1, 64))
		fmt.Fprintf(w, "mkl_request_seconds_count{model=%s} %d\n", label(n), c.requests)
	}
}

// runtimeGauges writes what a leak would show in, under the names that Prometheus' own client has for it.
func runtimeGauges(w io.Writer) {
	heap := []rtmetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	rtmetrics.Read(heap)
	fmt.Fprintf(w, "# HELP go_goroutines Number of goroutines.\n# TYPE go_goroutines gauge\ngo_goroutines %d\n", runtime.NumGoroutine())
	fmt.Fprintf(w, "# HELP go_memstats_heap_alloc_bytes Bytes of the heap's objects.\n# TYPE go_memstats_heap_alloc_bytes gauge\n"+
		"go_memstats_heap_alloc_bytes %d\n", heap[0].Value.Uint64())
}

// label quotes the value of a label as the text format asks.
func label(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}
