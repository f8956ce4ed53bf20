package table

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
)

// decimalRows is how many rows decide whether numbers have a decimal comma.
const decimalRows = 1000

// decimalComma reports whether the numbers at the front of a text file have a decimal comma: commas do not separate
// the cells, some cell is a number only if its comma counts as a point, and no cell is a number with a point.
func decimalComma(head []byte, sep rune) bool {
	if sep == ',' {
		return false
	}
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 && len(head) >= maxLine {
		head = head[:end] // without the row that is cut off
	}
	r := csv.NewReader(bytes.NewReader(head))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = sep, -1, true, true
	found := false
	for range decimalRows {
		rec, err := r.Read()
		if err != nil {
			break
		}
		for _, cell := range rec {
			cell = strings.TrimSpace(cell)
			if _, ok := pointed(cell); ok {
				found = true
			} else if strings.ContainsRune(cell, '.') {
				if _, err := strconv.ParseFloat(cell, 64); err == nil {
					return false
				}
			}
		}
	}
	return found
}

// pointed writes a number that has a decimal comma with a point. Points may separate its thousands.
func pointed(cell string) (string, bool) {
	at := strings.IndexByte(cell, ',')
	if at < 0 {
		return cell, false
	}
	whole, decimals := cell[:at], cell[at+1:]
	if groups := strings.Split(whole, "."); len(groups) > 1 {
		for k, g := range groups {
			if digits := strings.TrimLeft(g, "+-"); k == 0 && (digits == "" || len(digits) > 3) || k > 0 && len(g) != 3 {
				return cell, false
			}
		}
		whole = strings.Join(groups, "")
	}
	number := whole + "." + decimals
	if _, err := strconv.ParseFloat(number, 64); err != nil || strings.ContainsAny(whole, "xXeEpP_.") {
		return cell, false
	}
	return number, true
}

// points writes the numbers of a row with decimal points, if the file has decimal commas.
func (s *csvSource) points(rec []string) {
	if !s.comma {
		return
	}
	for j, cell := range rec {
		if number, ok := pointed(strings.TrimSpace(cell)); ok {
			rec[j] = number
		}
	}
}
