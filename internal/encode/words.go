package encode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/bmkl/bmkl/internal/special"
)

// mostWords are the most words of a bag of words.
const mostWords = 1000

// Bag makes a bag of words of cells of text: the words that at least two cells have, the most frequent first, at most
// 1000, in alphabetical order. The weight of a word is 1 + log((1+n)/(1+m)), m the number of cells with the word and n
// the number of cells that are not empty. The bag is empty if no two cells share a word.
func Bag(cells []string) (words []string, weights []float64) {
	count, present := map[string]int{}, 0
	for _, cell := range cells {
		if cell != "" {
			present++
		}
		for _, word := range wordsOf(cell) {
			count[word]++
		}
	}
	for word, n := range count {
		if n > 1 {
			words = append(words, word)
		}
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	words = words[:min(len(words), mostWords)]
	slices.Sort(words)
	for _, word := range words {
		weights = append(weights, 1+special.Log(float64(1+present)/float64(1+count[word])))
	}
	return words, weights
}

// wordsOf lists the different words of a text in lower case, in alphabetical order. A word is letters and digits, of any
// script.
func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	slices.Sort(words)
	return slices.Compact(words)
}

// UnmarshalJSON refuses a bag that [Encode] could not use: the file may come from a stranger.
func (c *Column) UnmarshalJSON(data []byte) error {
	type plain Column
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	switch {
	case c.Words == nil && c.Weights == nil:
		return nil
	case c.Type != Text || c.Codes || c.Categories != nil || c.Indicator:
		return fmt.Errorf("column %q has words, and is no bag of words", c.Name)
	case len(c.Words) == 0 || len(c.Weights) != len(c.Words):
		return fmt.Errorf("column %q has %d words and %d weights", c.Name, len(c.Words), len(c.Weights))
	}
	for i, w := range c.Weights {
		if !(w > 0 && w < math.MaxFloat32) || i > 0 && c.Words[i-1] >= c.Words[i] {
			return fmt.Errorf("column %q: word %d, %q, is out of order or has the weight %g", c.Name, i, c.Words[i], w)
		}
	}
	return nil
}

// words makes the features of a bag of words: the weight of each word that the cell has, over the length of the vector
// of the weights. A cell without any of the words is 0 in all.
func (e *Encoded) words(c Column, first int, cells []string) {
	for i, cell := range cells {
		if cell == "" && c.Fill == nil {
			e.miss(i)
		}
		row, sum := e.X.Row(i)[first:first+len(c.Words)], 0.0
		for _, word := range wordsOf(cell) {
			if k, known := slices.BinarySearch(c.Words, word); known {
				row[k] = c.Weights[k]
				sum += float64(row[k] * row[k])
			}
		}
		if sum > 0 {
			length := math.Sqrt(sum)
			for k := range row {
				row[k] /= length
			}
		}
	}
}
