package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
	"github.com/bmkl/bmkl/internal/testkit"
)

// houses is 40 rows as they come: an index, an id, two columns of one name, text, a date, a
// boolean, a constant, cells without a value, and the price, which all but the first two and the constant tell.
func houses() string {
	var b strings.Builder
	b.WriteString("row,id,area,city,built,garden,country,area,price\n")
	for i := range 40 {
		area, city := 50+math.Mod(float64(i*37), 90), []string{"Ulm", "Bonn", "Jena"}[i%3]
		price := 3*area + map[string]float64{"Ulm": 50, "Jena": -80}[city] + 40*float64(i%2) + math.Mod(float64(i*i), 5)
		cell, old := number(area), number(math.Mod(float64(i*29), 7))
		if i%13 == 5 {
			cell = "NA"
		}
		fmt.Fprintf(&b, "%d,h%d,%s,%s,20%d-05-01,%s,DE,%s,%s\n", i+1, 100+i, cell, city, 10+i%10, []string{"no", "yes"}[i%2], old, number(price))
	}
	return b.String()
}

const housesSays = `d.csv: several columns of one name: the second area is called area.2
`

// TestDataAsTheyCome fits and predicts a table with all that a table may have, under each value of -missing.
func TestDataAsTheyCome(t *testing.T) {
	files := map[string]string{"d.csv": houses()}
	status, _, stderr := command(t, files, "", "fit", "d.csv", "-target", "price", "-missing", "refuse")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: d.csv: row 6 (line 7), column 3 \"area\": the cell is empty: "+
		"-missing impute fills in what is missing, -missing drop leaves out such rows (3 of 40)\n", stderr)

	says := `plan: city is text: 3 columns of 0 and 1 (Bonn, Jena, Ulm)
plan: built is a date: days since 1970
plan: garden is yes or no: 1 and 0
plan: left out: row (counts the rows)
plan: warning: nothing is learned from id (text that is different in every row)
plan: left out: country (always DE)
task: regression (column price has numbers)
`
	status, stdout, stderr := command(t, nil, "", "fit", "d.csv", "-target", "price", "-missing", "drop", "-o", "d")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, housesSays+"3 of 40 rows left out, where something is missing: d.csv: row 6 (line 7), column 3 \"area\": the cell is empty\n"+says, stderr)
	assert.Contains(t, stdout, "d.csv: 37 samples, ")

	impute := strings.Replace(says, "plan: city", "plan: area is numbers, 96 where missing, and a column of 0 and 1 that says where\nplan: city", 1)
	status, stdout, stderr = command(t, nil, "", "fit", "d.csv", "-target", "price", "-o", "i")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, housesSays+impute, stderr)
	assert.Contains(t, stdout, "d.csv: 40 samples, ")
	status, stdout, stderr = command(t, nil, "", "inspect", "i")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "view area, city, built, garden, area.2\n  area is numbers, 96 where missing")
	assert.Contains(t, stdout, "  left out: row (counts the rows)\n")
	var kept struct{ Inputs []notes.View }
	status, stdout, _ = command(t, nil, "", "inspect", "i", "-json")
	require.Equal(t, console.StatusOK, status)
	require.NoError(t, json.Unmarshal([]byte(stdout), &kept))
	assert.Equal(t, []string{"Bonn", "Jena", "Ulm"}, kept.Inputs[0].Plan[1].Categories)

	// A model without imputation leaves the cells of a row empty that it cannot predict.
	status, stdout, stderr = command(t, nil, "", "predict", "d", "d.csv", "-id", "id")
	require.Equal(t, console.StatusOK, status)
	assert.Equal(t, "mkl: warning: 3 of 40 rows cannot be predicted, the first: d.csv: row 6 (line 7), column 3 \"area\": the cell is empty\n", stderr)
	lines := strings.Split(stdout, "\n")
	require.Len(t, lines, 42)
	assert.Equal(t, "h105,,,,", lines[6])
	assert.NotContains(t, lines[7], ",,")
	status, stdout, stderr = command(t, nil, "", "predict", "i", "d.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Empty(t, stderr)
	assert.NotContains(t, stdout, ",,")

	// The same file without the columns that were left out, in another order, with a town that is new and a slip.
	status, stdout, stderr = command(t, nil, "garden,built,city,area.2,area\nyes,2012-05-01,Ulm,3,71\nno,2012-05-01,Rom,3,71\nno,2012-05-01,Ulm,3,71m2\n", "predict", "d", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, "mkl: warning: column city: 1 cell of categories that the fit had not seen, the first \"Rom\": they count as none\n"+
		"mkl: warning: 1 of 3 rows cannot be predicted, the first: standard input: row 3 (line 4), column 5 \"area\": \"71m2\" is not a number\n", stderr)
	assert.Regexp(t, `(?s)^mean,sd,lower,upper\n[0-9.,-]+\n[0-9.,-]+\n,,,\n$`, stdout)
	status, _, stderr = command(t, nil, "garden,built,city,area.2,area\nyes,2012-05-01,Ulm,3,\n", "predict", "d", "-")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: none of 1 row can be predicted: standard input: row 1 (line 2), column 5 \"area\": the cell is empty\n", stderr)

	// What cannot be predicted is not measured.
	status, stdout, stderr = command(t, nil, "", "evaluate", "d", "d.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "regression, 37 samples that the model was fitted to")
}

