package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/mkl/kernel"
)

func names(ks []Kernel) string {
	parts := make([]string, len(ks))
	for i, k := range ks {
		parts[i] = k.String()
	}
	return strings.Join(parts, " ")
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"linear", "linear"},
		{" Linear ( ) ", "linear"},
		{"rbf(width=1.5)", "rbf(width=1.5)"},
		{"rbf(width=-1e-3)", "rbf(width=-1e-3)"},
		{"rbf(width=2^-1..2^1)", "rbf(width=2^-1) rbf(width=2^0) rbf(width=2^1)"},
		{"rbf(width=2^-4..2^4 by 4)", "rbf(width=2^-4) rbf(width=2^0) rbf(width=2^4)"},
		{"rbf(width = 1 .. 3)", "rbf(width=1) rbf(width=2) rbf(width=3)"},
		{"rbf(width=1.5..2.6)", "rbf(width=1.5) rbf(width=2.5)"},
		{"rbf(width=0.1..0.3 by 0.1)", "rbf(width=0.1) rbf(width=0.2) rbf(width=0.30000000000000004)"},
		{"rbf(width={.5,2^3,1..2})", "rbf(width=.5) rbf(width=2^3) rbf(width=1) rbf(width=2)"},
		{"rbf(width=[1, 2,3])", "rbf(width=[1,2,3])"},
		{"rbf(width={[1,2],[3,4]})", "rbf(width=[1,2]) rbf(width=[3,4])"},
		{"poly(degree=1..2,offset={0,1})", "poly(degree=1,offset=0) poly(degree=1,offset=1) poly(degree=2,offset=0) poly(degree=2,offset=1)"},
		{"distance(scale=mean)", "distance(scale=mean)"},
		{"linear(center, normalize=no)", "linear(center=yes,normalize=no)"},
		{"linear,rbf(width=1) , poly(degree=2)", "linear rbf(width=1) poly(degree=2)"},
	} {
		ks, err := Parse(c.in)
		require.NoError(t, err, c.in)
		assert.Equal(t, c.want, names(ks), c.in)
	}
}

func TestParseNumbers(t *testing.T) {
	ks, err := Parse("rbf(width=2^-10..2^10)")
	require.NoError(t, err)
	require.Len(t, ks, 21)
	want := 1.0 / 1024
	for _, k := range ks {
		assert.Equal(t, []float64{want}, k.Settings[0].Value.Numbers)
		want *= 2
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", `"": at the end: expected the name of a kernel`},
		{"rbf(", `"rbf(": at the end: expected a setting such as width=1`},
		{"rbf(width 1)", `"rbf(width 1)": at "1)": expected , or ) after width`},
		{"rbf(width=)", `"rbf(width=)": at ")": expected a number`},
		{"rbf(width=1", `"rbf(width=1": at the end: expected , or ) after width`},
		{"rbf(width=1,width=2)", `"rbf(width=1,width=2)": at "width=2)": width is set twice`},
		{"rbf(width=1) linear", `"rbf(width=1) linear": at "linear": expected a comma between kernels`},
		{"rbf(width=3..1)", `"rbf(width=3..1)": at ")": the range runs down from 3 to 1`},
		{"rbf(width=2^1..3^2)", `"rbf(width=2^1..3^2)": at ")": a range of powers needs one base, not 2 and 3`},
		{"rbf(width=1..9 by 0)", `"rbf(width=1..9 by 0)": at ")": a range goes up by a positive step, not 0`},
		{"rbf(width=2^9999)", `"rbf(width=2^9999)": at ")": 2^9999 is not a finite number`},
		{"rbf(width=0^-1)", `"rbf(width=0^-1)": at ")": 0^-1 is not a finite number`},
		{"rbf(width=1e999)", `"rbf(width=1e999)": at "1e999)": expected a number`},
		{"rbf(width=1..1e9)", `"rbf(width=1..1e9)": at ")": more than 4096 values`},
		{"a(x=1..4000),b(x=1..4000)", `"a(x=1..4000),b(x=1..4000)": at ")": more than 4096 kernels`},
		{"a(x=1..400,y=1..400)", `"a(x=1..400,y=1..400)": at ")": more than 4096 kernels`},
		{"rbf(width=[1,])", `"rbf(width=[1,])": at "])": expected a number`},
		{"rbf(width={1;2})", `"rbf(width={1;2})": at ";2})": expected , or }`},
	} {
		_, err := Parse(c.in)
		require.Error(t, err, c.in)
		assert.Equal(t, c.want, err.Error())
	}
}

