package record

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bmkl/bmkl/internal/encode"
	"github.com/bmkl/bmkl/mkl"
)

// ValueError is a mistake in a record.
type ValueError struct {
	Record int    // counted from 0
	Column string // name of the column, or the name in the record that is no column; empty if the whole record cannot be predicted
	Msg    string // what is wrong
}

// Error names the record, counted from 1, and the column.
func (e *ValueError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("record %d %s", e.Record+1, e.Msg)
	}
	return fmt.Sprintf("record %d: %q %s", e.Record+1, e.Column, e.Msg)
}

// read makes cells of the values of records, and notes in out which are missing, unknown or far outside.
func (p *Predictor) read(records []map[string]any, out []Prediction) (encode.Cells, error) {
	cells := encode.Cells{Rows: len(records), Numbers: map[int][]float64{}, Labels: map[int][]string{}}
	for i, record := range records {
		if err := p.checkNames(i, record); err != nil {
			return cells, err
		}
		for j, c := range p.columns {
			missing, err := add(&cells, j, c, p.present(record[c.Name]))
			if err == "" && !missing && c.Role != "" {
				err = c.wrong(cells.Numbers[j][i])
			}
			switch {
			case err != "":
				return cells, &ValueError{Record: i, Column: c.Name, Msg: err}
			case missing && c.Role != "":
				return cells, &ValueError{Record: i, Column: c.Name, Msg: "has no value, and a prediction needs the " + c.Role}
			case missing && c.Required:
				return cells, &ValueError{Record: i, Column: c.Name, Msg: "has no value, and the fit filled in none"}
			case missing:
				out[i].Missing = append(out[i].Missing, c.Name)
			case c.Type == string(encode.Text) && !c.free && !slices.Contains(c.Categories, cells.Labels[j][i]):
				out[i].Unknown = append(out[i].Unknown, c.Name)
			case c.Type != string(encode.Text) && (encode.Column{Range: c.Range}).Outside(cells.Numbers[j][i]):
				out[i].Outside = append(out[i].Outside, c.Name)
			}
		}
	}
	return cells, nil
}

// wrong says what is wrong with a value of a column with a role.
func (c Column) wrong(v float64) string {
	if c.Role == ExposureRole && !(v >= mkl.LeastExposure && v <= mkl.MostExposure) {
		return fmt.Sprintf("is an exposure, and %g is not from %g to %g", v, mkl.LeastExposure, mkl.MostExposure)
	}
	return ""
}

// checkNames refuses a record that lacks a column and has a name that may be meant for it.
func (p *Predictor) checkNames(i int, record map[string]any) error {
	absent := slices.IndexFunc(p.columns, func(c Column) bool { _, ok := record[c.Name]; return !ok })
	if absent < 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(record)) {
		if _, ok := p.known[name]; !ok && !p.ignored[name] {
			return &ValueError{Record: i, Column: name, Msg: fmt.Sprintf("is no column of the model, and the record has no %q", p.columns[absent].Name)}
		}
	}
	return nil
}

// present returns a value, or nil if it stood for an empty cell in the table of the fit.
func (p *Predictor) present(value any) any {
	gone := false
	switch v := value.(type) {
	case string:
		gone = p.blanks.Text(strings.TrimSpace(v)) == ""
	case json.Number:
		gone = p.blanks.Text(v.String()) == ""
	default:
		x, ok := float(value)
		gone = ok && math.IsNaN(p.blanks.Number(x))
	}
	if gone {
		return nil
	}
	return value
}

// add adds a value of column j. It reports whether it is missing, or says what is wrong with it.
func add(cells *encode.Cells, j int, c Column, value any) (missing bool, wrong string) {
	if c.Type == string(encode.Text) {
		text, wrong := textOf(value)
		if wrong == "" {
			cells.Labels[j] = append(cells.Labels[j], text)
		}
		return text == "", wrong
	}
	x, wrong := numberOf(encode.Type(c.Type), value)
	if wrong == "" {
		cells.Numbers[j] = append(cells.Numbers[j], x)
	}
	return math.IsNaN(x), wrong
}