// TestCategories learns columns of text by kernels of categories, by the flag and by views.
func TestCategories(t *testing.T) {
	testkit.NotShort(t)
	files := map[string]string{"d.csv": houses()}
	few := []string{"-missing", "impute", "-model", "mgp", "-sweeps", "30"}
	status, stdout, stderr := command(t, files, "", append([]string{"fit", "d.csv", "-target", "price", "-text", "category", "-view", "*:rbf", "-o", "c"}, few...)...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "plan: city is text: 3 categories, equal or not (Bonn, Jena, Ulm)\n")
	assert.Regexp(t, `(?m)^ +\S+ .* rbf\(`, stdout)
	assert.Contains(t, stdout, "categorical(width=")
	status, stdout, _ = command(t, nil, "", "inspect", "c")
	require.Equal(t, console.StatusOK, status)
	assert.Contains(t, stdout, "  city is text: 3 categories, equal or not (Bonn, Jena, Ulm)\n")

	// A town that is new agrees with none: the prediction is the less certain.
	rows := "area,city,built,garden,area.2\n71,Ulm,2012-05-01,yes,3\n71,Rom,2012-05-01,yes,3\n"
	status, stdout, stderr = command(t, nil, rows, "predict", "c", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, "mkl: warning: column city: 1 cell of categories that the fit had not seen, the first \"Rom\": they count as none\n", stderr)
	lines := strings.Split(stdout, "\n")
	var sd [2]float64
	for i := range sd {
		var err error
		sd[i], err = strconv.ParseFloat(strings.Split(lines[1+i], ",")[1], 64)
		require.NoError(t, err)
	}
	assert.Greater(t, sd[1], 3*sd[0])

	// In a view of kernels of categories alone every column is one, also of numbers; beside others, text.
	status, stdout, stderr = command(t, nil, "", append([]string{"fit", "d.csv", "-target", "price", "-view", "kinds=city,garden,area.2:categorical,constant", "-view", "all=area,city:rbf,categorical(overlap)"}, few...)...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "plan: garden is text: 2 categories, equal or not (no, yes)\nplan: area.2 is text: 7 categories, ")
	assert.Contains(t, stdout, "categorical(overlap)")

	status, stdout, stderr = command(t, nil, "", "cv", "d.csv", "-target", "price", "-text", "category", "-models", "mgp,spikeslab", "-folds", "3", "-missing", "impute", "-sweeps", "20")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "spikeslab")
	status, _, stderr = command(t, nil, "", "report", "c", "-data", "d.csv", "-o", "c.html")
	require.Equal(t, console.StatusOK, status, stderr)

	for _, c := range []struct{ args, want string }{
		{"-text category -model spikeslab", "-text is not for -task regression with -model spikeslab (it is for -model auto, -model bmkl, -model mgp and -model landmarks)"},
		{"-missing drop -view area:rbf,categorical", "categorical(width=mean) is of categories, and no column is text: -as COLUMN=text makes one"},
		{"-missing drop -view city:rbf,categorical", "all columns are categories, and rbf(width=mean) is not of categories"},
		{"-text codes", `must be one of "auto","onehot","category"`},
	} {
		status, _, stderr = command(t, nil, "", append([]string{"fit", "d.csv", "-target", "price"}, strings.Fields(c.args)...)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Contains(t, stderr, c.want, c.args)
	}
}

// TestDataManual holds docs/guide/data.md to the types and the flags that there are.
func TestDataManual(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "data.md"))
	require.NoError(t, err)
	for _, typ := range table.Types {
		assert.Contains(t, string(manual), "`"+string(typ)+"`")
	}
	for _, flag := range []string{"`-missing`", "`refuse`", "`drop`", "`impute`", "`-as COLUMN=TYPE`", "`none`", "`-join COLUMN`", "`-missing-targets`"} {
		assert.Contains(t, string(manual), flag)
	}
}

