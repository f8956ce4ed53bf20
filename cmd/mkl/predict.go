package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/mkl/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/mkl/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/table"
	"github.com/bmkl/bmkl/mkl"
)

// modelInput is a model and the data to predict.
type modelInput struct {
	Model     string   `arg:"" help:"Model file."`
	Data      string   `arg:"" optional:"" help:"CSV or NPY file with a row for each sample; - is standard input. Not needed if every view has a file of its own."`
	View      []string `sep:"none" placeholder:"NAME=COLUMNS" help:"Columns of a view, if they are not called what they were in the fit; @file takes a file."`
	Interval  float64  `default:"0.95" help:"Probability of the predictive interval of a regression (${default})."`
	Published bool     `help:"Use the published predictive variance, which is too small."`
	Unhealed  bool     `help:"Use the posterior's own predictions of a BMKLR regression, whose intervals are too short away from the samples."`
	Workers   int      `help:"Most goroutines at work; 0 means one for each processor."`

	layout `embed:""`
}

func (c *modelInput) check() error {
	if !(c.Interval > 0 && c.Interval < 1) {
		return inputf("-interval %g is not between 0 and 1", c.Interval)
	}
	if c.Workers < 0 {
		return inputf("-workers %d is negative", c.Workers)
	}
	return nil
}

// opened is a model with the files that it shall predict.
type opened struct {
	model
	notes   *notes
	files   *files
	sources []source // of each of the model's inputs
}

// open reads the model and opens the files, which the caller closes.
func (c *modelInput) open(e *env) (*opened, error) {
	opt, err := c.options()
	if err != nil {
		return nil, err
	}
	m, err := loadModel(c.Model)
	if err != nil {
		return nil, err
	}
	o := &opened{model: m, notes: notesOf(m), files: &files{env: e, opt: opt}}
	if o.sources, err = c.sources(o.files, m, o.notes); err != nil {
		o.files.close()
		return nil, err
	}
	return o, nil
}

// read reads the columns asked for and returns the model's inputs.
func (o *opened) read() (x []mkl.Features, rows int, err error) {
	if rows, err = o.files.read(); err != nil {
		return nil, 0, err
	}
	for _, s := range o.sources {
		x = append(x, s.matrix())
	}
	return x, rows, nil
}

type predictCmd struct {
	Output string `short:"o" placeholder:"FILE" help:"CSV file to write; standard output without it."`
	ID     string `name:"id" placeholder:"COLUMN" help:"Column to copy to the front of the output."`

	modelInput `embed:""`
}

func (c *predictCmd) Run(e *env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Output != "" {
		if err := atomicfile.Check(c.Output); err != nil {
			return input(err)
		}
	}
	m, err := c.open(e)
	if err != nil {
		return err
	}
	defer m.files.close()
	id := -1
	if c.ID != "" {
		if c.Data == "" {
			return inputf("-id needs a data file")
		}
		if id, err = c.idColumn(m.files.all[0]); err != nil {
			return err
		}
	}
	x, n, err := m.read()
	if err != nil {
		return err
	}
	t, err := c.predict(e, m.model, m.notes, x)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		var ids []string
		if id >= 0 {
			ids = m.files.all[0].data.Labels[id]
		}
		return c.write(w, t, ids, n)
	}
	if c.Output == "" {
		return write(e.stdout)
	}
	return atomicfile.Write(e.ctx, c.Output, write)
}

// predictions are the columns of the output.
type predictions struct {
	names []string
	cell  []func(i int) string
}

func (p *predictions) add(name string, cell func(i int) string) {
	p.names, p.cell = append(p.names, name), append(p.cell, cell)
}

func (p *predictions) addNumber(name string, value func(i int) float64) {
	p.add(name, func(i int) string { return strconv.FormatFloat(value(i), 'g', -1, 64) })
}

