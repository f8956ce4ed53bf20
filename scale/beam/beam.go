// Package beam makes a pass over samples a transform of Apache Beam, for pipelines that run on Flink,
// Dataflow, Spark or, in the process itself, Prism:
//
//	p, s := beam.NewPipelineWithRoot()
//	rows := beam.ParDo(s, &readFn{}, files)            // a collection of mkl.Rows, of 8192 samples and more
//	p0, err := scale.CreatePlan(s, plan)               // or read from a file
//	sums := scale.Sum(s, p0, rows)
//	beam.ParDo0(s, &writeFn{}, sums)                   // one Sums: MarshalBinary, for plan.Fit
//
// The elements of a collection come in any order and in bundles of the runner's choice, and a bundle that
// failed is done again. None of it shows in the sums: each element is summed as a block of its own, and
// sums of blocks are added exactly (see package stat). The same elements give the same hash with every
// runner, and the one of a loop over them.
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
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// Sums are sums of samples, as an element of a collection.
type Sums struct{ *stat.Statistic }

// Plan is a plan as [mkl.Plan.Save] writes it, as an element of a collection: it has some megabytes for
// each kernel, too many for what a job is described by.
type Plan struct {
	Saved []byte // the bytes of its file
}

func init() {
	beam.RegisterType(reflect.TypeFor[Sums]())
	beam.RegisterCoder(reflect.TypeFor[Sums](), encodeSums, decodeSums)
	beam.RegisterType(reflect.TypeFor[mkl.Rows]())
	beam.RegisterCoder(reflect.TypeFor[mkl.Rows](), encodeRows, decodeRows)
	beam.RegisterType(reflect.TypeFor[Plan]())
	beam.RegisterCoder(reflect.TypeFor[Plan](), encodePlan, decodePlan)
	register.DoFn3x1[mkl.Rows, Plan, func(Sums), error](&sumFn{})
	register.Emitter1[Sums]()
	register.Combiner1[Sums](&mergeFn{})
}

// CreatePlan returns a collection of one plan. Where jobs are described in few bytes, as by Dataflow, a
// transform that reads the plan from a file takes its place.
func CreatePlan(s beam.Scope, plan *mkl.Plan) (beam.PCollection, error) {
	var b bytes.Buffer
	if err := plan.Save(&b); err != nil {
		return beam.PCollection{}, err
	}
	return beam.Create(s, Plan{b.Bytes()}), nil
}

// Sum returns a collection of one [Sums], those of all samples of a collection of [mkl.Rows] by a
// collection of one [Plan]. Each element is one block or more, of which the last may have fewer than
// [stat.BlockSamples] samples: elements should have that many or a multiple, for the sums of an element
// take memory and time that do not depend on its size.
func Sum(s beam.Scope, plan, rows beam.PCollection) beam.PCollection {
	s = s.Scope("bmkl.Sum")
	return beam.Combine(s, &mergeFn{}, beam.ParDo(s, &sumFn{}, rows, beam.SideInput{Input: plan}))
}

// sumFn sums an element. Runners have as many at work as they use processors.
type sumFn struct{ builder *mkl.PlanBuilder }

// ProcessElement emits the sums of an element.
func (f *sumFn) ProcessElement(rows mkl.Rows, plan Plan, emit func(Sums)) (err error) {
	defer func() {
		if err != nil {
			f.builder = nil // it may hold a part of the element, which will come again
		}
	}()
	if f.builder == nil {
		p, err := mkl.LoadPlan(bytes.NewReader(plan.Saved))
		if err != nil {
			return err
		}
		if f.builder, err = p.Builder(1); err != nil {
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

func encodePlan(p Plan) []byte { return p.Saved }

func decodePlan(b []byte) Plan { return Plan{bytes.Clone(b)} }

// encodeRows writes the number of samples and of matrices, the targets, and of each matrix the number of
// columns and the rows, little-endian.
func encodeRows(r mkl.Rows) []byte {
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
func decodeRows(b []byte) (r mkl.Rows, err error) {
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