// TestAs overrides what the cells say of columns.
func TestAs(t *testing.T) {
	files := map[string]string{"d.csv": houses(), "e.csv": "p,q\n1,2\n3,4\n"}
	status, _, stderr := command(t, files, "", "fit", "d.csv", "-target", "price", "-missing", "drop", "-time", "1ns",
		"-as", "row=number", "-as", "built=none", "-as", "garden=text", "-as", "id=none", "-as", "area.2=text")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, housesSays+`3 of 40 rows left out, where something is missing: d.csv: row 6 (line 7), column 3 "area": the cell is empty
plan: city is text: 3 columns of 0 and 1 (Bonn, Jena, Ulm)
plan: garden is text: 2 columns of 0 and 1 (no, yes)
plan: area.2 is text: 7 columns of 0 and 1 (0, 1, 2, 3, 4, … 7 in all)
plan: left out: id, built (by -as)
plan: left out: country (always DE)
task: regression (column price has numbers)
`, stderr)
	for _, c := range []struct{ args, want string }{
		{"-as row", "-as row: COLUMN=TYPE is needed"},
		{"-as row=word", "-as row=word: a type is none or one of [number boolean date date(d.m.y) date(d/m/y) date(m/d/y) text]"},
		{"-as x=text", `-as x=text: d.csv: no column "x" (there are row, id, area, city, built, garden, country, area.2, … 9 in all)`},
		{"-as price=text", "-as price=text: the column is a target: -task says what is learned of it"},
		{"-as city=text -view area", "-as city=text: the column is in no view"},
		{"-as city,x=none -view area", `-as city,x=none: d.csv: no column "x" (there are row, id, area, city, built, garden, country, area.2, … 9 in all)`},
		{"-as x=none -view a=area -view b=@e.csv", `-as x=none: d.csv: no column "x" (there are row, id, area, city, built, garden, country, area.2, … 9 in all); e.csv: no column "x" (there are p, q)`},
		{"-as p,q=none -view a=area -view b=@e.csv", `-as leaves the view "b" without columns`},
		{"-as *=none", "-as leaves the view of the model without columns"},
		{"-as city=number", `d.csv: row 1 (line 2), column 4 "city": "Ulm" is not a number: -as 'city=text' reads the whole column as text`},
		{"-as built=date(d.m.y)", `d.csv: row 1 (line 2), column 5 "built": "2010-05-01" is not a date(d.m.y)`},
		{"-view country -missing maybe", `-missing must be one of "impute","drop","refuse","views" but got "maybe"`},
	} {
		status, _, stderr := command(t, nil, "", append([]string{"fit", "d.csv", "-target", "price"}, strings.Fields(c.args)...)...)
		assert.Equal(t, console.StatusInput, status, c.args)
		assert.Equal(t, "mkl: "+c.want+"\n", stderr)
	}
}

// TestAsOfNoView leaves out columns that no view has: of the table whose views are in other files, another target, and
// columns of several files at once.
func TestAsOfNoView(t *testing.T) {
	var y, x strings.Builder
	y.WriteString("a,b,id\n")
	x.WriteString("u,v,z\n")
	for i := range 20 {
		fmt.Fprintf(&y, "%d,%d,%d\n", 2*i%7, i%5, i)
		fmt.Fprintf(&x, "%d,%d,%d\n", i%7, i*i%11, i%3)
	}
	files := map[string]string{"y.csv": y.String(), "x.csv": x.String()}
	for _, args := range []string{
		"-target a -model mgp -kernels linear -view x=@x.csv -as b=none -as id=none -as z=none",
		"-target a -model mgp -kernels linear -view x=@x.csv -as b,id,z=none",
		"-target a,b -task multioutput -kernels linear -view x=@x.csv -as b=none -as z=none",
	} {
		status, _, stderr := command(t, files, "", append([]string{"fit", "y.csv"}, strings.Fields(args)...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stderr, "plan: left out: z (by -as)\n", args)
	}
	status, _, stderr := command(t, files, "", "explore", "y.csv", "-target", "a", "-as", "a=none")
	assert.Equal(t, console.StatusOK, status, stderr)
	status, _, stderr = command(t, files, "", "fit", "y.csv", "-target", "a", "-view", "x=@x.csv", "-as", "b,c=none")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: -as b,c=none: y.csv: no column \"c\" (there are a, b, id); x.csv: no column \"c\" (there are u, v, z)\n", stderr)
}

// TestColumnsOfOneName predicts from the file that was fitted.
func TestColumnsOfOneName(t *testing.T) {
	text := strings.Replace(line(), "id,x,z,noise,y", "id,x,x,noise,y", 1)
	status, _, stderr := command(t, map[string]string{"d.csv": text}, "", "fit", "d.csv", "-target", "y", "-view", "x*", "-model", "mgp", "-kernels", "linear", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "d.csv: several columns of one name: the second x is called x.2\n")
	assert.Less(t, measured(t, "d.csv")["RMSE/SD"], 0.5)
}

