package onnx

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The types of tensors, by the numbers that they have in onnx.proto.
type elementType uint64

const (
	float32s elementType = 1
	int64s   elementType = 7
	texts    elementType = 8
	float64s elementType = 11
)

// value is the name of a tensor in a graph.
type value string

// attribute is a setting of an operator: a whole number.
type attribute struct {
	name string
	n    int64
}

// graph is a graph of operators that is being built. What is computed already, by the
// same operator from the same values, is not computed again.
type graph struct {
	real elementType // of all numbers: float64s or float32s

	nodes     [][]byte // encoded NodeProto
	constants [][]byte // encoded TensorProto
	inputs    [][]byte // encoded ValueInfoProto
	outputs   [][]byte // encoded messages too
	known     map[string]value
	ones      value // 1 for each sample, once there are inputs
	size      int   // bytes of the constants
}

// most is the largest number of bytes of the constants: messages of a file are below 2 GiB.
const most = math.MaxInt32 - 1<<24

func newGraph(real elementType) *graph { return &graph{real: real, known: map[string]value{}} }

// eps is the spacing of numbers at 1.
func (g *graph) eps() float64 {
	if g.real == float32s {
		return 0x1p-23
	}
	return 0x1p-52
}

// op adds an operator of one result.
func (g *graph) op(name string, in []value, attributes ...attribute) value {
	key := fmt.Sprint(name, in, attributes)
	if v, ok := g.known[key]; ok {
		return v
	}
	out := value(fmt.Sprintf("v%d", len(g.nodes)+1))
	var b []byte
	for _, v := range in {
		b = appendText(b, 1, string(v))
	}
	b = appendText(b, 2, string(out))
	b = appendText(b, 4, name)
	for _, a := range attributes {
		var m []byte
		m = appendText(m, 1, a.name)
		m = appendNumber(m, 3, uint64(a.n))
		m = appendNumber(m, 20, 2) // the type of attribute: a whole number
		b = appendMessage(b, 5, m)
	}
	g.nodes = append(g.nodes, b)
	g.known[key] = out
	return out
}

// constant adds a tensor whose elements are encoded already.
func (g *graph) constant(kind elementType, shape []int, set func(b []byte) []byte) value {
	var b []byte
	for _, n := range shape {
		b = appendNumber(b, 1, uint64(n))
	}
	b = set(appendNumber(b, 2, uint64(kind)))
	key := fmt.Sprintf("%x", sha256.Sum256(b))
	if v, ok := g.known[key]; ok {
		return v
	}
	name := fmt.Sprintf("c%d", len(g.constants)+1)
	g.constants = append(g.constants, appendText(b, 8, name))
	g.size += len(b)
	g.known[key] = value(name)
	return value(name)
}

