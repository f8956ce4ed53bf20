package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/internal/encode"
)

// read reads all columns of a table as what they are.
func read(t *testing.T, text string) Table {
	t.Helper()
	s, err := table.New("d.csv", strings.NewReader(text), int64(len(text)), table.Options{Header: table.HeaderYes})
	require.NoError(t, err)
	out := Table{Names: s.Columns(), Named: make([]bool, len(s.Columns()))}
	var want []table.Want
	for j := range s.Columns() {
		out.Columns = append(out.Columns, j)
		want = append(want, table.Want{Column: j, Kind: table.Any})
	}
	d, err := table.Read(s, want)
	require.NoError(t, err)
	out.Data = &d
	return out
}

const houses = `area,city,built,garden
1.5,Ulm,2026-01-02,yes
2.5,Bonn,1970-01-01,no
,NA,1970-01-03,no
4.5,Ulm,,
`

func TestEncode(t *testing.T) {
	in := read(t, houses)
	v := Learn(in, false)
	require.Equal(t, []int{0, 1, 2, 3}, v.At)
	assert.False(t, encode.Simple(v.Columns))
	assert.Equal(t, 5, encode.Width(v.Columns))
	assert.Equal(t, []string{"area", "city=Bonn", "city=Ulm", "built", "garden"}, encode.Features(v.Columns))
	assert.Equal(t, []string{
		"city is text: 2 columns of 0 and 1 (Bonn, Ulm)", "built is a date: days since 1970", "garden is yes or no: 1 and 0",
	}, v.Lines())
	e := Encode(v.Columns, v.At, in.Data)
	assert.Equal(t, []bool{false, false, true, true}, e.Missing)
	assert.Equal(t, []float64{1.5, 0, 1, 20455, 1}, e.X.Row(0))
	assert.Equal(t, []float64{2.5, 1, 0, 0, 0}, e.X.Row(1))
	assert.Equal(t, make([]float64, 5), e.X.Row(2))

	// What is missing is filled in, with an indicator; a model file keeps how.
	v = Learn(in, true)
	text, err := json.Marshal(v.Columns)
	require.NoError(t, err)
	var kept []Column
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Equal(t, v.Columns, kept)
	assert.Equal(t, []string{
		"area", "area missing", "city=Bonn", "city=Ulm", "city missing", "built", "built missing", "garden", "garden missing",
	}, encode.Features(kept))
	assert.Equal(t, []string{
		"area is numbers, 2.5 where missing, and a column of 0 and 1 that says where",
		"city is text: 2 columns of 0 and 1 (Bonn, Ulm), and one for missing values",
		"built is a date: days since 1970, 2 where missing, and a column of 0 and 1 that says where",
		"garden is yes or no: 1 and 0, 0 where missing, and a column of 0 and 1 that says where",
	}, v.Lines())
	e = Encode(kept, v.At, in.Data)
	assert.Nil(t, e.Missing)
	assert.Equal(t, []float64{2.5, 1, 0, 0, 1, 2, 0, 0, 0}, e.X.Row(2))
	assert.Equal(t, []float64{4.5, 0, 0, 1, 0, 2, 1, 0, 1}, e.X.Row(3))

	// New data have categories that the plan does not.
	in = read(t, strings.ReplaceAll(strings.ReplaceAll(houses, "Bonn", "Jena"), "NA", "Köln"))
	e = Encode(kept, v.At, in.Data)
	assert.Equal(t, map[string]Count{"city": {Cells: 2, First: "Jena"}}, e.Unknown)
	assert.Equal(t, []float64{0, 0, 0}, e.X.Row(1)[2:5])
}

// TestCodes makes one feature of a column of text: which of its categories it is.
func TestCodes(t *testing.T) {
	in := read(t, houses)
	in.Text = Category
	v := Learn(in, true)
	assert.Equal(t, []string{
		"area", "area missing", "city", "built", "built missing", "garden", "garden missing",
	}, encode.Features(v.Columns))
	assert.Equal(t, "city is text: 2 categories, equal or not (Bonn, Ulm), and missing values are one more", v.Lines()[1])
	assert.Equal(t, encode.Parts{Codes: []int{2}, Others: []int{0, 1, 3, 4, 5, 6}}, encode.Divide(v.Columns))
	city := func(in Table, columns []Column) (values []float64) {
		e := Encode(columns, v.At, in.Data)
		for i := range e.X.Rows {
			values = append(values, e.X.At(i, 2))
		}
		return values
	}
	assert.Equal(t, []float64{1, 0, 2, 1}, city(in, v.Columns))
	text, err := json.Marshal(v.Columns)
	require.NoError(t, err)
	var kept []Column
	require.NoError(t, json.Unmarshal(text, &kept))
	in = read(t, strings.ReplaceAll(houses, "Bonn", "Jena"))
	assert.Equal(t, []float64{1, -1, 2, 1}, city(in, kept))
	assert.Equal(t, map[string]Count{"city": {Cells: 1, First: "Jena"}}, Encode(kept, v.At, in.Data).Unknown)

	in = read(t, houses)
	in.Text = Category
	v = Learn(in, false)
	assert.Equal(t, []bool{false, false, true, true}, Encode(v.Columns, v.At, in.Data).Missing)
}

