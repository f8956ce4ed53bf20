package mkl

import (
	"cmp"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// contents are orders of samples, columns and kernels by what they hold, not by their places. Random numbers are drawn in these orders. In the
// order of the places each scale would get another number whenever columns or views come in another order.
type contents struct {
	rows    []int // the samples in an order of their own
	columns map[inputColumn]content
}

// inputColumn is a place of a column.
type inputColumn struct {
	input string
	j     int
}

// content stands for what a column or a kernel holds. Neither the order of the samples and columns, nor the zero, the unit and the sign of
// a column change it.
type content struct {
	hash   uint64
	shape  float64
	kernel string
}

func (c content) compare(o content) int {
	return cmp.Or(cmp.Compare(c.hash, o.hash), cmp.Compare(c.kernel, o.kernel), cmp.Compare(c.shape, o.shape))
}

// newContents returns the contents of views. targets and names are as in [rowOrder].
func newContents(views []View, targets [][]float64, names bool, seed uint64) *contents {
	columns := rowColumns(views)
	keys, rows := rowKeys(columns, targets, names, seed)
	orderByKeys(columns, targets, keys, rows)
	c := &contents{rows: rows, columns: map[inputColumn]content{}}
	r := newRanker(len(rows))
	for _, column := range columns {
		hash, _ := r.hash(column, keys)
		c.columns[inputColumn{column.input, column.j}] = content{hash: hash, shape: shapeOf(column, rows)}
	}
	return c
}

// column returns the content of a column of a view's input.
func (c *contents) column(v View, j int) content { return c.columns[inputColumn{v.Input, j}] }

// view returns the content of a view.
func (c *contents) view(v View) (out content) {
	if v.Kernel != nil {
		out.kernel = v.Kernel.String()
	}
	if _, blind := v.Kernel.(kernel.Constant); blind {
		return out
	}
	if v.Ranks {
		out.kernel += " of ranks"
	}
	for _, j := range columnsSeen(v) {
		of := c.column(v, j)
		out.hash += mixBits(of.hash, 1)
		out.shape += of.shape
	}
	return out
}

// columnsSeen returns the columns that a view sees.
func columnsSeen(v View) []int {
	if v.Columns == nil {
		return vec.UpTo(v.X.Cols)
	}
	return v.Columns
}

// variables returns the order by content of the variables that are drawn: a scale for each view, and then the widths that kernels learn, view after
// view.
func (c *contents) variables(views []View) []int {
	var of []content
	for _, v := range views {
		of = append(of, c.view(v))
	}
	for i, v := range views {
		if !kernel.Learns(v.Kernel) {
			continue
		}
		for _, j := range columnsSeen(v) {
			width := c.column(v, j)
			width.hash, width.kernel = mixBits(width.hash, of[i].hash), of[i].kernel
			of = append(of, width)
		}
	}
	order := vec.UpTo(len(of))
	slices.SortStableFunc(order, func(a, b int) int { return of[a].compare(of[b]) })
	return order
}

// sample is [sample] by the order of the content.
func (c *contents) sample(most int, class []int, seed uint64) []int {
	if class != nil {
		class = vec.Picked(class, c.rows)
	}
	rows := vec.Picked(c.rows, sample(len(c.rows), most, class, seed))
	slices.Sort(rows)
	return rows
}

// shapeOf returns the kurtosis of a column, computed in the given order of the samples. It differs between columns that have the same ranks, such as
// sizes and their logarithms.
func shapeOf(c rowColumn, rows []int) float64 {
	z := make([]float64, 0, len(rows))
	for _, i := range rows {
		if v := c.at(i); v == v {
			z = append(z, v)
		}
	}
	mean, sd := vec.MeanSD(z)
	for i := range z {
		z[i] = (z[i] - mean) / sd
	}
	return kurtosis(z)
}
