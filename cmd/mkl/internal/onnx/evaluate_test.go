package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// array is a tensor: numbers, whole numbers and truths as numbers, or texts.
type array struct {
	shape   []int
	numbers []float64
	texts   []string
}

// fields are the fields of an encoded message, in their order: numbers, or bytes.
type field struct {
	number uint64
	bytes  []byte
}

func fields(t *testing.T, b []byte) map[protowire.Number][]field {
	t.Helper()
	all := map[protowire.Number][]field{}
	for len(b) > 0 {
		at, kind, n := protowire.ConsumeTag(b)
		require.Positive(t, n)
		b = b[n:]
		var f field
		switch kind {
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d has the type %d", at, kind)
		}
		require.Positive(t, n)
		all[at], b = append(all[at], f), b[n:]
	}
	return all
}

// program is an ONNX file that was read by the definition of its messages, not by what wrote it.
type program struct {
	values   map[string]array // constants
	nodes    []map[protowire.Number][]field
	in, out  []string
	columns  []int // of the inputs
	single   bool  // numbers are float32
	metadata map[string]string
}

func readProgram(t *testing.T, file []byte) *program {
	t.Helper()
	model := fields(t, file)
	require.Equal(t, uint64(7), model[1][0].number)
	require.Equal(t, uint64(13), fields(t, model[8][0].bytes)[2][0].number)
	p := &program{values: map[string]array{}, metadata: map[string]string{}}
	for _, m := range model[14] {
		entry := fields(t, m.bytes)
		p.metadata[string(entry[1][0].bytes)] = string(entry[2][0].bytes)
	}
	g := fields(t, model[7][0].bytes)
	for _, n := range g[1] {
		p.nodes = append(p.nodes, fields(t, n.bytes))
	}
	for _, c := range g[5] {
		f := fields(t, c.bytes)
		var a array
		size := 1
		for _, n := range f[1] {
			a.shape = append(a.shape, int(n.number))
			size *= int(n.number)
		}
		switch kind := f[2][0].number; kind {
		case 8:
			for _, s := range f[6] {
				a.texts = append(a.texts, string(s.bytes))
			}
			require.Len(t, a.texts, size)
		case 1:
			for raw := f[9][0].bytes; len(raw) > 0; raw = raw[4:] {
				a.numbers = append(a.numbers, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
			}
			require.Len(t, a.numbers, size)
		default:
			for raw := f[9][0].bytes; len(raw) > 0; raw = raw[8:] {
				bits := binary.LittleEndian.Uint64(raw)
				if kind == 7 {
					a.numbers = append(a.numbers, float64(int64(bits)))
				} else {
					a.numbers = append(a.numbers, math.Float64frombits(bits))
				}
			}
			require.Len(t, a.numbers, size)
		}
		p.values[string(f[8][0].bytes)] = a
	}
	for _, in := range g[11] {
		f := fields(t, in.bytes)
		p.in = append(p.in, string(f[1][0].bytes))
		tensor := fields(t, fields(t, f[2][0].bytes)[1][0].bytes)
		p.single = tensor[1][0].number == 1
		shape := fields(t, tensor[2][0].bytes)
		p.columns = append(p.columns, int(fields(t, shape[1][1].bytes)[1][0].number))
	}
	for _, out := range g[12] {
		p.out = append(p.out, string(fields(t, out.bytes)[1][0].bytes))
	}
	return p
}

// size is the number of elements of a shape.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// each calls f with every index of a shape.
func each(shape []int, f func(at []int)) {
	at := make([]int, len(shape))
	for range size(shape) {
		f(at)
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < shape[k] {
				break
			}
			at[k] = 0
		}
	}
}

// place is where the element of an index is, in an array that is repeated along axes of one element.
func (a array) place(at []int) int {
	k := 0
	at = at[len(at)-len(a.shape):]
	for axis, n := range a.shape {
		k *= n
		if n > 1 {
			k += at[axis]
		}
	}
	return k
}

func (a array) at(at ...int) float64 { return a.numbers[a.place(at)] }

