package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// shot is a request and what became of it.
type shot struct {
	status int           // 0 if there was no answer
	took   time.Duration // until the last byte of the answer
	row    int
	answer []byte
	err    error
}

// fire sends requests by several clients, each over its own connection and one after the other, until ctx ends. Requests
// that have begun then are waited for. keep says whether answers are kept.
func fire(ctx context.Context, address string, clients int, body func(row int) []byte, keep bool) []shot {
	var mu sync.Mutex
	var all []shot
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			var own []shot
			web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: time.Minute}
			defer web.CloseIdleConnections()
			for n := 0; ctx.Err() == nil; n++ {
				row := 7*c + n
				s := post(web, address, body(row))
				s.row = row
				if !keep {
					s.answer = nil
				}
				own = append(own, s)
				if s.status == 0 { // nobody listens any more
					break
				}
			}
			mu.Lock()
			all = append(all, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return all
}

// post sends a request and reads its answer. It does not end with a context, so that each request has its outcome.
func post(web *http.Client, address string, body []byte) shot {
	begin := time.Now()
	r, err := http.NewRequest(http.MethodPost, address+"/predict", bytes.NewReader(body))
	if err != nil {
		return shot{err: err}
	}
	w, err := web.Do(r)
	if err != nil {
		return shot{took: time.Since(begin), err: err}
	}
	answer, err := io.ReadAll(w.Body)
	err = errors.Join(err, w.Body.Close())
	return shot{status: w.StatusCode, took: time.Since(begin), answer: answer, err: err}
}

// times are the median and the 99th percentile of answers with status 200, in milliseconds.
func times(shots []shot) (p50, p99 float64) {
	var all []time.Duration
	for _, s := range shots {
		if s.status == http.StatusOK {
			all = append(all, s.took)
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	at := func(q float64) float64 { return float64(all[int(q*float64(len(all)-1))]) / 1e6 }
	return at(0.5), at(0.99)
}

// count counts the shots that f holds for.
func count(shots []shot, f func(shot) bool) (n int) {
	for _, s := range shots {
		if f(s) {
			n++
		}
	}
	return n
}
