package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
	"github.com/bmkl/bmkl/internal/testkit"
	"github.com/bmkl/bmkl/mkl"
)

// opinion is the answer of person i to question j, of two opinions that everybody has, in units of the question.
func opinion(i, j int) float64 {
	a, b := math.Cos(float64(3*i)), math.Sin(float64(5*i*i))
	noise := 0.1 * math.Sin(float64(7*i+11*j*j))
	return 10*float64(j) + float64(1+j*j)*(a*float64(1-j%2)+b*float64(j%2)+0.5*a*float64(j%3)+noise)
}

// answers are a table of the answers to six questions of persons from and before to; some answers are missing,
// with the person's name.
func answers(from, to int) string {
	var b strings.Builder
	b.WriteString("name,q1,q2,q3,q4,q5,q6\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "p%d", i)
		for j := range 6 {
			if (i+j*j)%5 == 0 {
				b.WriteString(",")
				continue
			}
			fmt.Fprintf(&b, ",%.4f", opinion(i, j))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// ratings are the same answers of forty persons as a list, those that are there or, for 0, those that are not.
func ratings(there int) string {
	var b strings.Builder
	b.WriteString("user,film,rating\n")
	for i := range 40 {
		for j := range 6 {
			if missing := (i+j*j)%5 == 0; missing == (there == 0) {
				fmt.Fprintf(&b, "p%d,film %d,%.4f\n", i, j, opinion(i, j)/float64(1+j*j))
			}
		}
	}
	return b.String()
}

// readCSV returns the rows of a table.
func readCSV(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	return rows
}

// floatOf reads a cell.
func floatOf(t *testing.T, cell string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(cell, 64)
	require.NoError(t, err)
	return v
}

// TestFactors fits a table with gaps, fills them, and computes the factors of rows, as the library does.
func TestFactors(t *testing.T) {
	testkit.NotShort(t)
	status, text, stderr := command(t, map[string]string{"s.csv": answers(0, 60), "new.csv": answers(60, 80)}, "",
		strings.Fields("fit s.csv -task factors -factors 4 -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "column name: it is not of numbers, and left out\n")
	assert.Contains(t, text, "s.csv: 60 rows, 6 columns, 288 entries (80.00 % of the table), factors\nconverged after ")
	assert.Regexp(t, `(?m)^2 of 4 factors active: share of the fitted power, columns by what a standard deviation of the factor adds$`, text)
	assert.Contains(t, text, "\nmodel: m\n")
	inspected := output(t, "inspect m")
	assert.Contains(t, inspected, "m: 60 rows, 6 columns, factors: q1, q2, q3, q4, q5, q6\nconverged")
	_, body, _ := strings.Cut(text, "\n")
	body, _, _ = strings.Cut(body, "\nmodel: ")
	assert.True(t, strings.HasSuffix(inspected, body))

	// What was missing is filled in with errors of the size of the standard deviation.
	completed := readCSV(t, output(t, "complete m s.csv -sd -id name"))
	original := readCSV(t, answers(0, 60))
	assert.Equal(t, "name q1 q1_sd q2 q2_sd q3 q3_sd q4 q4_sd q5 q5_sd q6 q6_sd", strings.Join(completed[0], " "))
	var scaled, filled float64
	for i, row := range completed[1:] {
		assert.Equal(t, original[i+1][0], row[0])
		for j := range 6 {
			cell, sd := row[1+2*j], row[2+2*j]
			if known := original[i+1][j+1]; known != "" {
				assert.Equal(t, floatOf(t, known), floatOf(t, cell))
				assert.Empty(t, sd)
				continue
			}
			d := (floatOf(t, cell) - opinion(i, j)) / floatOf(t, sd)
			scaled, filled = scaled+d*d, filled+1
			assert.Less(t, floatOf(t, sd), 0.5*float64(1+j*j), "no worse than a guess")
		}
	}
	assert.Greater(t, scaled/filled, 0.2)
	assert.Less(t, scaled/filled, 3.0)

	// New rows, and what the library makes of them, which sees the columns in their standard deviations.
	f, err := os.Open("m")
	require.NoError(t, err)
	defer f.Close()
	fit, err := mkl.LoadAs[*mkl.FactorAnalysisModel](f)
	require.NoError(t, err)
	var n notes.Notes
	require.NoError(t, json.Unmarshal([]byte(fit.Notes()[notes.Key]), &n))
	var y mkl.DenseTable
	for _, row := range readCSV(t, answers(60, 80))[1:] {
		var values []float64
		for j, cell := range row[1:] {
			v := math.NaN()
			if cell != "" {
				v = (floatOf(t, cell) - n.Table.Center[j]) / n.Table.Scale[j]
			}
			values = append(values, v)
		}
		y = append(y, values)
	}
	scores, variance, err := fit.Transform(y)
	require.NoError(t, err)
	transformed := readCSV(t, output(t, "transform m new.csv -sd -id name"))
	assert.Equal(t, "name factor1 factor1_sd", strings.Join(transformed[0][:3], " "))
	mean, moments, err := fit.CompleteRows(y)
	require.NoError(t, err)
	predicted := readCSV(t, output(t, "predict m new.csv"))
	assert.Equal(t, "q1_mean q1_sd q1_lower q1_upper", strings.Join(predicted[0][:4], " "))
	for i := range y {
		for k := range scores[i] {
			assert.Equal(t, scores[i][k], floatOf(t, transformed[i+1][1+2*k]))
			assert.Equal(t, math.Sqrt(variance[i][k]), floatOf(t, transformed[i+1][2+2*k]))
		}
		for j := range mean[i] {
			assert.InDelta(t, n.Table.Center[j]+n.Table.Scale[j]*mean[i][j], floatOf(t, predicted[i+1][4*j]), 1e-9)
			assert.InDelta(t, n.Table.Scale[j]*math.Sqrt(moments[i][j]), floatOf(t, predicted[i+1][4*j+1]), 1e-9)
		}
	}
	evaluated := output(t, "evaluate m new.csv")
	assert.Contains(t, evaluated, "factors, 20 rows\neach entry predicted from the others of its row\n\ntarget")
	assert.Contains(t, output(t, "evaluate m s.csv"), "factors, 60 rows that the model was fitted to: errors on new rows are larger\n")

	// A model that the library made has columns y1, y2, ….
	loaded, err := mkl.FactorAnalysis{Factors: 1, Ascent: mkl.Ascent{MaxSweeps: 5}}.Fit(t.Context(), mkl.DenseTable{{1, 2, 4}, {2, 4, 7}, {1, 1, 1}})
	require.NoError(t, err)
	out, err := os.Create("own")
	require.NoError(t, err)
	require.NoError(t, loaded.Save(out))
	require.NoError(t, out.Close())
	require.NoError(t, os.WriteFile("y.csv", []byte("y1,y2,y3\n1,,4\n"), 0o666))
	assert.Contains(t, output(t, "complete own y.csv"), "y1,y2,y3\n1,")
	assert.Contains(t, output(t, "inspect own"), "own: 3 rows, 3 columns, factors: y1, y2, y3\n")
}

// TestFactorsOfViews fits a table of two views, whose columns lie in any order, and prints what the factors explain of each.
func TestFactorsOfViews(t *testing.T) {
	testkit.NotShort(t)
	status, text, stderr := command(t, map[string]string{"s.csv": answers(0, 60), "new.csv": answers(60, 80)}, "",
		strings.Fields("fit s.csv -task factors -factors 4 -view odd=q1,q3,q5 -view even=q2,q4,q6 -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `(?m)^view +all +factor1 +factor2$`, text)
	assert.Regexp(t, `(?m)^odd +9\d\.\d +`, text)
	inspected := output(t, "inspect m")
	assert.Contains(t, inspected, "m: 60 rows, 6 columns, factors: q1, q3, q5, q2, q4, q6\n")
	assert.Regexp(t, `(?m)^view +all +factor1 +factor2$`, inspected)
	var told struct {
		Explained []mkl.ViewVariance `json:"variance_explained"`
	}
	require.NoError(t, json.Unmarshal([]byte(output(t, "inspect m -json")), &told))
	require.Len(t, told.Explained, 2)
	assert.Equal(t, "even", told.Explained[1].View)
	assert.Greater(t, told.Explained[1].All, 0.9)
	assert.Len(t, told.Explained[1].Factors, 4)
	assert.Equal(t, "q1_mean", readCSV(t, output(t, "predict m new.csv"))[0][0])
	assert.Contains(t, output(t, "complete m new.csv"), "q1,q3,q5,q2,q4,q6\n")

	for args, want := range map[string]string{
		"fit s.csv -task factors -view a=q1,q2 -view b=q2,q3": `-view b=q2,q3: column "q2" is in view "a" already`,
		"fit s.csv -task factors -view a=q1 -view a=q3":       `-view a=q3: another view is called "a"`,
		"fit s.csv -task factors -view a=q1:rbf":              "-view a=q1:rbf: -task factors has no kernels",
		"fit s.csv -task factors -view a=@new.csv":            "-view a=@new.csv: the views of -task factors are columns of one table",
		"fit s.csv -task factors -view a=q9":                  "q9",
		"fit s.csv -task factors -view q* -target q1":         "-view excludes -target: with -task factors it names the columns to learn",
		"fit s.csv -task factors -view a=q1,q2 -view b=n*":    `view "b": s.csv: no column of the view is of numbers`,
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, want, args)
	}
}

// TestFactorsOfKinds recognises views of 0 and 1 and of counts, predicts probabilities and mean counts, and refuses entries of
// another kind.
func TestFactorsOfKinds(t *testing.T) {
	var b strings.Builder
	b.WriteString("a1,a2,a3,m1,m2,m3,c1,c2,c3\n")
	for i := range 80 {
		z := 2 * math.Sin(float64(3*i*i))
		for j := range 9 {
			f, u := z*float64(j%3+1)/2, 0.5+0.5*math.Sin(float64(7*i+13*j*j+1))
			text := strconv.FormatFloat(f+u, 'f', 3, 64)
			switch {
			case i%9 == j:
				text = ""
			case j >= 6:
				text = strconv.Itoa(int(math.Log1p(math.Exp(f)) + u))
			case j >= 3 && u < 1/(1+math.Exp(-f)):
				text = "1"
			case j >= 3:
				text = "0"
			}
			b.WriteString(text)
			b.WriteByte(",\n"[j/8])
		}
	}
	fit := "fit k.csv -task factors -factors 3 -view a=a* -view m=m* -view c=c* -o m "
	status, text, stderr := command(t, map[string]string{"k.csv": b.String(), "bad.csv": "a1,a2,a3,m1,m2,m3,c1,c2,c3\n1,1,1,0,0.5,1,0,0,0\n"}, "", strings.Fields(fit)...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "view m: its entries are 0 and 1, learned as bernoulli: -view-kind m=gaussian learns them as numbers with noise\n")
	assert.Contains(t, stderr, "view c: its entries are counts, learned as poisson: ")
	assert.Contains(t, text, "variance explained (deviance, of views of 0 and 1 and of counts), %")
	assert.Regexp(t, `(?m)^column +noise SD\na1 .*\na2 .*\na3 .*\n\n?`, text)
	rows := readCSV(t, output(t, "complete m k.csv"))
	for i, row := range rows[1:] {
		p, err := strconv.ParseFloat(row[3+i%9%3], 64)
		require.NoError(t, err)
		assert.True(t, p >= 0 && p <= 1, row)
	}
	require.Equal(t, console.StatusOK, func() int { status, _, _ := command(t, nil, "", "inspect", "m"); return status }())
	for args, want := range map[string]string{
		fit + "-view-kind a=poisson":                       `k.csv: row 2 (line 3), column 1 "a1": an entry of the poisson view "a" is `,
		fit + "-view-kind z=poisson":                       `-view-kind z=poisson: no view is called "z"`,
		fit + "-view-kind c=counts":                        `-view-kind c=counts: "counts" is no kind: gaussian, bernoulli or poisson`,
		fit + "-view-kind c":                               "-view-kind c: a view and a kind are needed, as in mutations=bernoulli",
		fit + "-view-kind c=gaussian -view-kind c=poisson": `the kind of view "c" was given before`,
		"fit k.csv -task factors -view-kind c=gaussian":    "-view-kind c=gaussian: it sets the kind of a -view, and no -view is given",
		"transform m bad.csv":                              "row 0, column 4, of a bernoulli view, is 0.5: it must be 0 or 1",
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, want, args)
	}
	status, _, stderr = command(t, nil, "", strings.Fields(fit+"-view-kind m=gaussian -view-kind c=gaussian")...)
	assert.Equal(t, console.StatusOK, status)
	assert.NotContains(t, stderr, "learned as")
}

// TestFactorEntries fits a list of entries and predicts others, and refuses what is no such list by its place.
func TestFactorEntries(t *testing.T) {
	testkit.NotShort(t)
	fit := "fit r.csv -task factors -entries user,film,rating -factors 4 -shared-noise -o m"
	files := map[string]string{
		"r.csv": ratings(1), "want.csv": strings.ReplaceAll(ratings(0), "p5,", "p99,"), "new.csv": "film,user,rating\nfilm 1,x,3\nfilm 4,x,\nfilm 2,x,1\nfilm 9,x,1\n",
		"twice.csv": "user,film,rating\na,b,1\na,c,2\na,b,1\n", "text.csv": "user,film,rating\na,b,1\na,c,good\n",
		"norow.csv": "user,film,rating\nx,film 1,3\n,film 2,1\n", "nofilm.csv": "user,film,rating\nx,,3\n",
		"list.csv": "user,film,rating\n1,2,3\n2,2,5\n2,1,1\n3,1,4\n",
	}
	status, text, stderr := command(t, files, "", strings.Fields(fit)...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, text, "r.csv: 40 rows, 6 columns, 192 entries (80.00 % of the table), factors\n")
	predict := func(args ...string) ([][]string, string) {
		t.Helper()
		status, stdout, stderr := command(t, nil, "", args...)
		require.Equal(t, console.StatusOK, status, stderr)
		return readCSV(t, stdout), stderr
	}
	rows, said := predict("predict", "m", "want.csv")
	assert.Equal(t, []string{"user", "film", "mean", "sd", "lower", "upper"}, rows[0])
	assert.Len(t, rows, 1+48)
	assert.Contains(t, said, `2 of 48 rows cannot be predicted, the first: want.csv: row `)
	assert.Contains(t, said, `column 1 "user": "p99" is not in the table that the model was fitted to`)
	rows, said = predict("transform", "m", "new.csv")
	assert.Equal(t, "mkl: warning: 1 entry of columns that the model has not, the first: new.csv: row 4 (line 5), column 1 \"film\": "+
		"\"film 9\" is not in the table that the model was fitted to\n", said)
	assert.Equal(t, []string{"user", "factor1", "factor2", "factor3", "factor4"}, rows[0])
	require.Len(t, rows, 2)
	assert.Equal(t, "x", rows[1][0])
	status, stdout, stderr := command(t, nil, "", "evaluate", "m", "want.csv")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "factors, 46 entries\n")
	assert.Regexp(t, `(?m)^rating +0\.\d+ `, stdout)
	status, stdout, stderr = command(t, nil, "", "inspect", "m")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stdout, "m: 40 rows, 6 columns, factors, of a list of entries (user, film, rating)\n")

	status, _, stderr = command(t, nil, "", strings.Fields("fit list.csv -task factors")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Contains(t, stderr, "no cell is empty: if each line is an entry of a table, -entries ROW,COLUMN,VALUE says so\n")

	for args, want := range map[string]string{
		"fit twice.csv -task factors -entries user,film,rating":             `twice.csv: row 3 (line 4), column 3 "rating": the entry of a and b is there twice, first in row 1`,
		"fit text.csv -task factors -entries user,film,rating":              `text.csv: row 2 (line 3), column 3 "rating": "good" is not a number`,
		"fit r.csv -task factors -entries user,film":                        "-entries user,film: three columns are needed, of rows, columns and values, as in user,film,rating",
		"fit r.csv -task factors -entries user,movie,rating":                "movie",
		"fit r.csv -task factors -entries user,film,rating -view *":         "-entries excludes -view: a list of entries has no views",
		"fit r.csv -task factors -entries user,film,rating -sparse=kernels": "-sparse is not for -task factors with -model factors",
		"fit r.csv -target rating -factors 3":                               "-factors is not for -task regression with -model auto",
		"fit r.csv -task factors -target user":                              `"p0" is not a number`,
		"fit r.csv -task factors -factors 2 -missing drop":                  "-missing is not for -task factors, which learns from tables with missing entries",
		"cv r.csv -task factors -target rating":                             "cv is not for -task factors",
		"complete m r.csv":                                                  "m: the model is of a list of entries: mkl predict fills in the entries that a table of user and film names",
		"transform m norow.csv":                                             `norow.csv: row 2 (line 3), column 1 "user": an entry without it has no place in the table`,
		"transform m nofilm.csv":                                            `nofilm.csv: row 1 (line 2), column 2 "film": an entry without it has no place in the table`,
		"transform m new.csv -id user":                                      "-id is not for a list of entries: its rows are called by column user",
		"report m -data r.csv":                                              "a report is not for models of factors",
		"export m -o x.onnx":                                                "mkl export is not for models of factors",
		"predict m text.csv":                                                "none of 2 rows can be predicted: text.csv: row 1",
		"evaluate m text.csv":                                               `"good" is not a number`,
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, want, args)
	}
}

// study is a table of 60 persons of two arms. A factor of all persons is at work in every column, and a factor of the second arm in the
// columns b.
func study(from, to int, arms ...string) string {
	var b strings.Builder
	b.WriteString("name,arm,a1,a2,a3,a4,b1,b2,b3,b4\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "p%d,%s", i, arms[i%2])
		all, one := math.Cos(float64(3*i)), 1.4*math.Sin(float64(5*i*i))*float64(i%2)
		for j := range 8 {
			noise := 0.1 * math.Sin(float64(7*i+11*j*j+3*i*j))
			fmt.Fprintf(&b, ",%.4f", float64(5*(i%2)+j)+float64(1+j%3)*(all+one*float64(j/4)+noise))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestFactorGroups fits a table with groups, shows what the factors explain in each, and predicts rows in their groups.
func TestFactorGroups(t *testing.T) {
	testkit.NotShort(t)
	files := map[string]string{
		"s.csv": study(0, 60, "old", "new"), "next.csv": study(60, 64, "old", "new"), "strange.csv": study(60, 64, "old", "other"),
		"hole.csv": study(0, 60, "old", ""), "alone.csv": strings.Replace(study(0, 60, "old", "new"), "p3,new", "p3,single", 1),
		"none.csv": "name,a1,a2\np,1,2\n", "one.csv": "a,b,c\n1,2,4\n",
	}
	status, text, stderr := command(t, files, "", strings.Fields("fit s.csv -task factors -factors 4 -groups arm -view x=a1,a2,a3,a4 -view y=b* -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `(?m)^view  group +all  factor1  factor2$`, text)
	assert.Regexp(t, `(?m)^y +old +9\d\.\d +9\d\.\d +-?0\.\d$`, text, "silent")
	assert.Regexp(t, `(?m)^y +new +9\d\.\d +\d\d\.\d +\d\d\.\d$`, text)
	assert.Regexp(t, `(?m)^y +\(all rows\) `, text)
	inspected := output(t, "inspect m -json")
	var r struct {
		Explained []mkl.ViewVariance `json:"variance_explained"`
		Groups    []struct {
			Group   string
			Rows    int
			Factors []float64
		} `json:"sample_groups"`
	}
	require.NoError(t, json.Unmarshal([]byte(inspected), &r))
	require.Len(t, r.Groups, 2)
	assert.Equal(t, "old", r.Groups[0].Group)
	assert.Equal(t, 30, r.Groups[1].Rows)
	assert.Less(t, r.Groups[0].Factors[1], 0.02)
	assert.Equal(t, 1.0, r.Groups[1].Factors[1])
	assert.Equal(t, "new", r.Explained[1].Groups[1].Group)
	assert.Greater(t, r.Explained[1].Groups[1].Factors[1], 0.2)

	predicted := readCSV(t, output(t, "predict m next.csv"))
	for i, row := range readCSV(t, files["next.csv"])[1:] {
		assert.InDelta(t, floatOf(t, row[2]), floatOf(t, predicted[i+1][0]), 0.5)
	}
	assert.Contains(t, output(t, "evaluate m next.csv"), "a1")
	assert.Len(t, readCSV(t, output(t, "transform m next.csv -id name")), 5)
	assert.Len(t, readCSV(t, output(t, "complete m next.csv")), 5)

	for args, want := range map[string]string{
		"predict m strange.csv":                                    `strange.csv: row 2 (line 3), column 2 "arm": the model has no group "other": its groups are old, new`,
		"predict m hole.csv":                                       `hole.csv: row 2 (line 3), column 2 "arm": a row without a group`,
		"transform m none.csv":                                     `none.csv: the model needs the group of each row: no column "arm"`,
		"fit hole.csv -task factors -groups arm":                   `hole.csv: row 2 (line 3), column 2 "arm": a row without a group: fill in the cell, or leave the row out`,
		"fit alone.csv -task factors -groups arm":                  `alone.csv: row 4 (line 5), column 2 "arm": "single" is the group of one row`,
		"fit s.csv -task factors -groups ward":                     `-groups: s.csv: no column "ward"`,
		"fit s.csv -task factors -groups arm -target arm,a1":       "-groups arm: the column is among the columns to learn",
		"fit s.csv -task factors -groups arm -entries name,arm,a1": "-groups excludes -entries",
		"fit s.csv -target a1 -groups arm":                         "-groups is not for -task regression with -model auto",
		"fit one.csv -task factors -raw-columns":                   "one row: factors are learned from how rows differ",
	} {
		status, _, stderr := command(t, nil, "", strings.Fields(args)...)
		assert.Equal(t, console.StatusInput, status, args)
		assert.Contains(t, stderr, want, args)
	}
}