func TestPlain(t *testing.T) {
	in := read(t, "a,b\n1,2\n3,5\n")
	v := Learn(in, false)
	assert.True(t, encode.Simple(v.Columns))
	assert.Empty(t, v.Lines())
	a, b := encode.Plain("a"), encode.Plain("b")
	a.Range, b.Range = &[2]float64{1, 3}, &[2]float64{2, 5}
	assert.Equal(t, []Column{a, b}, v.Columns)
	assert.Equal(t, []float64{1, 2, 3, 5}, Encode(v.Columns, []int{0, 1}, in.Data).X.Data)
	v = Learn(in, true) // new data may have gaps
	assert.False(t, encode.Simple(v.Columns))
	assert.Equal(t, 2, encode.Width(v.Columns))
	assert.Empty(t, v.Lines())
}

// TestLeaveOut leaves out what says nothing of the samples.
func TestLeaveOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("zero,one,user_id,name,street,k,word,none,x,x again,kind,kind again,late\n")
	for i := range 12 {
		fmt.Fprintf(&b, "%d,%d,%d,n%d,s%d,7,same,,%g,%g,%c,%c,%d\n", i, i+1, 100-i*i, i, i*2/3, float64(i*i%5)/2, float64(i*i%5)/2, 'a'+i%2, 'a'+i%2, i+2)
	}
	in := read(t, b.String())
	v := Learn(in, false)
	assert.Equal(t, []string{"x", "kind=a", "kind=b", "late"}, encode.Features(v.Columns))
	assert.Equal(t, []string{
		"kind is text: 2 columns of 0 and 1 (a, b)",
		"left out: zero, one (counts the rows)",
		"left out: user_id (an id by its name, and different in every row)",
		"warning: nothing is learned from name (text that is different in every row)",
		"warning: nothing is learned from street (text that is different in most rows (8 of 12))",
		"left out: k (always 7)",
		"left out: word (always same)",
		"left out: none (empty)",
		"left out: x again (the same as x)",
		"left out: kind again (the same as kind)",
	}, v.Lines())

	// Columns that were named stay, but for empty ones.
	for k := range in.Named {
		in.Named[k] = true
	}
	v = Learn(in, false)
	assert.Len(t, v.Columns, 12)
	assert.Equal(t, []LeftOut{{"none", "empty"}}, v.Left)

	// So does a count where there is nothing else, and what is too short to be one.
	in = read(t, "n,k\n"+"1,5\n2,5\n3,5\n4,5\n5,5\n6,5\n7,5\n8,5\n9,5\n10,5\n")
	v = Learn(in, false)
	assert.Equal(t, []string{"n"}, encode.Features(v.Columns))
	assert.Equal(t, []LeftOut{{"k", "always 5"}}, v.Left)
	v = Learn(read(t, "n,x\n1,5\n2,7\n3,6\n"), false)
	assert.Empty(t, v.Left)
	v = Learn(read(t, "k\n5\n5\n"), false)
	assert.Nil(t, v.At)
}

// TestProse distinguishes text of several words, which kernels of strings compare, from names.
func TestProse(t *testing.T) {
	var b strings.Builder
	b.WriteString("name,review,x\n")
	for i := range 12 {
		fmt.Fprintf(&b, "Ann Lee %d,the food number %d was good,%d\n", i, i, i*i)
	}
	v := Learn(read(t, b.String()), false)
	assert.Equal(t, []string{"review"}, v.Prose)
	assert.Len(t, v.Left, 2)
}

// TestManyTexts names columns of text that become many columns of 0 and 1, unless they stay one.
func TestManyTexts(t *testing.T) {
	var b strings.Builder
	b.WriteString("shop,kind\n")
	for i := range 120 {
		fmt.Fprintf(&b, "s%d,k%d\n", i%40, i%5)
	}
	in := read(t, b.String())
	assert.Equal(t, []string{"shop"}, Learn(in, true).Many)
	in.Text = Category
	assert.Empty(t, Learn(in, true).Many)
}

func TestManyLines(t *testing.T) {
	var v View
	for i := range 20 {
		v.Columns = append(v.Columns, Column{Name: fmt.Sprint("c", i), Type: table.Boolean})
		v.Left = append(v.Left, LeftOut{fmt.Sprint("l", i), "why"})
	}
	lines := v.Lines()
	assert.Len(t, lines, 14)
	assert.Equal(t, "… and 8 columns more that are not plain numbers", lines[12])
	assert.Equal(t, "left out: l0, l1, l2, l3, l4, … 20 in all (why)", lines[13])
}