// predict predicts with a model of any kind.
func (c *predictCmd) predict(e *env, m model, n *notes, x []mkl.Features) (*predictions, error) {
	opt := mkl.PredictOptions{Published: c.Published, Unhealed: c.Unhealed, Workers: c.Workers}
	out := &predictions{}
	switch m := m.(type) {
	case mkl.TargetModel:
		p, err := m.PredictTargets(e.ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		z := quantile(c.Interval)
		for o, target := range n.Targets {
			prefix := ""
			if len(n.Targets) > 1 {
				prefix = target + "_"
			}
			mean, sd := p.Mean[o], make([]float64, len(p.Mean[o]))
			for i, v := range p.Variance[o] {
				sd[i] = math.Sqrt(v)
			}
			out.addNumber(prefix+"mean", func(i int) float64 { return mean[i] })
			out.addNumber(prefix+"sd", func(i int) float64 { return sd[i] })
			out.addNumber(prefix+"lower", func(i int) float64 { return mean[i] - float64(z*sd[i]) })
			out.addNumber(prefix+"upper", func(i int) float64 { return mean[i] + float64(z*sd[i]) })
		}
	case mkl.ClassModel[string]:
		p, err := m.PredictClasses(e.ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		out.add("label", func(i int) string { return p.Label[i] })
		for k, class := range m.Classes() {
			out.addNumber("p_"+class, func(i int) float64 { return p.Probability[i][k] })
		}
	case *mkl.MultiLabelModel:
		p, err := m.PredictLabels(e.ctx, opt, x...)
		if err != nil {
			return nil, err
		}
		for o, target := range n.Targets {
			out.add(target, func(i int) string {
				if p.Label[o][i] {
					return "1"
				}
				return "0"
			})
			out.addNumber("p_"+target, func(i int) float64 { return p.Probability[o][i] })
		}
	}
	return out, nil
}

// loadModel reads a model file.
func loadModel(path string) (model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, input(err)
	}
	defer f.Close()
	loaded, err := mkl.Load(f)
	if err != nil {
		return nil, inputf("%s: %s", path, strings.TrimPrefix(err.Error(), "mkl: load: "))
	}
	if loaded.Kind() == "factors" {
		return nil, inputf("%s: a model of a kind that the command does not know: %v", path, loaded)
	}
	return loaded, nil
}

// sources finds the columns of each of the model's inputs and asks for them.
func (c *modelInput) sources(fs *files, m model, n *notes) ([]source, error) {
	var main *file
	if c.Data != "" {
		var err error
		if main, err = fs.open(c.Data); err != nil {
			return nil, err
		}
	}
	given := map[string][]spec.Item{}
	for _, text := range c.View {
		v, err := spec.ParseView(text)
		if err != nil {
			return nil, inputf("-view %w", err)
		}
		switch {
		case v.Kernels != nil:
			return nil, inputf("-view %s: the model has its kernels already", text)
		case v.Name == "" && len(n.Views) == 1:
			v.Name = n.Views[0].Name
		}
		if !slices.ContainsFunc(n.Views, func(w viewNote) bool { return w.Name == v.Name }) {
			return nil, inputf("-view %s: the model has no view %q (%s)", text, v.Name, spec.List(viewNames(n)))
		}
		given[v.Name] = v.Columns
	}
	var all []source
	for _, in := range m.Inputs() {
		v := n.Views[n.ViewOf[in.Views[0]]]
		items, ok := given[v.Name]
		switch {
		case ok:
		case v.File:
			return nil, inputf("view %s is made from a file of its own: -view %s=@FILE", quoted(v.Name), v.Name)
		default:
			for _, name := range v.Columns {
				items = append(items, spec.Item{From: spec.Bound{Name: name}, To: spec.Bound{Name: name}})
			}
		}
		if main == nil && items[0].File == "" {
			return nil, inputf("view %s: no data file is given", quoted(v.Name))
		}
		s, err := fs.resolve(items, main, nil)
		if err != nil {
			return nil, inputf("view %s: %w", quoted(v.Name), err)
		}
		if len(s.columns) != in.Cols {
			return nil, inputf("view %s: %s has %s where the model needs %d", quoted(v.Name), s.file.Name(), plural(len(s.columns), "column"), in.Cols)
		}
		for _, j := range s.columns {
			s.file.need(j, table.Number)
		}
		all = append(all, s)
	}
	return all, nil
}

func quoted(name string) string {
	if name == "" {
		return "of the model"
	}
	return strconv.Quote(name)
}

func viewNames(n *notes) (names []string) {
	for _, v := range n.Views {
		names = append(names, v.Name)
	}
	return names
}

func (c *predictCmd) idColumn(f *file) (int, error) {
	items, err := spec.ParseColumns(c.ID)
	if err != nil {
		return 0, inputf("-id %w", err)
	}
	columns, err := spec.Select(items, f.Columns(), nil)
	if err != nil {
		return 0, inputf("-id: %s: %w", f.Name(), err)
	}
	if len(columns) > 1 {
		return 0, inputf("-id %s: that is %d columns", c.ID, len(columns))
	}
	for _, w := range f.want {
		if w.Column == columns[0] {
			return 0, inputf("-id %s: the column is part of a view", c.ID)
		}
	}
	f.need(columns[0], table.Label)
	return columns[0], nil
}

// write prints a row for each of n samples.
func (c *predictCmd) write(w io.Writer, p *predictions, ids []string, n int) error {
	out := csv.NewWriter(w)
	var row []string
	if ids != nil {
		row = append(row, c.ID)
	}
	if err := out.Write(append(row, p.names...)); err != nil {
		return err
	}
	for i := range n {
		row = row[:0]
		if ids != nil {
			row = append(row, ids[i])
		}
		for _, cell := range p.cell {
			row = append(row, cell(i))
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

type inspectCmd struct {
	Model string `arg:"" help:"Model file."`
	Trace bool   `help:"Print the lower bound after each sweep as well."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

func (c *inspectCmd) Run(e *env) error {
	m, err := loadModel(c.Model)
	if err != nil {
		return err
	}
	n := notesOf(m)
	rep := newReport(m, n)
	rep.Model = c.Model
	if c.Trace || c.JSON {
		rep.Trace = m.Trace().Bounds
	}
	if c.JSON {
		return printJSON(e.stdout, struct {
			*report
			Views []viewNote `json:"views"`
		}{rep, n.Views})
	}
	fmt.Fprintf(e.stdout, "%s: %s in %s, %s\n", c.Model, plural(len(rep.Kernels), rep.part()), plural(len(n.Views), "view"), rep.learned(n.Targets))
	for _, v := range n.Views {
		from := strings.Join(v.Columns[:min(8, len(v.Columns))], ", ")
		if len(v.Columns) > 8 {
			from += fmt.Sprintf(", … %d in all", len(v.Columns))
		}
		if v.File {
			from = "a file of its own with " + plural(len(v.Columns), "column")
		}
		if v.Name != "" {
			from = v.Name + " = " + from
		}
		fmt.Fprintf(e.stdout, "view %s\n", from)
	}
	if err := rep.print(e.stdout); err != nil {
		return err
	}
	if len(rep.Trace) > 0 {
		fmt.Fprintln(e.stdout, "\nsweep  bound")
		for i, b := range rep.Trace {
			fmt.Fprintf(e.stdout, "%5d  %.6f\n", i+1, b)
		}
	}
	return nil
}
