package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/bmkl/bmkl/bench/internal/peak"
)

// A row is one routine that is measured beside its peers: other libraries, other ways to
// do the same, or limits of the machine.
type row struct {
	name string
	unit string  // GFLOP/s, GB/s, Gexp/s or µs
	work float64 // flops, bytes or elements of one call; 0: the row is of the time of a call in µs

	// goal is the ratio to goalPeer that we want to reach at least; 0: none.
	goal     float64
	goalPeer string

	procs int // processors that Go may use, peers included; 0 means 1

	contenders []contender // ours first, then the peers
}

// A measurer is a row of any kind: [row], [race], [latency], [projection], [batch], [beside] or [stops].
type measurer interface {
	measure(rounds int, budget time.Duration) []result
}

// list is rows by their names, each with a function that builds it: a row's matrices exist only while it is
// measured.
type list []listed

type listed struct {
	name  string
	build func() measurer
}

func (l *list) add(name string, build func() measurer) { *l = append(*l, listed{name, build}) }

// result is one comparison of a row with one peer, as -json writes it.
type result struct {
	Name      string  `json:"name"`
	Value     float64 `json:"value"`
	Spread    float64 `json:"spread,omitempty"` // (upper − lower quartile)/median of our times
	Unit      string  `json:"unit"`
	Peer      string  `json:"peer,omitempty"`
	PeerValue float64 `json:"peer_value,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // above 1: ours is faster
	Limit     bool    `json:"limit,omitempty"` // the peer is a limit of the machine and the ratio our share of it
	Goal      float64 `json:"goal,omitempty"`
}

// measure measures the contenders and compares ours with every peer.
func (r row) measure(rounds int, budget time.Duration) []result {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(1, r.procs)))
	ts := inTurn(r.contenders, rounds, budget)
	value := func(i int) float64 {
		work := r.work
		if w := r.contenders[i].work; w != 0 {
			work = w
		}
		if work == 0 {
			return ts[i].median * 1e6
		}
		return work / ts[i].median / 1e9
	}
	ours := result{
		Name: r.name, Unit: r.unit, Value: value(0),
		Spread: (ts[0].q3 - ts[0].q1) / ts[0].median,
	}
	var out []result
	add := func(peer string, v float64) {
		x := ours
		x.Peer, x.PeerValue = peer, v
		x.Limit = peer == fmaPeak || peer == fmaPeak32 || peer == readRate
		if x.Ratio = x.Value / v; r.work == 0 {
			x.Ratio = v / x.Value
		}
		if peer == r.goalPeer {
			x.Goal = r.goal
		}
		out = append(out, x)
	}
	for i, c := range r.contenders[1:] {
		add(c.name, value(i+1))
	}
	if len(out) == 0 {
		out = append(out, ours)
	}
	return out
}

// Names of the contenders that are limits of the machine.
const (
	fmaPeak   = "FMA peak"
	fmaPeak32 = "FMA peak, float32"
	readRate  = "read bandwidth"
)

// limits are contenders that do what one core of the machine can do at best. They take
// turns with the others because the speed of a shared machine drifts.
type limits struct{ fma64, fma32, read contender }

func newLimits() limits {
	buffer := peak.NewBuffer(32 << 20) // as large as the matrix of the rows compared with it, n = 2048
	return limits{
		fma64: contender{name: fmaPeak, work: peak.FMAs64(), run: func(int) { peak.FMAs64() }},
		fma32: contender{name: fmaPeak32, work: peak.FMAs32(), run: func(int) { peak.FMAs32() }},
		read:  contender{name: readRate, work: float64(len(buffer)), run: func(int) { buffer.Read() }},
	}
}

// A sink receives results as they are measured.
type sink interface {
	put(rs []result) error
	close() error
}

// jsonSink writes a JSON object for each comparison.
type jsonSink struct{ enc *json.Encoder }

func (s jsonSink) put(rs []result) error {
	for _, r := range rs {
		if err := s.enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func (jsonSink) close() error { return nil }

// tableSink writes a Markdown table with a line for each comparison, one number a cell.
type tableSink struct{ w io.Writer }

func newTableSink(w io.Writer) tableSink {
	fmt.Fprintln(w, "| row | unit | value | ±, % | peer | its value | ratio | goal |")
	fmt.Fprintln(w, "| --- | --- | --: | --: | --- | --: | --: | --: |")
	return tableSink{w}
}

func (s tableSink) put(rs []result) error {
	for i, r := range rs {
		cells := []string{r.Name, r.Unit, fmt.Sprintf("%.4g", r.Value), "", r.Peer, "", "", ""}
		if r.Spread != 0 {
			cells[3] = fmt.Sprintf("%.0f", 100*r.Spread)
		}
		if i > 0 && r.Name == rs[i-1].Name {
			cells[0] = ""
			if r.Value == rs[i-1].Value {
				cells[1], cells[2], cells[3] = "", "", ""
			}
		}
		if r.Peer != "" {
			cells[5], cells[6] = fmt.Sprintf("%.4g", r.PeerValue), fmt.Sprintf("%.2f", r.Ratio)
		}
		if r.Goal > 0 {
			cells[7] = fmt.Sprintf("%.2f", r.Goal)
		}
		line := "|"
		for _, c := range cells {
			if c != "" {
				line += " " + c
			}
			line += " |"
		}
		if _, err := fmt.Fprintln(s.w, line); err != nil {
			return err
		}
	}
	return nil
}

func (s tableSink) close() error { return nil }
