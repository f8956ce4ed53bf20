package prediction

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A spreadsheet must not execute a cell that comes from the name of a class; numbers and signs stay as they are.
func TestCellsAreNoFormulas(t *testing.T) {
	cells := []struct{ text, want string }{
		{`=HYPERLINK("http://a","b")`, `"'=HYPERLINK(""http://a"",""b"")"`},
		{"=1+1", "'=1+1"}, {"@SUM(1)", "'@SUM(1)"}, {"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"}, {"-SUM(1)", "'-SUM(1)"},
		{"-1", "-1"}, {"+", "+"}, {"-ve", "-ve"}, {"a=b", "a=b"}, {"", ""},
	}
	var c Columns
	c.Add("=a", func(i int) string { return cells[i].text })
	c.AddNumber("x", func(i int) float64 { return float64(-i) })
	var out bytes.Buffer
	require.NoError(t, c.writeCSV(&out, len(cells)))
	lines := strings.Split(out.String(), "\n")
	assert.Equal(t, "'=a,x", lines[0])
	for i, cell := range cells {
		assert.True(t, strings.HasPrefix(lines[1+i], cell.want+","), "%q", lines[1+i])
	}
	out.Reset()
	require.NoError(t, c.writeJSON(&out, len(cells)))
	assert.Contains(t, out.String(), `"=1+1"`)
}