// broadcast computes f element by element.
func broadcast(f func(x []float64) float64, all ...array) (out array) {
	for _, a := range all {
		for len(out.shape) < len(a.shape) {
			out.shape = append([]int{1}, out.shape...)
		}
		for k, n := range a.shape {
			to := &out.shape[len(out.shape)-len(a.shape)+k]
			*to = max(*to, n)
		}
	}
	x := make([]float64, len(all))
	each(out.shape, func(at []int) {
		for k, a := range all {
			x[k] = a.at(at...)
		}
		out.numbers = append(out.numbers, f(x))
	})
	return out
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// elementwise are the operators of one element of each operand.
var elementwise = map[string]func(x []float64) float64{
	"Add": func(x []float64) float64 { return x[0] + x[1] }, "Sub": func(x []float64) float64 { return x[0] - x[1] },
	"Mul": func(x []float64) float64 { return x[0] * x[1] }, "Div": func(x []float64) float64 { return x[0] / x[1] },
	"Max": func(x []float64) float64 { return max(x[0], x[1]) }, "Min": func(x []float64) float64 { return min(x[0], x[1]) },
	"Exp": func(x []float64) float64 { return math.Exp(x[0]) }, "Log": func(x []float64) float64 { return math.Log(x[0]) },
	"Sin": func(x []float64) float64 { return math.Sin(x[0]) }, "Cos": func(x []float64) float64 { return math.Cos(x[0]) },
	"Mod":  func(x []float64) float64 { return math.Mod(x[0], x[1]) }, // with fmod
	"Sqrt": func(x []float64) float64 { return math.Sqrt(x[0]) }, "Abs": func(x []float64) float64 { return math.Abs(x[0]) },
	"Equal": func(x []float64) float64 { return truth(x[0] == x[1]) }, "Less": func(x []float64) float64 { return truth(x[0] < x[1]) },
	"LessOrEqual": func(x []float64) float64 { return truth(x[0] <= x[1]) }, "Greater": func(x []float64) float64 { return truth(x[0] > x[1]) },
	"Not": func(x []float64) float64 { return 1 - x[0] }, "Cast": func(x []float64) float64 { return x[0] },
	"Where": func(x []float64) float64 { return x[1+int(1-x[0])] },
}

// run computes the outputs, one operator after another, by the operators' definitions.
func (p *program) run(t *testing.T, inputs ...array) map[string]array {
	t.Helper()
	values := map[string]array{}
	for name, a := range p.values {
		values[name] = a
	}
	round := func(a array) array {
		if p.single {
			for i, v := range a.numbers {
				a.numbers[i] = float64(float32(v))
			}
		}
		return a
	}
	for i, name := range p.in {
		values[name] = round(inputs[i])
	}
	for _, n := range p.nodes {
		var in []array
		for _, name := range n[1] {
			a, ok := values[string(name.bytes)]
			require.True(t, ok, "%s comes before it is computed", name.bytes)
			in = append(in, a)
		}
		settings := map[string]int{}
		for _, a := range n[5] {
			f := fields(t, a.bytes)
			require.Equal(t, uint64(2), f[20][0].number)
			settings[string(f[1][0].bytes)] = int(f[3][0].number)
		}
		name := string(n[2][0].bytes)
		_, twice := values[name]
		require.False(t, twice, "%s is computed twice", name)
		values[name] = round(operate(t, string(n[4][0].bytes), in, settings))
	}
	out := map[string]array{}
	for _, name := range p.out {
		out[name] = values[name]
	}
	return out
}

// operate computes one operator.
func operate(t *testing.T, op string, in []array, settings map[string]int) (out array) {
	if f := elementwise[op]; f != nil {
		return broadcast(f, in...)
	}
	x := in[0]
	axis := settings["axis"]
	switch op {
	case "Identity":
		return x
	case "MatMul":
		y := in[1]
		last := len(x.shape) - 1
		out.shape = append(slices.Clone(x.shape[:last]), y.shape[1])
		each(out.shape, func(at []int) {
			sum := 0.0
			for k := range y.shape[0] {
				sum += x.at(append(slices.Clone(at[:last]), k)...) * y.at(k, at[last])
			}
			out.numbers = append(out.numbers, sum)
		})
	case "ReduceSum", "Softmax", "ArgMax":
		if op == "ReduceSum" {
			axis = int(in[1].numbers[0])
		}
		kept := slices.Clone(x.shape)
		kept[axis] = 1
		sums, best, top := make([]float64, size(kept)), make([]float64, size(kept)), make([]float64, size(kept))
		to := array{shape: kept}
		each(x.shape, func(at []int) {
			k, v := to.place(at), x.at(at...)
			if op == "Softmax" {
				v = math.Exp(v)
			}
			if sums[k] += v; at[axis] == 0 || v > top[k] {
				best[k], top[k] = float64(at[axis]), v
			}
		})
		switch {
		case op == "Softmax":
			to.numbers = sums
			return broadcast(func(v []float64) float64 { return math.Exp(v[0]) / v[1] }, x, to)
		case op == "ArgMax":
			out.numbers = best
		default:
			out.numbers = sums
		}
		if out.shape = kept; settings["keepdims"] == 0 {
			out.shape = slices.Delete(slices.Clone(kept), axis, axis+1)
		}
	case "Gather":
		out.shape = slices.Concat(x.shape[:axis], in[1].shape, x.shape[axis+1:])
		each(out.shape, func(at []int) {
			k := int(in[1].at(at[axis : axis+len(in[1].shape)]...))
			from := x.place(slices.Concat(at[:axis], []int{k}, at[axis+len(in[1].shape):]))
			if x.texts != nil {
				out.texts = append(out.texts, x.texts[from])
			} else {
				out.numbers = append(out.numbers, x.numbers[from])
			}
		})
	case "Concat":
		out.shape = slices.Clone(x.shape)
		for _, y := range in[1:] {
			out.shape[axis] += y.shape[axis]
		}
		each(out.shape, func(at []int) {
			at = slices.Clone(at)
			k := 0
			for ; at[axis] >= in[k].shape[axis]; k++ {
				at[axis] -= in[k].shape[axis]
			}
			out.numbers = append(out.numbers, in[k].at(at...))
		})
	case "Unsqueeze":
		return array{shape: slices.Insert(slices.Clone(x.shape), int(in[1].numbers[0]), 1), numbers: x.numbers}
	case "Reshape":
		for _, n := range in[1].numbers {
			out.shape = append(out.shape, int(n))
		}
		if at := slices.Index(out.shape, -1); at >= 0 {
			out.shape[at] = -len(x.numbers) / size(out.shape)
		}
		require.Equal(t, len(x.numbers), size(out.shape))
		out.numbers = x.numbers
	default:
		require.Fail(t, fmt.Sprintf("the operator %s is not known", op))
	}
	return out
}
