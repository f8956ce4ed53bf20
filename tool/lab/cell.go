package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// number is a number in a cell; thousands may stand apart, and the sign may be a minus or a hyphen.
var number = regexp.MustCompile(`[−-]?\d+(?: \d{3})*(?:\.\d+)?(?:e[−-]?\d+)?`)

// plain is a cell without emphasis.
func plain(cell string) string { return strings.Trim(cell, "*`") }

// read returns a number of a cell.
func read(text string) (float64, error) {
	return strconv.ParseFloat(strings.NewReplacer("−", "-", " ", "").Replace(text), 64)
}

// differs compares a cell with a value: a text, a number, or several numbers. It returns the cell as it should be.
func (q query) differs(cell string, v any) (string, bool) {
	if s, ok := v.(string); ok {
		return s, s != plain(cell)
	}
	var now []float64
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			now = append(now, float(x))
		}
	default:
		now = []float64{float(v)}
	}
	at := number.FindAllStringIndex(cell, -1)
	if len(at) != len(now) {
		return fmt.Sprint(now), true
	}
	var b strings.Builder
	end, differs := 0, false
	for i, span := range at {
		was := cell[span[0]:span[1]]
		b.WriteString(cell[end:span[0]])
		end = span[1]
		x, err := read(was)
		if err == nil && math.Abs(x-now[i]) <= q.within+half(was) {
			b.WriteString(was)
			continue
		}
		differs = true
		b.WriteString(like(was, now[i]))
	}
	return b.String() + cell[end:], differs
}

// half is half a unit of a number's last digit: what writing it may have cost.
func half(text string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ReplaceAll(text, "−", "-"), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return 0.5000001 * math.Pow(10, float64(e-len(decimals)))
}

// like writes a number as another one is written.
func like(text string, x float64) string {
	mantissa, _, exponential := strings.Cut(text, "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	kind := byte('f')
	if exponential {
		kind = 'e'
	}
	written := strings.NewReplacer("e-0", "e-", "e+0", "e").Replace(strconv.FormatFloat(x, kind, len(decimals), 64))
	return strings.ReplaceAll(written, "-", "−")
}

// float is a number of JSON, or of a query.
func float(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	return math.NaN()
}