// textOf reads a value of a column of text; missing is empty.
func textOf(value any) (text, wrong string) {
	switch v := value.(type) {
	case nil:
		return "", ""
	case string:
		if v = strings.TrimSpace(v); encode.Missing(v) {
			return "", ""
		}
		return v, ""
	case json.Number:
		return v.String(), ""
	case bool:
		return fmt.Sprint(v), ""
	}
	x, ok := float(value)
	switch {
	case !ok:
		return "", "is text, and the value is " + kindOf(value)
	case math.IsNaN(x):
		return "", ""
	}
	return encode.Number(x), ""
}

// numberOf reads a value of a column of another type; missing is NaN.
func numberOf(t encode.Type, value any) (x float64, wrong string) {
	switch v := value.(type) {
	case nil:
		return math.NaN(), ""
	case string:
		v = strings.TrimSpace(v)
		if encode.Missing(v) {
			return math.NaN(), ""
		}
		x, ok := t.Value(v)
		if !ok {
			return 0, fmt.Sprintf("is a %s, and %q is none", t, brief(v))
		}
		return x, ""
	case json.Number:
		return numberOf(t, v.String())
	case time.Time:
		if t == encode.Numeric || t == encode.Boolean {
			return 0, fmt.Sprintf("is a %s, and the value is a date", t)
		}
		return encode.Days(v), ""
	case bool:
		switch {
		case t != encode.Boolean:
			return 0, fmt.Sprintf("is a %s, and the value is a boolean", t)
		case v:
			return 1, ""
		}
		return 0, ""
	}
	x, ok := float(value)
	switch {
	case !ok:
		return 0, fmt.Sprintf("is a %s, and the value is %s", t, kindOf(value))
	case math.IsInf(x, 0):
		return 0, "is infinite"
	case t == encode.Boolean && x == x && x != 0 && x != 1, t != encode.Numeric && t != encode.Boolean && x == x:
		return 0, fmt.Sprintf("is a %s, and the value is the number %g", t, x)
	}
	return x, ""
}

// float converts numbers of any type.
func float(value any) (x float64, ok bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case int:
		return float64(v), true
	case int8:
		return float64(v), true
	case int16:
		return float64(v), true
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint:
		return float64(v), true
	case uint8:
		return float64(v), true
	case uint16:
		return float64(v), true
	case uint32:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}

// features makes the matrices of the model's inputs.
func (p *Predictor) features(ctx context.Context, cells encode.Cells, records int) ([]mkl.Features, error) {
	x := make([]mkl.Features, len(p.notes.Views))
	inputs := p.model.Inputs()
	similar := map[[2]int][]mkl.Features{} // by set of strings and column: the inputs of all kernels
	for k, v := range p.notes.Views {
		if s := v.Strings; s != nil {
			of := [2]int{s.Set, p.known[v.Columns[0]]}
			if similar[of] == nil {
				var err error
				if similar[of], err = p.comparers[s.Set].Inputs(ctx, cells.Labels[of[1]]); err != nil {
					return nil, fmt.Errorf("record: %w", err)
				}
			}
			x[k] = similar[of][s.Kernel]
			continue
		}
		at := make([]int, len(v.Plan))
		for c, column := range v.Plan {
			at[c] = p.known[column.Name]
		}
		encoded := encode.Encode(v.Plan, at, cells)
		if inputs[k].MissingViews {
			encoded.Lack()
		}
		for i := range records {
			if encoded.Missing != nil && encoded.Missing[i] {
				return nil, &ValueError{Record: i, Column: v.Name, Msg: "is a view of which a part is missing"}
			}
		}
		x[k] = encoded.X
	}
	return x, nil
}

// brief cuts a long text.
func brief(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// kindOf names the type of a value that no column takes: of what was JSON by a word of JSON, and of other values the type of Go.
func kindOf(value any) string {
	switch value.(type) {
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", value)
}
