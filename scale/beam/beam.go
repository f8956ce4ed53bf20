// Package beam makes a pass over samples a transform of Apache Beam, for pipelines that run on Flink,
// Dataflow, Spark or, in the process itself, Prism:
//
//	p, s := beam.NewPipelineWithRoot()
//	rows := beam.ParDo(s, &readFn{}, files)                   // a collection of mkl.TargetRows, of 8192 samples and more
//	sums := scale.Sum(s, "gs://BUCKET/sensors.plan", rows)    // the file that mkl.Plan.Save or mkl plan wrote
//	scale.Write(s, "gs://BUCKET/sensors.plan", "monday", "gs://BUCKET/monday.stat", sums) // for mkl fit and mkl sum
//
// The elements of a collection come in any order and in bundles of the runner's choice, and a bundle that
// failed is done again. None of it shows in the sums: each element is summed as a block of its own, and
// sums of blocks are added exactly (see package stat). The same elements give the same hash with every
// runner, and the one of a loop over them.
//
// The collection of one [Sums] can also go to a transform of the program's own: a Sums is a [stat.Statistic], for plan.Fit.
//
// Each worker reads the plan from its file, which has some megabytes for each kernel: too many for what a
// job is described by. The file may be on any file system that the program has registered with Beam, by
// importing its package io/filesystem/gcs, s3 or local.
//
// # Where it runs
//
// The program that builds the pipeline submits it with beamx.Run of Beam's package x/beamx, by its flags:
//
//	-runner=prism
//	-runner=flink -endpoint=HOST:8099 -environment_type=DOCKER
//	-runner=spark -endpoint=HOST:8099 -environment_type=DOCKER
//	-runner=dataflow -project=P -region=R -staging_location=gs://BUCKET/staging
//
// HOST:8099 is the job server of Flink or Spark. All transforms are registered, and hold nothing but
// what travels with them. Of these runners the tests have only Prism.
package beam

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// Sums are sums of samples, as an element of a collection.
type Sums struct{ *stat.Statistic }

func init() {
	beam.RegisterType(reflect.TypeFor[Sums]())
	beam.RegisterCoder(reflect.TypeFor[Sums](), encodeSums, decodeSums)
	beam.RegisterType(reflect.TypeFor[mkl.TargetRows]())
	beam.RegisterCoder(reflect.TypeFor[mkl.TargetRows](), encodeRows, decodeRows)
	register.DoFn2x1[mkl.TargetRows, func(Sums), error](&sumFn{})
	register.Emitter1[Sums]()
	register.Combiner1[Sums](&mergeFn{})
	register.DoFn2x1[context.Context, Sums, error](&writeFn{})
}

// Sum returns a collection of one [Sums], the sums of all samples of collections of [mkl.TargetRows] by the plan in
// the named file. Each element is one block or more; the last may have fewer than
// [stat.BlockSamples] samples: elements should have that many or a multiple, for the sums of an element
// take memory and time that do not depend on its size. Collections of several sources are summed apart,
// at the same time where the runner can, and then merged.
func Sum(s beam.Scope, plan string, rows ...beam.PCollection) beam.PCollection {
	filesystem.ValidateScheme(plan)
	s = s.Scope("bmkl.Sum")
	var sums []beam.PCollection
	for _, r := range rows {
		sums = append(sums, beam.Combine(s, &mergeFn{}, beam.ParDo(s, &sumFn{Plan: plan}, r)))
	}
	if len(sums) == 1 {
		return sums[0]
	}
	return beam.Combine(s, &mergeFn{}, beam.Flatten(s, sums...))
}

// sumFn sums an element. Runners have as many at work as they use processors.
type sumFn struct {
	Plan string // the name of its file

	plan    *mkl.Plan
	builder *mkl.PlanBuilder
}

// Setup reads the plan.
func (f *sumFn) Setup(ctx context.Context) (err error) {
	f.plan, err = readPlan(ctx, f.Plan)
	return err
}

