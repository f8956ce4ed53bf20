package page

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestContrast holds every pair of colours to the contrast that readers need, on light and on dark paper.
func TestContrast(t *testing.T) {
	assert.InDelta(t, 21, contrast("#000000", "#ffffff"), 1e-9)
	assert.InDelta(t, 4.48, contrast("#777777", "#ffffff"), 0.005) // the well-known grey that just fails
	at := map[string]colour{}
	for _, c := range palette {
		at[c.name] = c
	}
	for _, p := range pairs {
		front, back := at[p.front], at[p.back]
		assert.GreaterOrEqual(t, contrast(front.light, back.light), p.least, "%s on %s, light", p.front, p.back)
		assert.GreaterOrEqual(t, contrast(front.dark, back.dark), p.least, "%s on %s, dark", p.front, p.back)
	}
}

// TestColoursAreDefined finds every colour that a style sheet names in the palette.
func TestColoursAreDefined(t *testing.T) {
	defined, used := map[string]bool{}, map[string]bool{}
	for _, c := range palette {
		defined[c.name] = true
	}
	for _, name := range regexp.MustCompile(`var\(--([a-z]+)\)`).FindAllStringSubmatch(source+styles+seriesStyles(), -1) {
		used[name[1]] = true
	}
	assert.Equal(t, defined, used)
}

func TestAxis(t *testing.T) {
	for _, c := range []struct {
		values []float64
		ticks  []string
	}{
		{[]float64{0, 1}, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{[]float64{-3, 12}, []string{"-5", "0", "5", "10", "15"}},
		{[]float64{0.0012, math.NaN(), 0.0019, math.Inf(1)}, []string{"0.0012", "0.0014", "0.0016", "0.0018", "0.0020"}},
		{[]float64{2e6, 9e6}, []string{"2e+06", "4e+06", "6e+06", "8e+06", "1e+07"}},
		{[]float64{7, 7}, []string{"6.0", "6.5", "7.0", "7.5", "8.0"}},
		{nil, []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
	} {
		a := newAxis(100, 0, 5, c.values)
		var labels []string
		for _, v := range a.ticks {
			labels = append(labels, a.label(v))
		}
		assert.Equal(t, c.ticks, labels, "%v", c.values)
		assert.InDelta(t, 100, a.at(a.low), 1e-9)
		assert.InDelta(t, 0, a.at(a.high), 1e-9)
	}
}

// TestAxisOfAnyNumbers draws any numbers, also those whose difference is no number or no normal one, in their order between the ends.
func TestAxisOfAnyNumbers(t *testing.T) {
	for _, values := range [][]float64{
		{-math.MaxFloat64, 0, math.MaxFloat64}, {math.MaxFloat64, math.MaxFloat64}, {0, 5e-324}, {-5e-324, 5e-324}, {-1e-310, 0, 1e-305}, {-1e308, -1e307},
	} {
		a := newAxis(100, 0, 5, values)
		assert.NotEmpty(t, a.ticks)
		assert.LessOrEqual(t, len(a.ticks), 14)
		before := 100.0
		for _, v := range slices.Concat(values, []float64{math.Inf(1)}) {
			at := a.at(v)
			assert.True(t, at >= 0 && at <= before, "%g at %g", v, at)
			before = at
		}
		assert.InDelta(t, 100, a.at(math.Inf(-1)), 1e-9)
	}
}

// elements reads text as XML and calls visit for each element.
func elements(t *testing.T, text string, visit func(e xml.StartElement, attribute map[string]string)) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			attribute := map[string]string{}
			for _, a := range e.Attr {
				attribute[a.Name.Local] = a.Value
			}
			visit(e, attribute)
		}
	}
}

// everything is a page with a section of every kind of content, whose names are hostile.
func everything() Page {
	const hostile = `a<script>alert("1")</script>&'b` + "\x1b[2J\u202e\x00\uffff"
	line := Dependence{Target: hostile, At: []float64{1, 2}, Mean: []float64{3, 4}, Low: []float64{2, 3}, High: []float64{4, 5}}
	return Page{Title: hostile, Lead: []string{hostile}, Warnings: []string{hostile}, Sections: []Section{
		{
			ID: "one", Title: hostile, Paragraphs: []string{hostile},
			Pictures: []*Picture{
				Bars("bars", hostile, hostile, []Bar{{hostile, 0.7, 0.5, 0.9}, {"b", -0.2, math.Inf(-1), math.Inf(1)}, {"c", math.NaN(), math.NaN(), 0}}),
				Predicted("predicted", hostile, []float64{1, math.NaN(), 3}, []float64{1.5, 2, 2.5}, []float64{0.5, 1, 1.5}, []float64{2.5, 3, 3.5}, 1),
				Calibration("calibration", hostile, hostile, "came true", []Reliability{{0.1, 0, 5}, {0.9, 1, 5}}),
				Curves("curves", hostile, "x", "y", true, []Curve{{hostile, []float64{0, 1}, []float64{0, 1}}}),
				Dependences("one-line", hostile, "y", []Dependence{line}, []float64{1, 2}, false),
				Dependences("two-lines", hostile, "y", []Dependence{line, line}, []float64{1, 2}, true),
				Trace([]float64{-3, -2}),
				Histogram("histogram", hostile, []float64{1, 2, 4}),
				Histogram("one-value", hostile, []float64{math.MaxFloat64, math.MaxFloat64}),
				Histogram("far", hostile, []float64{-math.MaxFloat64, 0, math.MaxFloat64}),
				Survival("survival", hostile, []SurvivalGroup{{hostile, []float64{0, 2}, []float64{1, 0.5}, []float64{1}, []float64{0.6}}, {"b", []float64{0, 2}, []float64{1, 0.1}, nil, nil}}),
			},
		},
		{ID: "two", Title: "tables", Tables: []Table{
			{Caption: hostile, Head: []string{hostile, "b"}, Rows: [][]string{{hostile, "1"}}, Shades: [][]float64{{0.5}}},
			{Caption: "folded", Rows: [][]string{{hostile, "1"}}, Words: true, Folded: true},
		}},
	}}
}

