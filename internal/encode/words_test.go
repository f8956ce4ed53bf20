package encode

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A bag has the words that two cells share, weighted as scikit-learn's TfidfVectorizer weights them, but for how often a cell
// has a word.
func TestBag(t *testing.T) {
	cells := []string{"Good, good tea!", "bad TEA", "", "good Über-milk", "the über tea 7"}
	words, weights := Bag(cells)
	assert.Equal(t, []string{"good", "tea", "über"}, words)
	for i, n := range []float64{2, 3, 2} {
		assert.InDelta(t, 1+math.Log(5/(1+n)), weights[i], 1e-15)
	}
	fill := 0.0
	c := Column{Name: "note", Type: Text, Words: words, Weights: weights, Fill: &fill}
	assert.Equal(t, []string{"note:good", "note:tea", "note:über"}, c.Features())
	assert.Equal(t, 3, c.Width())
	e := Encode([]Column{c}, []int{4}, Cells{Rows: 5, Labels: map[int][]string{4: cells}})
	length := math.Hypot(weights[0], weights[1])
	assert.InDeltaSlice(t, []float64{weights[0] / length, weights[1] / length, 0}, e.X.Row(0), 1e-15)
	assert.Equal(t, []float64{0, 1, 0}, e.X.Row(1))
	assert.Equal(t, []float64{0, 0, 0}, e.X.Row(2))
	assert.Nil(t, e.Missing)
	assert.Empty(t, e.Unknown)

	words, _ = Bag([]string{"all", "cells", "differ"})
	assert.Empty(t, words)
	c.Fill = nil
	e = Encode([]Column{c}, []int{4}, Cells{Rows: 5, Labels: map[int][]string{4: cells}})
	assert.Equal(t, []bool{false, false, true, false, false}, e.Missing)
}

// A plan of a file that a stranger wrote cannot make Encode look beyond the weights.
func TestDamagedBags(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"w","type":"text","words":["a","b"],"weights":[1,2],"fill":0}`:            "",
		`{"name":"c","type":"text","categories":["a"]}`:                                    "",
		`{"name":"w","type":"text","words":["a","b"],"weights":[1],"fill":0}`:              "2 words and 1 weights",
		`{"name":"w","type":"text","words":[],"weights":[1]}`:                              "0 words and 1 weights",
		`{"name":"w","type":"text","weights":[1]}`:                                         "0 words and 1 weights",
		`{"name":"w","type":"text","words":["b","a"],"weights":[1,2]}`:                     `word 1, "a"`,
		`{"name":"w","type":"text","words":["a","a"],"weights":[1,2]}`:                     `word 1, "a"`,
		`{"name":"w","type":"text","words":["a"],"weights":[0]}`:                           "the weight 0",
		`{"name":"w","type":"text","words":["a"],"weights":[1e200]}`:                       "the weight 1e+200",
		`{"name":"w","type":"text","words":["a","b"],"weights":[1,2],"codes":true}`:        "no bag of words",
		`{"name":"w","type":"number","words":["a"],"weights":[1]}`:                         "no bag of words",
		`{"name":"w","type":"text","words":["a"],"weights":[1],"categories":["a"]}`:        "no bag of words",
		`{"name":"w","type":"text","words":["a"],"weights":[1],"indicator":true,"fill":0}`: "no bag of words",
	} {
		var c Column
		err := json.Unmarshal([]byte(text), &c)
		if want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, want, text)
		}
	}
}

func TestDivide(t *testing.T) {
	columns := []Column{Plain("x"), {Name: "c", Type: Text, Codes: true}, {Name: "w", Type: Text, Words: []string{"a", "b"}}, Plain("y")}
	assert.Equal(t, Parts{Codes: []int{1}, Words: []int{2, 3}, Others: []int{0, 4}}, Divide(columns))
}
