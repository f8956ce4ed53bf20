package console

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Plural is n with its noun.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// PrintTable prints rows in columns two spaces apart; align has l or r for each
// column.
func PrintTable(w io.Writer, align string, rows [][]string) error {
	width := make([]int, len(align))
	for _, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			space := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if j > 0 {
				line.WriteString("  ")
			}
			if align[j] == 'r' {
				line.WriteString(space + cell)
			} else {
				line.WriteString(cell + space)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Figure prints a number with four digits.
func Figure(x float64) string {
	if a := math.Abs(x); a >= 1e-3 && a < 1e5 {
		digits := max(0, 3-int(math.Floor(math.Log10(a))))
		return fmt.Sprintf("%.*f", digits, x)
	}
	return fmt.Sprintf("%.3g", x)
}

// Figures are numbers by name. In JSON those that are infinite or no numbers are the
// strings "Infinity", "-Infinity" and "NaN".
type Figures map[string]float64

// MarshalJSON writes the figures.
func (f Figures) MarshalJSON() ([]byte, error) {
	values := map[string]any{}
	for name, v := range f {
		switch {
		case math.IsNaN(v):
			values[name] = "NaN"
		case math.IsInf(v, 0):
			values[name] = strings.TrimPrefix(fmt.Sprintf("%+g", v), "+") + "inity"
		default:
			values[name] = v
		}
	}
	return json.Marshal(values)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Figures) UnmarshalJSON(text []byte) error {
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*f = Figures{}
	for name, v := range values {
		x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		(*f)[name] = x
	}
	return nil
}

// PrintJSON prints v for machines: one indented value.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