// readPlan reads a plan's file.
func readPlan(ctx context.Context, path string) (*mkl.Plan, error) {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	file, err := fs.OpenRead(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plan, err := mkl.LoadAs[*mkl.Plan](file)
	if err != nil {
		return nil, fmt.Errorf("beam: plan %s: %w", path, err)
	}
	return plan, nil
}

// ProcessElement emits the sums of an element.
func (f *sumFn) ProcessElement(rows mkl.TargetRows, emit func(Sums)) (err error) {
	defer func() {
		if err != nil {
			f.builder = nil // it may hold a part of the element, which will come again
		}
	}()
	if f.builder == nil {
		if f.builder, err = f.plan.Builder(1); err != nil {
			return err
		}
	}
	if err := f.builder.Add(rows.Y, rows.X...); err != nil {
		return err
	}
	s, err := f.builder.Finish()
	if err != nil {
		return err
	}
	emit(Sums{s})
	return nil
}

// Write writes the sums of a collection of one [Sums], which [Sum] returned, to a file that [mkl.ReadSums], mkl sum and mkl fit
// read. plan is the plan's file. part names the samples in the file: mkl sum and mkl fit refuse two files with a part of one name.
func Write(s beam.Scope, plan, part, file string, sums beam.PCollection) {
	filesystem.ValidateScheme(plan)
	filesystem.ValidateScheme(file)
	beam.ParDo0(s.Scope("bmkl.Write"), &writeFn{Plan: plan, Part: part, File: file}, sums)
}

// writeFn writes a file of sums.
type writeFn struct {
	Plan, Part, File string
}

// ProcessElement writes the file. A bundle that is done again writes the same bytes.
func (f *writeFn) ProcessElement(ctx context.Context, s Sums) (err error) {
	plan, err := readPlan(ctx, f.Plan)
	if err != nil {
		return err
	}
	all := mkl.Sums{Plan: plan}
	if err := all.Add(mkl.SumsPart{Name: f.Part}, s.Statistic); err != nil {
		return fmt.Errorf("beam: %s: %w", f.File, err)
	}
	fs, err := filesystem.New(ctx, f.File)
	if err != nil {
		return err
	}
	defer fs.Close()
	w, err := fs.OpenWrite(ctx, f.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return all.Save(w)
}

// mergeFn merges sums.
type mergeFn struct{}

// CreateAccumulator returns no sums.
func (*mergeFn) CreateAccumulator() Sums { return Sums{&stat.Statistic{}} }

// AddInput adds sums to the accumulator.
func (*mergeFn) AddInput(all, s Sums) (Sums, error) { return all, all.Merge(s.Statistic) }

// MergeAccumulators adds an accumulator to the other.
func (*mergeFn) MergeAccumulators(all, s Sums) (Sums, error) { return all, all.Merge(s.Statistic) }

func encodeSums(s Sums) ([]byte, error) { return s.MarshalBinary() }

func decodeSums(b []byte) (Sums, error) {
	s := Sums{&stat.Statistic{}}
	return s, s.UnmarshalBinary(b)
}

// encodeRows writes the number of samples and of matrices, the targets, and of each matrix the number of
// columns and the rows, little-endian.
func encodeRows(r mkl.TargetRows) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(r.Y)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.X)))
	numbers := func(v []float64) {
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	numbers(r.Y)
	for _, x := range r.X {
		b = binary.LittleEndian.AppendUint32(b, uint32(x.Cols))
		for i := range x.Rows {
			numbers(x.Row(i))
		}
	}
	return b
}

// decodeRows reads what encodeRows wrote.
func decodeRows(b []byte) (r mkl.TargetRows, err error) {
	number := func() int {
		if len(b) < 4 {
			err = errors.New("beam: rows are cut short")
			return 0
		}
		n := binary.LittleEndian.Uint32(b)
		b = b[4:]
		return int(n)
	}
	numbers := func(n, columns int) []float64 {
		if err == nil && (n < 0 || columns < 0 || n > 0 && columns > len(b)/8/n) {
			err = fmt.Errorf("beam: %d×%d numbers are more than there are", n, columns)
		}
		if err != nil {
			return nil
		}
		v := make([]float64, n*columns)
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		b = b[8*len(v):]
		return v
	}
	n, views := number(), number()
	r.Y = numbers(n, 1)
	for range views {
		columns := number()
		x := numbers(n, columns)
		if err != nil {
			return r, err
		}
		r.X = append(r.X, la.MatrixOf(n, columns, x))
	}
	return r, err
}
