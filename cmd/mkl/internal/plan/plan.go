// Package plan makes features of the columns of a table: text becomes columns of 0 and 1 or codes,
// dates and booleans become numbers, missing values are filled in, and columns that say
// nothing of the samples are left out. [Learn] makes the plan of a view by its training
// data; a model file keeps it, and [Encode] follows it for new data.
package plan

import (
	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/internal/encode"
)

// Column says how a column of a table becomes features.
type Column = encode.Column

// Count is a number of cells, and what the first of them says.
type Count = encode.Count

// Encoded is features made by a plan.
type Encoded = encode.Encoded

// Want asks for the column at a place of a table. If lenient, a cell that cannot be read counts as missing.
func Want(c Column, column int, lenient bool) table.Want {
	return table.Want{Column: column, Kind: table.Any, As: c.Type, Lenient: lenient}
}

// Encode makes features of the columns at the given places of a table, which were read as [Want] asks. The features
// of missing rows are 0.
func Encode(columns []Column, at []int, d *table.Data) Encoded {
	return encode.Encode(columns, at, encode.Cells{Rows: d.Rows, Numbers: d.Numbers, Labels: d.Labels})
}