func TestParseView(t *testing.T) {
	columns := []string{"id", "shape_a", "shape_b", "a:b", "y", "dup", "dup", "1", "x.y"}
	for _, c := range []struct {
		in, name string
		want     []int
		kernels  string
	}{
		{"shape=shape_*:rbf(width=1)", "shape", []int{1, 2}, "rbf(width=1)"},
		{"*", "", []int{0, 1, 2, 3, 5, 6, 7, 8}, ""},
		{"all=*:linear,rbf(width=1..2)", "all", []int{0, 1, 2, 3, 5, 6, 7, 8}, "linear rbf(width=1) rbf(width=2)"},
		{"#2..#4, id", "", []int{1, 2, 3, 0}, ""},
		{"shape_a..'a:b':linear", "", []int{1, 2, 3}, "linear"},
		{`"a:b":linear`, "", []int{3}, "linear"},
		{"#6:linear", "", []int{5}, "linear"},
		{"shape_?,shape_a", "", []int{1, 2}, ""},
		{"1", "", []int{7}, ""},
		{"x.y", "", []int{8}, ""},
		{"p=shape_a:rbf * id,y*:linear(scale=2)", "p", []int{1, 0}, ""},
	} {
		v, err := ParseView(c.in)
		require.NoError(t, err, c.in)
		assert.Equal(t, c.name, v.Name, c.in)
		got, err := Select(v.Columns, columns, []int{4})
		require.NoError(t, err, c.in)
		assert.Equal(t, c.want, got, c.in)
		assert.Equal(t, c.kernels, names(v.Kernels), c.in)
	}

	v, err := ParseView("sw=@dir/a b.npy:precomputed")
	require.NoError(t, err)
	assert.Equal(t, []Item{{File: "dir/a b.npy"}}, v.Columns)
	v, err = ParseView(`sw=@"C:\data,1.npy":precomputed`)
	require.NoError(t, err)
	assert.Equal(t, `C:\data,1.npy`, v.Columns[0].File)
}

func TestParseViewErrors(t *testing.T) {
	columns := []string{"a", "b", "y", "dup", "dup"}
	for _, c := range []struct{ in, want string }{
		{"", `"": at the end: expected a column`},
		{"v=:linear", `"v=:linear": at ":linear": expected a column`},
		{"v=a=b:linear", `"v=a=b:linear": at "=b:linear": expected , or : after a column`},
		{"v=a:rbf(width=x", `"v=a:rbf(width=x": at the end: expected , or ) after width`},
		{"v=a:", `"v=a:": at the end: expected the name of a kernel`},
		{"v='a:linear", `"v='a:linear": at "'a:linear": the quotation mark is not closed`},
		{"#0", `"#0": at "0": expected a column's position, counted from 1`},
		{"#", `"#": at the end: expected a column's position, counted from 1`},
		{"a..*", `"a..*": at the end: a range of columns runs between two names or positions, not patterns`},
		{"v=a:linear*b", `"v=a:linear*b": at the end: expected : and a kernel after the columns of a factor`},
		{"v=a:linear*b:rbf,linear", `"v=a:linear*b:rbf,linear": at ",linear": expected * between the factors of a product`},
		{"v=a:linear*b:rbf(width={1,2})", `"v=a:linear*b:rbf(width={1,2})": at the end: a factor of a product has one kernel`},
		{"#9", `no column #9 (there are 5)`},
		{"z", `no column "z" (there are a, b, y, dup, dup)`},
		{"z*", `no column matches "z*" (there are a, b, y, dup, dup)`},
		{"b..a", `the columns "b" to "a" run backwards`},
		{"y", `column "y" is a target`},
		{"y*", `no columns are left`},
		{"dup", `several columns are called "dup": select by position, as in #4`},
	} {
		v, err := ParseView(c.in)
		if err == nil {
			_, err = Select(v.Columns, columns, []int{2})
		}
		require.Error(t, err, c.in)
		assert.Equal(t, c.want, err.Error())
	}
}

func FuzzKernelSpec(f *testing.F) {
	for _, s := range []string{
		"rbf(width=2^-10..2^10)", "linear,poly(degree={1,2},offset=[1,2])", "a=b..c,#1..#2:rbf(width=1 .. 2 by 0.5)",
		"v=@file.npy:distance(scale=mean)", `"q":x`, "a(x=1e308..1e309)", "a(x=2^1..2^1e9 by 1e-300)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseView(s); err == nil {
			_, _ = Select(v.Columns, []string{"a", "b", "c"}, []int{1})
		}
		ks, err := Parse(s)
		if err != nil {
			_ = err.Error()
			return
		}
		if len(ks) == 0 || len(ks) > MaxKernels {
			t.Fatalf("%q stands for %d kernels", s, len(ks))
		}
		for _, k := range ks {
			for _, set := range k.Settings {
				for _, x := range set.Value.Numbers {
					if !finite(x) {
						t.Fatalf("%q: %s = %v", s, set.Name, x)
					}
				}
			}
			// What a kernel prints stands for that kernel alone.
			again, err := Parse(k.String())
			if err != nil || len(again) != 1 || again[0].String() != k.String() {
				t.Fatalf("%q: %q does not read back: %v", s, k, err)
			}
		}
	})
}

// The parts of a product have columns and a kernel each.
func TestParseProduct(t *testing.T) {
	v, err := ParseView("slope=who:categorical(overlap)*day,'a*b':linear * x*:rbf(width=2)")
	require.NoError(t, err)
	require.Len(t, v.Parts, 3)
	assert.Nil(t, v.Kernels)
	assert.Len(t, v.Columns, 4)
	k, err := BuildProduct(v.Parts)
	require.NoError(t, err)
	assert.True(t, k.Categories)
	assert.Equal(t, kernel.Kernel(kernel.Categorical{Overlap: true}), k.Parts[0].Kernel)
	assert.Equal(t, kernel.Kernel(kernel.RBF{Width: 2}), k.Parts[2].Kernel)
	for _, text := range []string{"a:linear*b:rbf(ranks)", "a:linear*b:precomputed", "a:spectrum(k=2)*b:linear", "a:linear(center)*b:linear"} {
		v, err := ParseView(text)
		require.NoError(t, err)
		_, err = BuildProduct(v.Parts)
		assert.ErrorContains(t, err, "a factor of a product takes no ranks", text)
	}
}