// numbers adds a tensor of real numbers, row-major.
func (g *graph) numbers(x []float64, shape ...int) value {
	raw := make([]byte, 0, 8*len(x))
	for _, v := range x {
		if g.real == float32s {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		} else {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
	}
	return g.constant(g.real, shape, func(b []byte) []byte { return appendMessage(b, 9, raw) })
}

// number adds a number that goes with tensors of every shape.
func (g *graph) number(x float64) value { return g.numbers([]float64{x}, 1) }

// row adds a matrix of one row.
func (g *graph) row(x []float64) value { return g.numbers(x, 1, len(x)) }

// column adds a matrix of one column.
func (g *graph) column(x []float64) value { return g.numbers(x, len(x), 1) }

// integers adds a vector of whole numbers.
func (g *graph) integers(x ...int) value {
	var raw []byte
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return g.constant(int64s, []int{len(x)}, func(b []byte) []byte { return appendMessage(b, 9, raw) })
}

// texts adds a vector of texts.
func (g *graph) texts(x []string) value {
	return g.constant(texts, []int{len(x)}, func(b []byte) []byte {
		for _, s := range x {
			b = appendText(b, 6, s)
		}
		return b
	})
}

// Arithmetic, element by element; tensors of fewer rows or columns are repeated.

func (g *graph) add(a, b value) value { return g.op("Add", []value{a, b}) }
func (g *graph) sub(a, b value) value { return g.op("Sub", []value{a, b}) }
func (g *graph) mul(a, b value) value { return g.op("Mul", []value{a, b}) }
func (g *graph) div(a, b value) value { return g.op("Div", []value{a, b}) }
func (g *graph) exp(a value) value    { return g.op("Exp", []value{a}) }
func (g *graph) log(a value) value    { return g.op("Log", []value{a}) }
func (g *graph) sqrt(a value) value   { return g.op("Sqrt", []value{a}) }
func (g *graph) square(a value) value { return g.mul(a, a) }

// scale multiplies a matrix by a number.
func (g *graph) scale(a value, by float64) value {
	if by == 1 {
		return a
	}
	return g.mul(a, g.factor(by))
}

// factor is a number to multiply or divide by. ONNX Runtime would make a constant beside a product of
// matrices a part of that product, and keep no more than a float32 of it: in float64 it is repeated for
// every sample, and so is no constant.
func (g *graph) factor(x float64) value {
	if g.real == float32s || g.ones == "" {
		return g.number(x)
	}
	return g.mul(g.ones, g.number(x))
}

// shift adds a number.
func (g *graph) shift(a value, by float64) value {
	if by == 0 {
		return a
	}
	return g.add(a, g.number(by))
}

// sum adds values of one shape.
func (g *graph) sum(all []value) value {
	s := all[0]
	for _, v := range all[1:] {
		s = g.add(s, v)
	}
	return s
}

// product is the product of matrices.
func (g *graph) product(a, b value) value { return g.op("MatMul", []value{a, b}) }

// sumOver sums along an axis, which stays with one element if keep is 1 and goes if it is 0.
func (g *graph) sumOver(a value, axis int, keep int64) value {
	return g.op("ReduceSum", []value{a, g.integers(axis)}, attribute{"keepdims", keep})
}

// columns takes columns of a matrix.
func (g *graph) columns(a value, at ...int) value {
	return g.op("Gather", []value{a, g.integers(at...)}, attribute{"axis", 1})
}

// sideBySide puts matrices beside each other.
func (g *graph) sideBySide(all []value) value {
	if len(all) == 1 {
		return all[0]
	}
	return g.op("Concat", all, attribute{"axis", 1})
}

// cast turns truths and whole numbers into real numbers, or truths into whole ones.
func (g *graph) cast(a value, to elementType) value {
	return g.op("Cast", []value{a}, attribute{"to", int64(to)})
}

// choose takes elements of a where a truth holds, and else of b.
func (g *graph) choose(truth, a, b value) value { return g.op("Where", []value{truth, a, b}) }

// input adds a matrix of so many columns that a prediction takes, a row for each sample.
func (g *graph) input(name string, cols int) value {
	g.inputs = append(g.inputs, port(name, g.real, cols))
	return value(name)
}

// output names a value as one of the results; a vector has no columns.
func (g *graph) output(name string, v value, kind elementType, cols int) {
	var b []byte
	b = appendText(b, 1, string(v))
	b = appendText(b, 2, name)
	g.nodes = append(g.nodes, appendText(b, 4, "Identity"))
	g.outputs = append(g.outputs, port(name, kind, cols))
}

// port encodes the name, the type and the shape of an input or an output: any number
// of rows, and columns if there are any.
func port(name string, kind elementType, cols int) []byte {
	shape := appendMessage(nil, 1, appendText(nil, 2, "samples"))
	if cols > 0 {
		shape = appendMessage(shape, 1, appendNumber(nil, 1, uint64(cols)))
	}
	tensor := appendNumber(nil, 1, uint64(kind))
	tensor = appendMessage(tensor, 2, shape)
	return appendMessage(appendText(nil, 1, name), 2, appendMessage(nil, 1, tensor))
}

// The version of the operators and of the file's layout, as old as they can be.
const (
	opset     = 13
	irVersion = 7
)

// encode returns the file. The notes are its metadata, in their order.
func (g *graph) encode(notes [][2]string) ([]byte, error) {
	if g.size > most {
		return nil, fmt.Errorf("its numbers take %d bytes, more than the %d that an ONNX file can hold", g.size, most)
	}
	b := appendText(nil, 2, "model")
	for _, part := range []struct {
		field protowire.Number
		all   [][]byte
	}{{1, g.nodes}, {5, g.constants}, {11, g.inputs}, {12, g.outputs}} {
		for _, m := range part.all {
			b = appendMessage(b, part.field, m)
		}
	}
	file := appendNumber(nil, 1, irVersion)
	file = appendText(file, 2, "bmkl")
	file = appendMessage(file, 7, b)
	file = appendMessage(file, 8, appendNumber(nil, 2, opset))
	for _, n := range notes {
		file = appendMessage(file, 14, appendText(appendText(nil, 1, n[0]), 2, n[1]))
	}
	return file, nil
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), strings.ToValidUTF8(s, "\uFFFD"))
}

func appendMessage(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}
