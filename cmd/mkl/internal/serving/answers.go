package serving

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl/record"
)

// Number is the prediction of a numeric target.
type Number struct {
	Target string         `json:"target"`
	Mean   console.Number `json:"mean"`
	SD     console.Number `json:"sd"`
	Lower  console.Number `json:"lower"` // ends of the central interval
	Upper  console.Number `json:"upper"`
}

// Time is the prediction of a time until an event.
type Time struct {
	Target string         `json:"target"`
	Median console.Number `json:"median"`
	Lower  console.Number `json:"lower"` // ends of the central interval
	Upper  console.Number `json:"upper"`
	Risk   console.Number `json:"risk"`
	After  []After        `json:"after,omitempty"` // at the times that the request asked for, in its order
}

// After is the probability that an event is later than a time.
type After struct {
	Time        float64 `json:"time"`
	Probability float64 `json:"probability"`
}

// Prediction is a [record.Prediction] whose numbers and times have intervals.
type Prediction struct {
	Numbers []Number       `json:"numbers,omitempty"`
	Times   []Time         `json:"times,omitempty"`
	Class   string         `json:"class,omitempty"`
	Median  string         `json:"median,omitempty"` // of grades
	Classes []record.Class `json:"classes,omitempty"`
	Labels  []record.Label `json:"labels,omitempty"`
	Missing []string       `json:"missing,omitempty"`
	Unknown []string       `json:"unknown,omitempty"`
	Outside []string       `json:"outside,omitempty"`
	Views   []record.Parts `json:"views,omitempty"` // if the request asked for them
}

// Answer is the answer to a request for predictions.
type Answer struct {
	Model       string       `json:"model"`
	Interval    float64      `json:"interval,omitempty"`    // probability of the intervals of numbers and times
	Prediction  *Prediction  `json:"prediction,omitempty"`  // of one record
	Predictions []Prediction `json:"predictions,omitempty"` // of a list of records
}

// predictionOf adds intervals of a probability, and of a time the probabilities that the event is later than each of the times.
func predictionOf(p record.Prediction, interval float64, times []float64) Prediction {
	out := Prediction{Class: p.Class, Median: p.Median, Classes: p.Classes, Labels: p.Labels, Missing: p.Missing, Unknown: p.Unknown, Outside: p.Outside}
	for _, n := range p.Numbers {
		lower, upper := n.Interval(interval)
		out.Numbers = append(out.Numbers, Number{n.Target, console.Number(n.Mean), console.Number(n.SD), console.Number(lower), console.Number(upper)})
	}
	for _, t := range p.Times {
		lower, upper := t.Interval(interval)
		one := Time{Target: t.Target, Median: console.Number(t.Median), Lower: console.Number(lower), Upper: console.Number(upper), Risk: console.Number(t.Risk)}
		for _, at := range times {
			one.After = append(one.After, After{at, t.After(at)})
		}
		out.Times = append(out.Times, one)
	}
	return out
}

// answer writes a value as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		_ = json.NewEncoder(&b).Encode(&Failure{Code: CodeInternal, Message: err.Error()}) // a text can be written
	}
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // an error means that the client is gone
}
