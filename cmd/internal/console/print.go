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
func Figure(x float64) string { return withDigits(x, 4) }

// Uncertainty prints a standard error or a standard deviation with two digits: they are not known better.
func Uncertainty(x float64) string { return withDigits(x, 2) }

func withDigits(x float64, n int) string {
	if a := math.Abs(x); a >= 1e-3 && a < 1e5 {
		return fmt.Sprintf("%.*f", max(0, n-1-int(math.Floor(math.Log10(a)))), x)
	}
	return fmt.Sprintf("%.*g", n, x)
}

// Number is a number that may be infinite or none: in JSON it is then one of the strings
// "Infinity", "-Infinity" and "NaN".
type Number float64

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	switch x := float64(n); {
	case math.IsNaN(x):
		return []byte(`"NaN"`), nil
	case math.IsInf(x, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(x)
	}
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Number) UnmarshalJSON(text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	*n = Number(x)
	return err
}

// Figures are numbers by name, each in JSON a [Number].
type Figures map[string]float64

// MarshalJSON writes the figures.
func (f Figures) MarshalJSON() ([]byte, error) {
	values := map[string]Number{}
	for name, v := range f {
		values[name] = Number(v)
	}
	return json.Marshal(values)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Figures) UnmarshalJSON(text []byte) error {
	var values map[string]Number
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*f = Figures{}
	for name, v := range values {
		(*f)[name] = float64(v)
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

// List lists names in words: a, b and c.
func List(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Few lists the first of names, and says how many there are.
func Few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … %d in all", strings.Join(names[:most], ", "), len(names))
}

// Signed prints a number as [Figure] does, with its sign.
func Signed(x float64) string {
	if x > 0 && !math.IsInf(x, 1) {
		return "+" + Figure(x)
	}
	return Figure(x)
}

// ColumnName is how sentences call a column: a column of a file without names by its position.
func ColumnName(name string) string {
	if _, err := strconv.Atoi(name); err == nil {
		return "column " + name
	}
	return name
}

// ColumnNames is [ColumnName] of each.
func ColumnNames(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = ColumnName(name)
	}
	return all
}
