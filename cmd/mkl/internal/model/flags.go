package model

import (
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
)

// TaskFlag is the flag -task.
type TaskFlag struct {
	Task *string `enum:"${tasks}" help:"What to learn. By default the target decides: text, or 0 and 1, are classes; other numbers, and several targets, are a regression. With -event or -upper it is survival, with -exposure counts."`
}

// Settings are the flags of the models that learn from samples.
type Settings struct {
	Seed      uint64        `group:"run" default:"1" help:"Seed of the random start (${default})."`
	Restarts  int           `group:"run" help:"Further random starts; the start with the highest bound is kept."`
	Sweeps    int           `group:"run" help:"Largest number of sweeps of a start; 0 means 10000."`
	Tolerance float64       `group:"run" from:"0" below:"1" help:"Stop when the relative rise of the bound is below this number; with 0 the predictions must have converged as well."`
	Plain     bool          `group:"run" help:"Make exactly the updates of the paper, which need many more sweeps."`
	Time      time.Duration `group:"run" placeholder:"DURATION" help:"Stop after about this time, such as 30s, with the best model so far. By default only a pool of more than 3000 rows has a limit."`
	Store     string        `group:"run" default:"float64" placeholder:"STORE" help:"Where the fit keeps the kernels: float64 or float32 in memory (float32 needs a quarter and moves predictions by less than 0.01 standard deviations), or a folder for a file, with a slash, such as ./ (${default})."`

	Prior           []string `group:"several" sep:"none" placeholder:"NAME=SHAPE,SCALE" help:"Gamma prior of a parameter (1,1); can be repeated. bmkl has lambda, upsilon, gamma, omega and epsilon; pairs has lambda, eta, gamma and epsilon; probit has alpha (alpha=learn learns shape and scale), rho and theta, and kappa=RATE, xi=RATE and sigma=PROBABILITY."`
	ViewGroup       []string `group:"several" sep:"none" placeholder:"NAME=VIEWS" help:"Group of views, with commas between; can be repeated. The table of views then also has a row for each group. Groups change no prediction."`
	RawTargets      bool     `group:"several" help:"Leave targets unchanged; by default each gets mean 0 and standard deviation 1 for the fit."`
	OwnScale        bool     `group:"several" help:"Learn positive targets themselves. By default model auto learns the logarithm or the square root of such targets, if this makes them clearly more probable."`
	AllowDuplicates bool     `group:"several" help:"Accept two kernels with the same matrix."`

	BMKLFlags     `embed:"" group:"bmkl"`
	MGPFlags      `embed:"" group:"mgp"`
	ProbitFlags   `embed:"" group:"probit"`
	LandmarkFlags `embed:"" group:"landmarks"`
}

// TableFlags are the settings of the models that learn from tables: of entries, or of pairs.
type TableFlags struct {
	Entries string `group:"tables" placeholder:"ROW,COLUMN,VALUE" help:"Columns of a table that lists one entry in each line: the name of the row, the name of the column, and the value, such as user,film,rating. Without -entries each column of the file is a column of the table, and missing entries are empty cells."`

	FactorFlags `embed:"" group:"tables"`
	PairFlags   `embed:"" group:"tables"`
}

// Groups are the headings of the flags in the help.
func Groups() []kong.Group {
	return []kong.Group{
		{Key: "data", Title: "How tables are read:"},
		{Key: "run", Title: "How a fit runs:"},
		{Key: "several", Title: "Settings of several models:"},
		{Key: "bmkl", Title: "-model bmkl:"},
		{Key: "mgp", Title: "-model mgp:"},
		{Key: "probit", Title: "-model probit:"},
		{Key: "landmarks", Title: "-model landmarks, and -model bmkl with -landmarks:"},
		{Key: "tables", Title: "-task factors, pairs and pairlabels:"},
	}
}

// Vars are the values of flags that tags refer to by name.
func Vars() map[string]string {
	return map[string]string{
		"tasks": strings.Join(Tasks(), ","), "models": strings.Join(Models(), ","),
		"families": families.names(), "methods": strings.Join(methods, ","), "laws": laws.names() + "," + countLaws.names(), "updates": updates.names(), "inferences": inferenceNames(),
	}
}

// words are the values of a flag by name, the default first.
type words[T any] []struct {
	name  string
	value T
}

// names lists the names as a tag has them.
func (w words[T]) names() string {
	var all []string
	for _, one := range w {
		all = append(all, one.name)
	}
	return strings.Join(all, ",")
}

// value returns the value of a name; the parser of flags lets no other name pass.
func (w words[T]) value(name string) T {
	for _, one := range w {
		if one.name == name {
			return one.value
		}
	}
	return w[0].value
}

// The values of -store but for folders.
const (
	storeFloat64 = "float64"
	storeFloat32 = "float32"
)

// storage returns how kernels are held.
func (f *Settings) storage() (mkl.KernelStorage, error) {
	switch {
	case f.Store == storeFloat64:
		return mkl.KernelStorage{}, nil
	case f.Store == storeFloat32:
		return mkl.KernelStorage{Float32: true}, nil
	case !strings.ContainsAny(f.Store, `/\`):
		return mkl.KernelStorage{}, console.Inputf("-store %s is neither %s nor %s, nor a path with a slash", f.Store, storeFloat64, storeFloat32)
	}
	if info, err := os.Stat(f.Store); err != nil || !info.IsDir() {
		return mkl.KernelStorage{}, console.Inputf("-store %s: there is no such folder", f.Store)
	}
	return mkl.KernelStorage{Directory: f.Store}, nil
}
