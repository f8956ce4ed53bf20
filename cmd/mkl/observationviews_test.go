package main

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/mkl/internal/serving"
	"github.com/bmkl/bmkl/mkl/record"
)

// mkl predict -views and the service say what views add to the functions of counts, times and grades, and a report says on which scale.
func TestViewsOfObservations(t *testing.T) {
	command(t, map[string]string{"d.csv": kindsTable()}, "")
	const views = " -view a=a:rbf -view b=b:rbf -sweeps 20 -o "
	output(t, "fit d.csv -target faults -exposure days"+views+"counts.mkl")
	output(t, "fit d.csv -target time -event died"+views+"times.mkl")
	output(t, "fit d.csv -target grade -task ordinal"+views+"grades.mkl")
	address, end := startService(t, "counts.mkl times.mkl grades.mkl")
	defer end()
	body, err := json.Marshal(map[string]any{"records": records(t, kindsTable())})
	require.NoError(t, err)
	for name, want := range map[string]struct {
		target string
		scale  record.Scale
		says   string
	}{
		"counts": {"faults", record.OfLog, "Parts are natural logarithms"},
		"times":  {"time", record.OfLog, "Parts are natural logarithms"},
		"grades": {"grade", record.OfFunction, "Parts are in units of the noise"},
	} {
		var rows []map[string]any
		require.NoError(t, json.Unmarshal([]byte(output(t, "predict "+name+".mkl d.csv -views -json")), &rows))
		number := func(i int, column string) float64 {
			require.Contains(t, rows[i], column, name)
			return rows[i][column].(float64)
		}
		code, text := request(t, http.MethodPost, address+"/predict?views=true&model="+name, string(body))
		require.Equal(t, http.StatusOK, code, text)
		var got serving.Answer
		require.NoError(t, json.Unmarshal([]byte(text), &got))
		sum := make([]float64, len(rows))
		for i := range rows {
			sum[i] = number(i, "constant") + number(i, "view_a") + number(i, "view_b")
			assert.Equal(t, []record.Parts{{Of: want.target, Scale: want.scale, Constant: number(i, "constant"), Views: []record.Part{
				{View: "a", Mean: number(i, "view_a"), SD: number(i, "view_a_sd")}, {View: "b", Mean: number(i, "view_b"), SD: number(i, "view_b_sd")},
			}}}, got.Predictions[i].Views, name)
		}
		if name == "times" { // the risk falls in proportion to the sum
			slope := (number(1, "risk") - number(0, "risk")) / (sum[1] - sum[0])
			require.Negative(t, slope)
			for i := range sum {
				assert.InDelta(t, number(0, "risk")+slope*(sum[i]-sum[0]), number(i, "risk"), 1e-9)
			}
		}
		output(t, "report "+name+".mkl -data d.csv -explain 3 -o page.html")
		html, err := os.ReadFile("page.html")
		require.NoError(t, err)
		assert.Contains(t, string(html), want.says)
	}
}
