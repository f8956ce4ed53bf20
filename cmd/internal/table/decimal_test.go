package table

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecimalComma(t *testing.T) {
	const remark = "numbers have a decimal comma (-decimal . reads them as text)"
	for _, c := range []struct {
		name, text string
		opt        Options
		columns    []string
		want       map[int][]float64
		texts      map[int][]string
		remarks    []string
	}{
		{
			name: "semicolons", text: "a;b\n3,5;1\n-2,25;2\n1.234,5;7\n", columns: []string{"a", "b"},
			want: map[int][]float64{0: {3.5, -2.25, 1234.5}, 1: {1, 2, 7}}, remarks: []string{remark},
		},
		{
			name: "tabs", text: "a\tb\n3,5\tx\n1e3\ty\n", columns: []string{"a", "b"},
			want: map[int][]float64{0: {3.5, 1000}}, texts: map[int][]string{1: {"x", "y"}}, remarks: []string{remark},
		},
		{
			name: "no header, more commas than semicolons", text: "3,5;1,5;2\n2,5;0,5;2\n", columns: []string{"1", "2", "3"},
			want: map[int][]float64{0: {3.5, 2.5}, 1: {1.5, .5}, 2: {2, 2}}, remarks: []string{remark},
		},
		{
			name: "points elsewhere", text: "a;b\n3,5;1.5\n4,5;2\n", columns: []string{"a", "b"},
			want: map[int][]float64{1: {1.5, 2}}, texts: map[int][]string{0: {"3,5", "4,5"}},
		},
		{
			name: "as asked", text: "a;b\n3,5;1.5\n4,5;2\n", opt: Options{Decimal: ','}, columns: []string{"a", "b"},
			want: map[int][]float64{0: {3.5, 4.5}, 1: {1.5, 2}},
		},
		{
			name: "quoted", text: "a,b\n\"3,5\",1\n", opt: Options{Decimal: ','}, columns: []string{"a", "b"},
			want: map[int][]float64{0: {3.5}, 1: {1}},
		},
		{
			name: "not as asked", text: "a;b\n3,5;1\n", opt: Options{Decimal: '.'}, columns: []string{"a", "b"},
			want: map[int][]float64{1: {1}}, texts: map[int][]string{0: {"3,5"}},
		},
		{
			name: "text and dates stay", text: "a;b;c\n1,5;31.12.2026;x,y\n2,5;1.2.2026;1,2,3\n", columns: []string{"a", "b", "c"},
			want: map[int][]float64{0: {1.5, 2.5}, 1: {20818, 20485}}, texts: map[int][]string{2: {"x,y", "1,2,3"}}, remarks: []string{remark},
		},
	} {
		s, err := New(c.name, strings.NewReader(c.text), -1, c.opt)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.columns, s.Columns(), c.name)
		assert.Equal(t, c.remarks, s.Remarks(), c.name)
		var want []Want
		for j := range c.columns {
			want = append(want, Want{Column: j, Kind: Any})
		}
		d, err := Read(s, want)
		require.NoError(t, err, c.name)
		for j, x := range c.want {
			assert.Equal(t, x, d.Numbers[j], "%s: column %d", c.name, j)
		}
		for j, x := range c.texts {
			assert.Equal(t, x, d.Labels[j], "%s: column %d", c.name, j)
		}
	}
}
