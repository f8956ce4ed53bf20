package serving

import (
	"bytes"
	_ "embed"
	"html/template"
	"math"
	"net/http"
	"time"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/record"
)

//go:embed page.html
var pageText string

// The template escapes all values.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"figure":  console.Figure,
	"percent": func(p float64) string { return console.Figure(100*p) + " %" },
}).Parse(pageText))

// tried is what the page shows.
type tried struct {
	Models   []string
	Model    string
	Task     string
	Fields   []field
	Interval float64
	Failure  *Failure
	Bands    []band
	Got      *Prediction
}

// field is an input of the form.
type field struct {
	record.Column
	Input string // its name in the form
	Value string
}

// band is a number or a time with its interval, drawn on a line 400 units long. The line is four standard deviations of a number to either side.
// Of counts and times, which are not negative, it begins at 0.
type band struct {
	Target               string
	Middle, Lower, Upper float64 // the middle is the mean of a number and the median of a time
	Beside               string  // what a sentence says beside the interval
	At                   float64 // place of the middle on the line
	Left, Width          float64 // of the interval on the line
	Drawn                bool    // all is finite
	LineLeft, LineRight  float64 // values at the ends of the line
}

// page answers GET / with a form for a record, and POST / with the prediction of the record as well.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	begin, status := time.Now(), http.StatusOK
	v := &tried{Interval: s.opt.Interval}
	for _, m := range s.models {
		v.Models = append(v.Models, m.name)
	}
	m, failed := s.model(r)
	if failed != nil && !r.URL.Query().Has("model") {
		m, failed = s.models[0], nil
	}
	if failed == nil {
		v.Model = m.name
		failed = s.try(w, r, m.now.Load(), v)
	}
	if v.Failure = failed; failed != nil {
		status = failed.Code.Status()
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		answer(w, http.StatusInternalServerError, &Failure{Code: CodeInternal, Message: err.Error()})
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // an error means that the client is gone
	if r.Method == http.MethodPost {
		s.metrics.request(v.Model, status, 1, time.Since(begin))
	}
}

// try predicts the record of the form, if there is one.
func (s *Server) try(w http.ResponseWriter, r *http.Request, model *version, v *tried) *Failure {
	v.Task = model.predictor.Task()
	post := r.Method == http.MethodPost
	if post {
		r.Body = http.MaxBytesReader(w, r.Body, s.opt.MaxBytes)
		if err := r.ParseForm(); err != nil {
			if tooLarge(err) {
				return &Failure{Code: CodeTooLarge, Message: "the form is too large"}
			}
			return &Failure{Code: CodeBody, Message: "the form cannot be read: " + err.Error()}
		}
	}
	one := map[string]any{}
	for _, c := range model.columns {
		f := field{Column: c, Input: "column." + c.Name}
		if post {
			f.Value = r.PostForm.Get(f.Input)
		}
		one[c.Name] = nil
		if f.Value != "" {
			one[c.Name] = f.Value
		}
		v.Fields = append(v.Fields, f)
	}
	if !post {
		return nil
	}
	got, failed := s.run(r.Context(), model, []map[string]any{one}, asked{interval: v.Interval})
	if failed != nil {
		return failed
	}
	v.Got = &got[0]
	_, counts := model.predictor.Model().(*mkl.CountModel)
	for _, n := range got[0].Numbers {
		v.Bands = append(v.Bands, bandOf(n, counts))
	}
	for _, t := range got[0].Times {
		v.Bands = append(v.Bands, bandOfTime(t))
	}
	return nil
}

// bandOf places a number and its interval on a line.
func bandOf(n Number, count bool) band {
	b := band{Target: n.Target, Middle: float64(n.Mean), Lower: float64(n.Lower), Upper: float64(n.Upper)}
	b.Beside = "Standard deviation: " + console.Figure(float64(n.SD)) + "."
	half := max(float64(4*float64(n.SD)), float64(1.25*(b.Upper-b.Middle)))
	b.LineLeft, b.LineRight = b.Middle-half, b.Middle+half
	if count {
		b.LineLeft, b.LineRight = 0, 1.25*max(b.Upper, b.Middle)
	}
	b.place()
	return b
}

// bandOfTime places the median of a time and its interval on a line.
func bandOfTime(t Time) band {
	b := band{Target: "median of " + t.Target, Middle: float64(t.Median), Lower: float64(t.Lower), Upper: float64(t.Upper)}
	b.Beside = "Risk: " + console.Figure(float64(t.Risk)) + "."
	b.LineRight = 1.25 * b.Upper
	b.place()
	return b
}

// place finds the places on the line, from the values at its ends.
func (b *band) place() {
	length := b.LineRight - b.LineLeft
	b.Drawn = length > 0 && !math.IsInf(length, 0)
	if b.Drawn {
		b.At = 400 * ((b.Middle - b.LineLeft) / length)
		b.Left = 400 * ((b.Lower - b.LineLeft) / length)
		b.Width = 400 * ((b.Upper - b.Lower) / length)
	}
}
