package notes

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/mkl/internal/plan"
	"github.com/bmkl/bmkl/internal/encode"
)

// TestOldNotes reads the notes of models from before there were plans: all columns are numbers.
func TestOldNotes(t *testing.T) {
	var n Notes
	require.NoError(t, json.Unmarshal([]byte(`{"task":"regression","targets":["y"],"views":[{"name":"v","columns":["a","b"],"file":false}]}`), &n))
	assert.Equal(t, []plan.Column{encode.Plain("a"), encode.Plain("b")}, n.Views[0].Features())
	text, err := n.Encode()
	require.NoError(t, err)
	assert.Equal(t, `{"task":"regression","targets":["y"],"views":[{"name":"v","columns":["a","b"],"file":false}]}`, text[Key])
}

// NameColumns replaces numbers by names in the view that is meant.
func TestNameColumns(t *testing.T) {
	n := &Notes{Views: []View{{Name: "a", Columns: []string{"x", "z"}}, {Name: "b a", Columns: []string{"7", "8"}}}}
	for text, want := range map[string]string{
		"a of #2":                  "a of z",
		"b a of ranks of #1,#2":    "b a of ranks of #7, #8",
		"a: rbf of #1":             "a: rbf of #1", // of no view that is known
		"a of #1: rbf of #1":       "a of x: rbf of x",
		"a of #3":                  "a of #3",
		"a of #1,#2,… (9 columns)": "a of x, z,… (9 columns)",
	} {
		assert.Equal(t, want, n.NameColumns(text))
	}
	assert.Equal(t, "b a", n.ViewOf("b a of #7", "rbf"))
}
