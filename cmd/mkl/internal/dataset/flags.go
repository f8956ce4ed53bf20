package dataset

import "github.com/bmkl/bmkl/cmd/internal/console"

// Flags are the flags that say what a command learns from: files, columns, and how cells are read.
type Flags struct {
	Data        string `arg:"" help:"Table with a row for each sample: CSV (also compressed), Excel (.xlsx), NPY, NPZ, Parquet, Arrow, LIBSVM, FASTA or MAT-file; - is standard input."`
	Target      string `placeholder:"COLUMNS" help:"Column to predict: its name, #position or a pattern; several with commas between. Files of mkl sum and -task factors, pairs and pairlabels need no target."`
	BesideFlags `embed:""`

	View []string `sep:"none" placeholder:"NAME=COLUMNS:KERNELS" help:"Columns that belong together, and their kernels; can be repeated. Without -view all columns but the targets are one view. Without KERNELS the command chooses kernels."`

	Missing        string   `group:"data" enum:"impute,drop,refuse,views" default:"impute" help:"What to do about empty cells (also NA, NaN, NULL, ? and a single point): impute the median of the column, and add a column of 0 and 1 that marks these cells; drop the row; refuse the file; or views, which learns from rows that lack a whole view by their other views. Drop and impute leave out rows without a target (${default})."`
	MissingTargets bool     `group:"data" help:"Learn from rows that lack some of several targets."`
	Text           string   `group:"data" enum:"auto,onehot,category" default:"auto" help:"What becomes of a column of text: onehot, a column of 0 and 1 for each text; category, which a kernel of categories sees; or auto, which is category for more than 30 texts, a bag of words for prose, and else onehot (${default})."`
	Dates          string   `group:"data" enum:"auto,trend" default:"auto" help:"What becomes of a column of dates in a view without kernels: trend, days since 1970; or auto, which adds the season, the weekday and the time of day where the dates show them (${default})."`
	As             []string `group:"data" sep:"none" placeholder:"COLUMN=TYPE" help:"Type of a column: number, text, boolean, date, date(d.m.y), date(d/m/y), date(m/d/y), or none to leave it out; can be repeated. By default the cells decide."`
	RawColumns     bool     `group:"data" help:"Leave columns unchanged; by default each gets mean 0 and standard deviation 1."`

	console.Layout `embed:"" group:"data"`
}

// datesTrend is the value of -dates that keeps the days alone.
const datesTrend = "trend"

// The values of -missing that code refers to.
const (
	MissingRefuse = "refuse"
	MissingImpute = "impute"
	MissingViews  = "views"
)

// KernelsFlag is the flag -kernels of one set of kernels.
type KernelsFlag struct {
	Kernels string `placeholder:"KERNELS" help:"Kernels of the views that name none. Without -kernels the command chooses them."`
}
