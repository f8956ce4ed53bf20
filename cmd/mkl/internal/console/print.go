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

// Number is a number that JSON can hold even if it is infinite or not a number: it is
// then one of the strings "Infinity", "-Infinity" and "NaN".
type Number float64

// MarshalJSON writes the number.
func (x Number) MarshalJSON() ([]byte, error) {
	v := float64(x)
	switch {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	}
	return json.Marshal(v)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (x *Number) UnmarshalJSON(text []byte) error {
	var name string
	if json.Unmarshal(text, &name) != nil {
		return json.Unmarshal(text, (*float64)(x))
	}
	v, err := strconv.ParseFloat(name, 64)
	*x = Number(v)
	return err
}

// PrintJSON prints v for machines: one indented value.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
