package encode

import (
	"math"
	"strconv"
)

// Blanks are texts that stand for an empty cell beside the texts of [Missing], such as -999. A text that is a number stands for every cell of
// that number, however it is written. The zero value has none.
type Blanks struct {
	texts   map[string]bool
	numbers map[float64]bool
}

// NewBlanks returns the blanks of texts.
func NewBlanks(texts []string) (b Blanks) {
	for _, text := range texts {
		if b.texts == nil {
			b.texts, b.numbers = map[string]bool{}, map[float64]bool{}
		}
		b.texts[text] = true
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			b.numbers[x] = true
		}
	}
	return b
}

// Text returns the text of a cell: empty if it is a blank.
func (b Blanks) Text(cell string) string {
	if b.texts[cell] {
		return ""
	}
	if len(b.numbers) > 0 {
		if x, err := strconv.ParseFloat(cell, 64); err == nil && b.numbers[x] {
			return ""
		}
	}
	return cell
}

// Number returns a number, or NaN if it stands for an empty cell.
func (b Blanks) Number(x float64) float64 {
	if b.numbers[x] {
		return math.NaN()
	}
	return x
}
