// Package multiclasstest writes small data sets in the form of the published ones.
package multiclasstest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/bmkl/bmkl/cmd/papers/internal/multiclass"
)

// Array is one array of a MAT-file as the tests write it: doubles, rows × cols,
// column by column.
type Array struct {
	name       string
	rows, cols int
	at         func(i, j int) float64
}

// MAT writes a level 5 MAT-file, compressed as MATLAB's -v7 does.
func MAT(arrays ...Array) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%-124s", "MATLAB 5.0 MAT-file")
	out.WriteString("\x00\x01IM")
	for _, a := range arrays {
		var body bytes.Buffer
		put := func(v any) { _ = binary.Write(&body, binary.LittleEndian, v) }
		put([]uint32{6, 8, 6, 0, 5, 8, uint32(a.rows), uint32(a.cols), 1, uint32(len(a.name))})
		body.WriteString(a.name + strings.Repeat("\x00", -len(a.name)&7))
		put([]uint32{9, uint32(8 * a.rows * a.cols)})
		for j := range a.cols {
			for i := range a.rows {
				put(a.at(i, j))
			}
		}
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_ = binary.Write(z, binary.LittleEndian, []uint32{14, uint32(body.Len())})
		_, _ = z.Write(body.Bytes())
		_ = z.Close()
		_ = binary.Write(&out, binary.LittleEndian, []uint32{15, uint32(packed.Len())})
		out.Write(packed.Bytes())
	}
	return out.String()
}

// Matrix is an array whose elements a function gives.
func Matrix(name string, rows, cols int, at func(i, j int) float64) Array {
	return Array{name, rows, cols, at}
}

// Vector is a row of sample numbers.
func Vector(name string, x ...int) Array {
	return Array{name, 1, len(x), func(_, j int) float64 { return float64(x[j]) }}
}

// ClassDistance is small within a class of the given size and large between
// classes, and distinguishes samples.
func ClassDistance(size int) func(i, j int) float64 {
	return func(i, j int) float64 {
		d := 0.01 * math.Abs(float64(i-j))
		if i/size != j/size {
			d += 3
		}
		return d
	}
}

// Flowers102Files are files of the authors' form with three classes of twenty.
func Flowers102Files() map[string]string {
	var trn, val, tst, labels []int
	for i := 1; i <= 60; i++ {
		labels = append(labels, 1+(i-1)/20)
		switch i % 4 {
		case 0:
			trn = append(trn, i)
		case 1:
			val = append(val, i)
		default:
			tst = append(tst, i)
		}
	}
	var distances []Array
	for _, name := range multiclass.Flowers102Distances {
		distances = append(distances, Array{name, 60, 60, ClassDistance(20)})
	}
	return map[string]string{
		"setid.mat":               MAT(Vector("trnid", trn...), Vector("valid", val...), Vector("tstid", tst...)),
		"imagelabels.mat":         MAT(Vector("labels", labels...)),
		"distancematrices102.mat": MAT(distances...),
	}
}

// ProteinFiles are small tables of the names of the data set's.
func ProteinFiles() map[string]string {
	files := map[string]string{}
	for set, n := range map[string]int{"Train": 18, "Test": 9} {
		var labels strings.Builder
		for i := range n {
			fmt.Fprintln(&labels, 1+i%3)
		}
		files["t_"+set+".csv"] = labels.String()
		for k, s := range multiclass.ProteinSources {
			var x strings.Builder
			for i := range n {
				fmt.Fprintf(&x, "%d,%g,%d\n", 10*(i%3), math.Sin(float64(3*i+k)), (i%3)*(i%3))
			}
			files[s.Name+"_"+set+".csv"] = x.String()
		}
	}
	return files
}