// TestPage writes a page with everything: it is well-formed, asks for nothing outside, lets no name become markup,
// and describes itself to readers who cannot see it.
func TestPage(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, everything().Write(&out))
	text := out.String()
	assert.True(t, strings.HasPrefix(text, "<!DOCTYPE html>"))
	assert.NotContains(t, text, "ZgotmplZ", "a value that the template took to be unsafe")
	assert.NotRegexp(t, `https?:|url\(|@import|//[a-z]`, text)
	count := map[string]int{}
	ids, refers := map[string]bool{}, []string{}
	elements(t, text, func(e xml.StartElement, attribute map[string]string) {
		count[e.Name.Local]++
		if id, ok := attribute["id"]; ok {
			assert.False(t, ids[id], "id %s twice", id)
			ids[id] = true
		}
		refers = append(refers, strings.Fields(attribute["aria-labelledby"])...)
		for name := range attribute {
			assert.False(t, strings.HasPrefix(name, "on") || name == "src", "%s of %s", name, e.Name.Local)
		}
		switch e.Name.Local {
		case "a":
			require.True(t, strings.HasPrefix(attribute["href"], "#"), attribute["href"])
			refers = append(refers, attribute["href"][1:])
		case "svg":
			assert.Equal(t, "img", attribute["role"])
			assert.Len(t, strings.Fields(attribute["aria-labelledby"]), 2)
		case "th":
			assert.Contains(t, []string{"col", "row"}, attribute["scope"])
		case "html":
			assert.Equal(t, "en", attribute["lang"])
		}
	})
	for _, id := range refers {
		assert.True(t, ids[id], "no element has the id %s", id)
	}
	for name, n := range map[string]int{
		"script": 0, "link": 0, "img": 0, "h1": 1, "h2": 2, "header": 1, "nav": 1, "main": 1, "footer": 1, "section": 2,
		"svg": 11, "desc": 11, "figcaption": 11, "table": 2, "details": 1, "caption": 1,
	} {
		assert.Equal(t, n, count[name], name)
	}
	for _, want := range []string{
		`name="viewport"`, "@media (max-width:34rem)", ".table{overflow-x:auto", "prefers-color-scheme:dark", "@media print", "Content-Security-Policy", `href="#content"`, "background:color-mix(",
	} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, count["table"], strings.Count(text, `<div class="table" role="region" tabindex="0"`), "each can be scrolled on a phone")
	assert.NotContains(t, text, "NaN")
}

// TestFiles writes every picture as a file of its own.
func TestFiles(t *testing.T) {
	for _, p := range everything().Sections[0].Pictures {
		var out bytes.Buffer
		require.NoError(t, p.Write(&out))
		first := true
		elements(t, out.String(), func(e xml.StartElement, _ map[string]string) {
			if first {
				assert.Equal(t, xml.Name{Space: "http://www.w3.org/2000/svg", Local: "svg"}, e.Name)
			}
			first = false
		})
		assert.Contains(t, out.String(), "prefers-color-scheme:dark")
		assert.NotContains(t, out.String(), "\u202e")
		assert.NotEmpty(t, p.Shows)
	}
}

// TestCalibrationOfFew: no line goes through points of few samples, which are small.
func TestCalibrationOfFew(t *testing.T) {
	drawn := func(points ...Reliability) string { return string(Calibration("c", "c", "x", "y", points).SVG()) }
	few := drawn(Reliability{0.2, 0, 1}, Reliability{0.5, 1, 2}, Reliability{0.9, 0.9, 40})
	assert.NotContains(t, few, `<path class="line0"`)
	assert.Equal(t, 2, strings.Count(few, `r="2.5"`))
	assert.Equal(t, 1, strings.Count(few, `r="4"`))
	assert.Contains(t, drawn(Reliability{0.2, 0, 1}, Reliability{0.5, 0.6, 20}, Reliability{0.9, 0.9, 40}), `<path class="line0"`)
}

// TestEvenCounts counts values in even ranges: each in one range, whose ends are around it.
func TestEvenCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{2, 3, 30, 1000, 40000} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(random.IntN(200)) - 70
		}
		values[0], values[1] = -70, 129
		low, high, counts := evenCounts(values)
		assert.Equal(t, []float64{-70, 129}, []float64{low, high})
		assert.Len(t, counts, min(50, max(2, int(2*math.Cbrt(float64(n))))))
		want := make([]int, len(counts))
		step := 199 / float64(len(counts))
		for _, v := range values {
			k := 0
			for k < len(counts)-1 && v >= -70+step*float64(k+1)-1e-9 {
				k++
			}
			want[k]++
		}
		assert.Equal(t, want, counts, n)
	}
	low, high, counts := evenCounts([]float64{30, 30, 30})
	assert.Equal(t, []float64{27, 33}, []float64{low, high})
	assert.Equal(t, []int{3}, counts)
	_, _, counts = evenCounts([]float64{-math.MaxFloat64, 1, 1, math.MaxFloat64})
	assert.Equal(t, []int{1, 2, 1}, counts)
}