// TestJoin fits and predicts files whose rows belong together by a column.
func TestJoin(t *testing.T) {
	var x, z, y strings.Builder
	x.WriteString("who,x\n")
	z.WriteString("z,who\n")
	y.WriteString("who,y\n")
	for i := range 24 {
		k := (7 * i) % 24
		fmt.Fprintf(&x, "p%d,%d\n", k, k*k%11)
		fmt.Fprintf(&z, "%d,p%d\n", i*5%13, i)
		fmt.Fprintf(&y, "p%d,%d\n", i, 2*(i*i%11)+i*5%13)
	}
	z.WriteString("99,nobody\n")
	files := map[string]string{"x.csv": x.String(), "z.csv": z.String(), "y.csv": y.String()}
	fit := strings.Fields("fit y.csv -target y -task regression -model mgp -join who -view a=@x.csv:linear -view b=@z.csv:linear -o m")
	status, stdout, stderr := command(t, files, "", fit...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "24 samples, 2 kernels in 2 views")
	predict := func(args ...string) []string {
		status, stdout, stderr := command(t, nil, "", append(strings.Fields("predict m y.csv -view a=@x.csv -view b=@z.csv -id who"), args...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		return strings.Split(stdout, "\n")
	}
	for i, line := range predict()[1:25] {
		var mean float64
		_, err := fmt.Sscanf(line, fmt.Sprintf("p%d,%%g,", i), &mean)
		require.NoError(t, err, line)
		assert.InDelta(t, float64(2*(i*i%11)+i*5%13), mean, 0.2)
	}

	// A row without a partner.
	require.NoError(t, os.WriteFile("z.csv", []byte(strings.Replace(z.String(), ",p4\n", ",p44\n", 1)), 0o600))
	status, _, stderr = command(t, nil, "", append(fit, "-missing", "refuse")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: y.csv: row 5 (line 6), column 1 \"who\": z.csv has no row for \"p4\": "+
		"-missing impute fills in what is missing, -missing drop leaves out such rows (1 of 24)\n", stderr)
	assert.Equal(t, "p4,,,,", predict()[5])
	status, stdout, stderr = command(t, nil, "", append(fit, "-missing", "drop")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "23 samples")

	require.NoError(t, os.WriteFile("z.csv", []byte(strings.Replace(z.String(), ",p4\n", ",p5\n", 1)), 0o600))
	status, _, stderr = command(t, nil, "", fit...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `"p5" is there twice: -join needs one row for each`)
	status, _, stderr = command(t, nil, "", append(fit, "-join", "z")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `-join: y.csv: no column "z"`)
}

// TestOrder refuses a file whose rows have the names of another file's rows in another order.
func TestOrder(t *testing.T) {
	rows := func(title string, order []int, name string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%s\n", title)
		for _, k := range order {
			fmt.Fprintf(&b, name+",%d\n", k, k*k%11)
		}
		return b.String()
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	swapped := []int{0, 1, 2, 4, 3, 5, 6, 7, 8, 9, 10, 11}
	const wrong = ": rows in the same place are the same sample, unless -join "
	for _, c := range []struct{ name, main, other, want string }{
		{"same order", rows("who,y", order, "p%d"), rows("who,x", order, "p%d"), ""},
		{"another order", rows("who,y", order, "p%d"), rows("who,x", swapped, "p%d"),
			`x.csv: row 4 (line 5), column 1 "who": "p4" where y.csv has "p3"` + wrong + "who matches rows by their names"},
		{"numbers, and a name of two words", rows("the id,y", order, "%d"), rows("the id,x", swapped, "%d"),
			`x.csv: row 4 (line 5), column 1 "the id": "4" where y.csv has "3"` + wrong + `"the id" matches rows by their names`},
		{"fewer rows", rows("who,y", order, "p%d"), rows("who,x", order[1:], "p%d"), "y.csv has 12 rows, x.csv has 11: -join who matches rows by their names"},
		{"fewer rows without names", rows("who,y", order, "p%d"), rows("v,x", order[1:], "p%d"), "y.csv has 12 rows, x.csv has 11"},
		{"other names", rows("when,y", order, "p%d"), rows("when,x", swapped, "q%d"), ""},
		{"no rows", rows("who,y", order, "p%d"), rows("who,x", nil, "p%d"), "y.csv has 12 rows, x.csv has 0"},
		{"times, one step later", rows("when,y", order, "%d"), rows("when,x", append(slices.Clone(order[1:]), 12), "%d"), ""},
		{"names, one row later", rows("who,y", order, "p%d"), rows("who,x", append(slices.Clone(order[1:]), 12), "p%d"),
			`x.csv: row 1 (line 2), column 1 "who": "p1" where y.csv has "p0"` + wrong + "who matches rows by their names"},
		{"names that are there twice", rows("who,y", order, "p%d"), rows("who,x", []int{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, "p%d"), ""},
		{"another column", rows("who,y", order, "p%d"), rows("whom,x", swapped, "p%d"), ""},
	} {
		files := map[string]string{"y.csv": c.main, "x.csv": c.other}
		status, _, stderr := command(t, files, "", strings.Fields("fit y.csv -target y -task regression -model mgp -view x=@x.csv -o m")...)
		if c.want == "" {
			assert.Equal(t, console.StatusOK, status, c.name+": "+stderr)
			continue
		}
		assert.Equal(t, console.StatusInput, status, c.name)
		assert.Equal(t, "mkl: "+c.want+"\n", stderr, c.name)
	}

	// A model of rows in the same order, and a file for predictions that has another one.
	files := map[string]string{"y.csv": rows("who,y", order, "p%d"), "x.csv": rows("who,x", order, "p%d"), "z.csv": rows("who,x", swapped, "p%d")}
	status, _, stderr := command(t, files, "", strings.Fields("fit y.csv -target y -task regression -model mgp -view x=@x.csv -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, _, stderr = command(t, nil, "", strings.Fields("predict m y.csv -view x=@z.csv")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `"p4" where y.csv has "p3"`)
}

// TestPrecomputed predicts by a kernel that is given, with the kernel of each sample with itself in a column
// that the fit did not have, and refuses a table that is not square.
func TestPrecomputed(t *testing.T) {
	var y, square, wide strings.Builder
	for i := range 12 {
		fmt.Fprintf(&y, "%d\n", i*i%7)
		for j := range 12 {
			comma := ","
			if j == 11 {
				comma = ""
			}
			k := 2 * math.Exp(-math.Abs(float64(i-j))/3)
			fmt.Fprintf(&square, "%g%s", k, comma)
			fmt.Fprintf(&wide, "%g,", k)
		}
		square.WriteByte('\n')
		wide.WriteString("2\n")
	}
	lines := strings.SplitAfter(square.String(), "\n")
	files := map[string]string{"y.csv": y.String(), "two.csv": lines[3] + lines[5], "k.csv": square.String(), "wide.csv": wide.String()}
	status, _, stderr := command(t, files, "", strings.Fields("fit y.csv -target #1 -model mgp -view k=@k.csv:precomputed -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	status, stdout, stderr := command(t, nil, "", strings.Fields("predict m -view k=@wide.csv")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, 13, strings.Count(stdout, "\n"))
	status, own, stderr := command(t, nil, "", strings.Fields("predict m -view k=@k.csv")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, stdout, own, "a symmetric matrix is of the samples of the fit")
	status, _, stderr = command(t, nil, "", strings.Fields("predict m -view k=@two.csv")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "mkl: view \"k\": two.csv lacks the column k_self, the kernel of each row with itself, k(x, x): predictions need it")
	status, _, stderr = command(t, nil, "", strings.Fields("fit y.csv -target #1 -model mgp -view k=@wide.csv:precomputed")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: view \"k\": wide.csv has 12 rows and 13 columns: a kernel or distance that is given has a column for each training sample, "+
		"unless the setting basis says that there are some only, as in precomputed(basis)\n", stderr)
}

// The columns of a kernel that is given need not be named again, in whatever order a table has them: the model knows them, and the column of
// the kernel of each row with itself has the view's name.
func TestPrecomputedByName(t *testing.T) {
	var train, wide, lacking strings.Builder
	names := []string{"y"}
	for i := range 12 {
		names = append(names, fmt.Sprintf("k%d", i))
	}
	train.WriteString(strings.Join(names, ",") + "\n")
	wide.WriteString("k_self," + strings.Join(names[1:], ",") + "\n")
	lacking.WriteString(strings.Join(names[1:], ",") + "\n")
	for i := range 12 {
		row := make([]string, 12)
		for j := range row {
			row[j] = fmt.Sprint(3 * math.Exp(-math.Abs(float64(i-j))/3))
		}
		fmt.Fprintf(&train, "%d,%s\n", i*i%7, strings.Join(row, ","))
		fmt.Fprintf(&wide, "3,%s\n", strings.Join(row, ","))
		if i < 5 {
			fmt.Fprintf(&lacking, "%s\n", strings.Join(row, ","))
		}
	}
	files := map[string]string{"train.csv": train.String(), "wide.csv": wide.String(), "lacking.csv": lacking.String()}
	status, _, stderr := command(t, files, "", "fit", "train.csv", "-target", "y", "-task", "regression", "-model", "mgp", "-view", "k=k*:precomputed", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	status, own, stderr := command(t, nil, "", "predict", "m", "wide.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	status, named, stderr := command(t, nil, "", "predict", "m", "wide.csv", "-view", "k=k0..k11,k_self")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, named, own)
	status, file, stderr := command(t, nil, "", "predict", "m", "-view", "k=@wide.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, named, file)
	status, _, stderr = command(t, nil, "", "predict", "m", "lacking.csv")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `view "k": lacking.csv lacks the column k_self, the kernel of each row with itself, k(x, x)`)
}

// TestTargets says what is odd about targets.
func TestTargets(t *testing.T) {
	testkit.NotShort(t)
	var b strings.Builder
	b.WriteString("name,grade,code,rare,word,gap,x\n")
	for i := range 130 {
		rare := "ab"[i%2 : i%2+1]
		if i == 7 {
			rare = "c"
		}
		gap := fmt.Sprint(i % 3)
		if i == 9 {
			gap = ""
		}
		fmt.Fprintf(&b, "n%d,%d,%d,%s,%s,%s,%d\n", i, i%3, i%60, rare, []string{"low", "high", "mid"}[i%3], gap, i%3*10+i%7)
	}
	files := map[string]string{"d.csv": b.String()}
	fit := func(args string) (int, string) {
		status, _, stderr := command(t, files, "", append(strings.Fields("fit d.csv -view x"), strings.Fields(args)...)...)
		return status, stderr
	}
	status, stderr := fit("-target name")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: d.csv: column \"name\" has 130 labels in 130 rows: it seems to name the samples (-task multiclass learns its labels nevertheless)\n", stderr)
	status, stderr = fit("-target word -task regression")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: d.csv: row 1 (line 2), column 5 \"word\": \"low\" is not a number: -task binary or multiclass learns text, and -na 'low' takes such cells for empty\n", stderr)
	status, stderr = fit("-target word,rare")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, `"low" is not a number: -task binary or multiclass learns one column of text, and -task multilabel`)
	status, stderr = fit("-target gap -missing refuse")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: d.csv: row 10 (line 11), column 6 \"gap\": the cell is empty: -missing impute or drop leaves out rows without a target\n", stderr)

	status, stderr = fit("-target grade -time 1ns")
	assert.Equal(t, console.StatusOK, status)
	assert.Contains(t, stderr, "column grade: 3 different whole numbers: -task multiclass learns them as classes, -task ordinal as grades\n")
	status, stderr = fit("-target code -task multiclass -model probit -sweeps 3")
	assert.Equal(t, console.StatusOK, status)
	assert.Contains(t, stderr, "column code: 60 classes that are numbers: -task regression learns them as quantities\n")
	for _, model := range []string{"auto -time 1ns", "mgp", "probit -sweeps 20", "bmkl -sweeps 20"} {
		status, stderr = fit("-target rare -model " + model)
		assert.Equal(t, console.StatusOK, status, model)
		assert.Contains(t, stderr, "column rare: 1 class of one sample (c): what is predicted of such a class is little more than a guess\n", model)
	}
	status, stderr = fit("-target gap -time 1ns")
	assert.Equal(t, console.StatusOK, status)
	assert.Contains(t, stderr, "1 of 130 rows left out, where something is missing: d.csv: row 10 (line 11), column 6 \"gap\": the target is missing\n")
}

// TestFormats fits and predicts from other files than text with names.
func TestFormats(t *testing.T) {
	text, err := os.ReadFile("../internal/table/testdata/houses.xlsx.base64")
	require.NoError(t, err)
	houses, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(string(text), "\n", ""))
	require.NoError(t, err)
	var svm, packed bytes.Buffer
	for i := range 30 {
		fmt.Fprintf(&svm, "%d 1:%d.%02d", i%2*2-1, 3*(i%2)+i%4, i) // no row is a copy
		if i%5 > 0 {
			fmt.Fprintf(&svm, " 3:%d # of sample %d", i%5, i)
		}
		svm.WriteByte('\n')
	}
	w := gzip.NewWriter(&packed)
	_, err = w.Write([]byte("# measured\n# in May\n" + line()))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	files := map[string]string{"d.svm": svm.String(), "d.csv.gz": packed.String(), "short.svm": "1 1:5\n-1 1:0\n", "book.xlsx": "PK\x03\x04"}
	status, stdout, stderr := command(t, files, "", "fit", "d.svm", "-target", "label", "-time", "1ns", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, "plan: left out: column 2 (always 0)\ntask: binary (column label is -1 or 1)\n", stderr)
	assert.Contains(t, stdout, "d.svm: 30 samples")
	status, stdout, stderr = command(t, nil, "", "predict", "m", "short.svm")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, 3, strings.Count(stdout, "\n"))

	status, stdout, stderr = command(t, nil, "", "fit", "d.csv.gz", "-target", "y", "-time", "1ns", "-o", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "d.csv.gz: 24 samples")
	assert.Equal(t, "plan: warning: nothing is learned from id (text that is different in every row)\ntask: regression (column y has numbers)\n", stderr)
	status, _, stderr = command(t, nil, "", "evaluate", "m", "d.csv.gz")
	require.Equal(t, console.StatusOK, status, stderr)

	status, _, stderr = command(t, nil, "", "fit", "book.xlsx", "-target", "y")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: book.xlsx: zip: not a valid zip file\n", stderr)

	status, stdout, stderr = command(t, map[string]string{"h.xlsx": string(houses)}, "", strings.Fields("fit h.xlsx -target price -view share:rbf -model mgp -sweeps 2 -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "h.xlsx: the sheet Houses is read (-sheet names another: there are Houses, Notes)\n")
	assert.Contains(t, stdout, "h.xlsx: 3 samples")
	status, stdout, stderr = command(t, nil, "", "predict", "m", "h.xlsx", "-sheet", "Houses")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, 4, strings.Count(stdout, "\n"))
	assert.Empty(t, stderr)
	status, _, stderr = command(t, nil, "", "predict", "m", "h.xlsx", "-sheet", "Nots")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: h.xlsx: no sheet \"Nots\": there are Houses, Notes\n", stderr)
}

// TestCVOfMissingViews compares the scores of folds with fits to the rows of the other fold, of files of their own. A candidate of one
// view learns from the rows that have it, and predicts the others from the targets it has seen.
func TestCVOfMissingViews(t *testing.T) {
	const header = "a1,a2,b,half,y\n"
	rng := rand.New(rand.NewPCG(3, 2))
	var all, has strings.Builder // all rows, and the rows of the first half that have the view right
	halves := [2]strings.Builder{}
	for i := range 40 {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		left, right := fmt.Sprintf("%g,%g", u, u*u), fmt.Sprintf("%g", v)
		switch {
		case i%5 == 1:
			left = ","
		case i%4 == 2:
			right = ""
		}
		line := fmt.Sprintf("%s,%s,h%d,%g\n", left, right, i%2, 5+2*u+v+0.1*rng.NormFloat64())
		all.WriteString(line)
		halves[i%2].WriteString(line)
		if i%2 == 0 && right != "" {
			has.WriteString(line)
		}
	}
	first := map[string]string{"all.csv": header + all.String(), "0.csv": header + halves[0].String(), "1.csv": header + halves[1].String(), "has.csv": header + has.String()}
	run := func(line string, out any) string {
		t.Helper()
		status, stdout, stderr := command(t, first, "", append(strings.Fields(line), "-json")...)
		first = nil
		require.Equal(t, console.StatusOK, status, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), out))
		return stderr
	}
	both := " -target y -missing views -view left=a1,a2:rbf(width=1) -view right=b:linear "
	var cv, views ranking.Comparison
	stderr := run("cv all.csv -folds 2 -group half -models mgp"+both, &cv)
	assert.Contains(t, stderr, `view "right": 8 of 40 rows lack it`)
	require.Len(t, cv.Candidates, 3)
	run("cv all.csv -folds 2 -group half -models mgp -views"+both, &views)
	candidates := map[string]ranking.Candidate{}
	for _, c := range append(cv.Candidates, views.Candidates...) {
		candidates[c.Name] = c
	}
	right := " -target y -missing views -view right=b:linear "
	for _, c := range []struct{ name, fit string }{
		{"mgp", "fit 0.csv" + both}, {"all views", "fit 0.csv" + both}, {"right alone", "fit has.csv" + right},
	} {
		var made any
		var measured struct {
			Measures []struct{ Values map[string]float64 }
		}
		run(c.fit+"-model mgp -o m", &made)
		run("evaluate m 1.csv", &measured)
		folds := candidates[c.name].ByFold
		require.Len(t, folds, 2, c.name)
		want := measured.Measures[0].Values["RMSE"]
		require.Positive(t, want)
		assert.Less(t, min(math.Abs(folds[0]["RMSE"]-want), math.Abs(folds[1]["RMSE"]-want)), 1e-9, c.name)
	}
}

// TestMissingViews learns from rows that lack views, and predicts such rows.
func TestMissingViews(t *testing.T) {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	b.WriteString("a1,a2,b,y,c\n")
	for i := range 60 {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		y := 2*u + 2*v + 0.1*rng.NormFloat64()
		class := "low"
		if y > 0 {
			class = "high"
		}
		first, second := fmt.Sprintf("%g,%g", u, u*u), fmt.Sprintf("%g", v)
		switch {
		case i%5 == 1:
			first = ",NA"
		case i%4 == 2:
			second = ""
		}
		fmt.Fprintf(&b, "%s,%s,%g,%s\n", first, second, y, class)
	}
	files := map[string]string{"m.csv": b.String(), "part.csv": "a1,a2,b,y\n1,2,3,4\n,1,2,3\n2,3,4,5\n", "none.csv": "a1,a2,b,y\n1,2,3,4\n2,3,,4\n,,,3\n2,3,4,5\n"}
	views := []string{"-view", "left=a1,a2:rbf(width=1)", "-view", "right=b:linear", "-missing", "views"}
	first := files // the files of the first command stay
	run := func(args ...string) (stdout, stderr string) {
		t.Helper()
		status, stdout, stderr := command(t, first, "", args...)
		first = nil
		require.Equal(t, console.StatusOK, status, stderr)
		return stdout, stderr
	}
	for _, model := range []string{"bmkl", "mgp"} {
		_, stderr := run(append([]string{"fit", "m.csv", "-target", "y", "-model", model, "-o", "m"}, views...)...)
		assert.Contains(t, stderr, `view "left": 12 of 60 rows lack it`)
		stdout, _ := run("predict", "m", "m.csv")
		var sd [3]float64 // of rows that have all views, and that lack the first or the second
		lines := strings.Split(strings.TrimSpace(stdout), "\n")[1:]
		require.Len(t, lines, 60)
		for i, line := range lines {
			v, err := strconv.ParseFloat(strings.Split(line, ",")[1], 64)
			require.NoError(t, err, line)
			switch {
			case i%5 == 1:
				sd[1] = max(sd[1], v)
			case i%4 == 2:
				sd[2] = max(sd[2], v)
			default:
				sd[0] = max(sd[0], v)
			}
		}
		assert.Greater(t, sd[1], 1.5*sd[0], "%s: predictions widen", model)
		assert.Greater(t, sd[2], 1.5*sd[0], "%s: predictions widen", model)
		stdout, _ = run(append([]string{"fit", "m.csv", "-target", "c", "-model", model, "-o", "c"}, views...)...)
		assert.Contains(t, stdout, " of c\n")
		run("evaluate", "c", "m.csv")
		run("report", "m", "-data", "m.csv", "-o", "m.html")
	}
	open := []string{"-view", "left=a1,a2", "-view", "right=b", "-missing", "views", "-seed", "1"}
	run(append([]string{"fit", "m.csv", "-target", "y", "-model", "bmkl", "-o", "m"}, open...)...)
	for _, target := range []string{"y", "c"} { // the default chooses kernels, and has the table of views
		stdout, _ := run(append([]string{"fit", "m.csv", "-target", target, "-json", "-o", "m"}, open...)...)
		var said struct {
			Views []struct {
				View      string
				Share, In float64
			}
		}
		require.NoError(t, json.Unmarshal([]byte(stdout), &said))
		require.Len(t, said.Views, 2)
		whole := 0.0
		for _, v := range said.Views {
			assert.Positive(t, v.Share, v.View)
			assert.Greater(t, v.In, 0.9, v.View)
			whole += v.Share
		}
		assert.LessOrEqual(t, whole, 1+1e-9)
		assert.Greater(t, whole, 0.9, "the shares add up to 1 less the probability of no view")
		run("predict", "m", "m.csv", "-views")
		run("evaluate", "m", "m.csv")
		run("report", "m", "-data", "m.csv", "-o", "m.html")
	}
	for line, want := range map[string]string{
		"fit part.csv -target y -model bmkl":   `part.csv: row 2 (line 3), column 1 "a1": a part of the view "left" is missing in this row: -missing views is for rows that lack a whole view and have another view`,
		"fit none.csv -target y -model bmkl":   `none.csv: row 3 (line 4), column 3 "b": every view is missing in this row: -missing views is for rows that lack a whole view and have another view`,
		"cv m.csv -target y -models landmarks": "-missing views is not for -task regression with -model landmarks",
		"cv none.csv -target y":                `none.csv: row 3 (line 4), column 3 "b": every view is missing in this row`,
	} {
		status, _, stderr := command(t, nil, "", append(strings.Fields(line), views...)...)
		assert.Equal(t, console.StatusInput, status, line)
		assert.Contains(t, stderr, want)
	}
}

// TestUnreadable takes texts among numbers of features for missing, and says so; texts that -na names are missing in targets too, and
// predictions read them as the fit did.
func TestUnreadable(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,z,y\n")
	for i := range 40 {
		z, y := fmt.Sprint(i*i%11), fmt.Sprint(i%7+i*i%11)
		switch i {
		case 7:
			z = "<5"
		case 11, 30:
			z = "-999"
		case 20:
			y = "lost"
		}
		fmt.Fprintf(&b, "%d,%s,%s\n", i%7, z, y)
	}
	fit := "fit u.csv -target y -model mgp -sweeps 5 -o m"
	files := map[string]string{"u.csv": b.String()}
	status, _, stderr := command(t, files, "", strings.Fields(fit)...)
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: u.csv: row 21 (line 22), column 3 \"y\": \"lost\" is not a number: "+
		"-task binary or multiclass learns text, and -na 'lost' takes such cells for empty\n", stderr)

	status, _, stderr = command(t, nil, "", strings.Fields(fit+" -na lost -na=-999")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "1 of 40 rows left out, where something is missing: u.csv: row 21 (line 22), column 3 \"y\": the target is missing\n")
	assert.Contains(t, stderr, "warning: 1 cell that cannot be read counts as missing; the first is u.csv: row 8 (line 9), column 2 \"z\": "+
		"\"<5\" is not a number (-as 'z=text' takes the column for text)\n")
	assert.Contains(t, stderr, "plan: z is numbers, ")
	status, stdout, stderr := command(t, nil, "x,z\n3,\n3,-999\n3,-9.99e2\n3,999\n", "predict", "m", "-")
	require.Equal(t, console.StatusOK, status, stderr)
	rows := strings.Split(stdout, "\n")
	assert.Equal(t, rows[1], rows[2])
	assert.Equal(t, rows[1], rows[3])
	assert.NotEqual(t, rows[1], rows[4])

	status, _, stderr = command(t, nil, "", strings.Fields(fit+" -na lost -na=-999 -missing refuse")...)
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "\"<5\" is not a number")
}
