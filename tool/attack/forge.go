package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/internal/testkit/siege"
	"github.com/bmkl/bmkl/mkl"
)

// forged is a model file taken apart by its description in docs/theory/model-file.md, sharing
// no code with package mkl, to be changed and put together with a checksum that is right.
type forged struct {
	meta    map[string]string
	tensors []forgedTensor // by name
}

// forgedTensor is a tensor, whose data are the original's until they are changed.
type forgedTensor struct {
	name  string
	shape []int
	data  []float64
}

// original is a file to be forged.
type original struct {
	file  []byte
	parts *forged
}

// parsed takes apart a file that this program has made.
func parsed(file []byte) *original {
	parts, err := parse(file)
	if err != nil {
		panic(err)
	}
	return &original{file, parts}
}

// parse takes a file apart.
func parse(file []byte) (*forged, error) {
	if len(file) < 8 {
		return nil, fmt.Errorf("%d bytes", len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		return nil, fmt.Errorf("a header of %d bytes in a file of %d", n, len(file))
	}
	body := file[8+n:]
	var header map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+n], &header); err != nil {
		return nil, err
	}
	f := &forged{}
	for name, text := range header {
		if name == "__metadata__" {
			if err := json.Unmarshal(text, &f.meta); err != nil {
				return nil, err
			}
			continue
		}
		var in struct {
			Shape   []int   `json:"shape"`
			Offsets []int64 `json:"data_offsets"`
		}
		if err := json.Unmarshal(text, &in); err != nil {
			return nil, err
		}
		if len(in.Offsets) != 2 || in.Offsets[0] < 0 || in.Offsets[0] > in.Offsets[1] || in.Offsets[1] > int64(len(body)) {
			return nil, fmt.Errorf("tensor %q lies outside of the file", name)
		}
		t := forgedTensor{name: name, shape: in.Shape}
		for at := in.Offsets[0]; at+8 <= in.Offsets[1]; at += 8 {
			t.data = append(t.data, math.Float64frombits(binary.LittleEndian.Uint64(body[at:])))
		}
		f.tensors = append(f.tensors, t)
	}
	slices.SortFunc(f.tensors, func(a, b forgedTensor) int { return strings.Compare(a.name, b.name) })
	return f, nil
}

// clone returns a file to be changed.
func (f *forged) clone() *forged { return &forged{maps.Clone(f.meta), slices.Clone(f.tensors)} }

// bytes puts the file together, and returns its checksum besides.
func (f *forged) bytes() (file []byte, sum [sha256.Size]byte) {
	const key = `"sha256":"`
	head := append([]byte(`{"__metadata__":{`+key), strings.Repeat("0", 2*sha256.Size)...)
	head = append(head, '"')
	for _, k := range slices.Sorted(maps.Keys(f.meta)) {
		if k != "sha256" {
			head = appendText(append(appendText(append(head, ','), k), ':'), f.meta[k])
		}
	}
	head = append(head, '}')
	end := 0
	for _, t := range f.tensors {
		head = append(appendText(append(head, ','), t.name), `:{"dtype":"F64","shape":[`...)
		for i, d := range t.shape {
			if i > 0 {
				head = append(head, ',')
			}
			head = strconv.AppendInt(head, int64(d), 10)
		}
		head = strconv.AppendInt(append(head, `],"data_offsets":[`...), int64(end), 10)
		end += 8 * len(t.data)
		head = append(strconv.AppendInt(append(head, ','), int64(end), 10), "]}"...)
	}
	head = append(head, '}')
	file = make([]byte, 0, 8+len(head)+end)
	file = append(binary.LittleEndian.AppendUint64(file, uint64(len(head))), head...)
	for _, t := range f.tensors {
		for _, v := range t.data {
			file = binary.LittleEndian.AppendUint64(file, math.Float64bits(v))
		}
	}
	sum = sha256.Sum256(file)
	hex.Encode(file[bytes.Index(file, []byte(key))+len(key):], sum[:])
	return file, sum
}

// appendText appends a text as JSON.
func appendText(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // of a text
	}
	return append(b, quoted...)
}

// forge changes a model file, and loads and judges what it has become.
func forge(r *rand.Rand, of *original) siege.Case {
	if r.IntN(8) == 0 { // not even a checksum that is right
		file := bytes.Clone(of.file)
		for range 1 + r.IntN(3) {
			file[r.IntN(len(file))] ^= 1 << r.IntN(8)
		}
		c := siege.Case{Print: fingerprint(file)}
		if _, err := mkl.Load(bytes.NewReader(file)); err == nil {
			c.Outcome = siege.Held // the flips took each other back, or only blanks differ
		}
		return c
	}
	f := of.parts.clone()
	what := f.mutate(r)
	file, sum := f.bytes()
	m, c := loadForged(file, binary.LittleEndian.Uint64(sum[:]))
	if m == nil {
		return c
	}
	if c.Wrong = judgeForged(&problem{Rand: r, n: 6}, m); len(c.Wrong) > 0 {
		c.Wrong = append(what, c.Wrong...)
	}
	return c
}

// fingerprint returns a number by which files are recognised.
func fingerprint(file []byte) uint64 {
	sum := sha256.Sum256(file)
	return binary.LittleEndian.Uint64(sum[:])
}

// kinds of models, for files that claim to be another.
var kinds = []string{
	"regression", "shared-regression", "task-regression", "classifier", "multilabel", "task-classifier",
	"multigp", "multigp-classifier", "landmarks", "landmark-classifier", "pool", "pools", "pool-classifier", "probit-classifier",
	"multi-task", "spike-slab", "factors", "pair-regression", "pair-classifier", "plan", "class-plan", strings.Repeat("k", 1<<16),
}

// mutate changes one to four things of a file and returns what they are.
func (f *forged) mutate(r *rand.Rand) []string {
	var what []string
	for range 1 + r.IntN(4) {
		var t *forgedTensor
		if len(f.tensors) > 0 {
			t = &f.tensors[r.IntN(len(f.tensors))]
		}
		switch act := r.IntN(8); {
		case act < 4 && t != nil && len(t.data) > 0:
			i := r.IntN(len(t.data))
			v := value(r, t.data[i])
			t.data = slices.Clone(t.data)
			if r.IntN(3) == 0 {
				for j := range t.data {
					t.data[j] = v
				}
			} else {
				t.data[i] = v
			}
			what = append(what, fmt.Sprintf("%s[%d]=%g", t.name, i, v))
		case act < 6:
			var settings any
			if json.Unmarshal([]byte(f.meta["model"]), &settings) != nil {
				continue
			}
			text, err := json.Marshal(changed(r, settings))
			if err != nil {
				continue
			}
			f.meta["model"] = string(text)
			what = append(what, "settings")
		case act == 6 && t != nil:
			t.reshape(r)
			what = append(what, "shape of "+t.name)
		case act == 7:
			f.meta["kind"] = pick(r, kinds...)
			what = append(what, "kind "+f.meta["kind"][:min(len(f.meta["kind"]), 20)])
		}
	}
	return what
}

// value returns a number in place of v that is likely to do harm.
func value(r *rand.Rand, v float64) float64 {
	switch r.IntN(4) {
	case 0: // near it
		return v * (1 + float64(r.NormFloat64()*pick(r, 1e-12, 1e-3, 1)))
	case 1: // of any size
		return math.Copysign(math.Pow(10, float64(640*r.Float64())-322), float64(r.Float64())-0.3)
	}
	return pick(r,
		0, -1, 2, 1e300, -1e300, 1e-300, 5e-324, math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1),
		1e18, 1e100, 1e150, -v, v*1e10, v*1e-10, v*(1+1e-9),
	)
}

// reshape changes the shape of a tensor and at times its length.
func (t *forgedTensor) reshape(r *rand.Rand) {
	switch r.IntN(5) {
	case 0:
		t.shape = []int{len(t.data)}
	case 1:
		t.shape = append([]int{1}, t.shape...)
	case 2:
		t.shape, t.data = []int{0}, nil
	case 3:
		t.shape, t.data = []int{0, math.MaxInt}, nil
	case 4:
		t.data = append(slices.Clip(t.data), 1)
		t.shape = []int{len(t.data)}
	}
}

// changed returns v, of JSON, with something changed in it.
func changed(r *rand.Rand, v any) any {
	switch x := v.(type) {
	case map[string]any:
		var keys []string
		for k := range x {
			keys = append(keys, k)
		}
		if len(keys) == 0 {
			return x
		}
		slices.Sort(keys)
		k := keys[r.IntN(len(keys))]
		if r.IntN(12) == 0 {
			delete(x, k)
		} else {
			x[k] = changed(r, x[k])
		}
		return x
	case []any:
		switch i := r.IntN(10); {
		case len(x) == 0 || i == 0:
			return append(x, 1.0)
		case i == 1:
			return x[:len(x)-1]
		default:
			i = r.IntN(len(x))
			x[i] = changed(r, x[i])
			return x
		}
	case float64:
		if v := value(r, x); r.IntN(4) == 0 && v-v == 0 { // JSON has no others
			return v
		}
		all := []any{0.0, -1.0, 1e300, 1e-300, 5e-324, 1.0, 2.0, 4294967296.0, 9e18, math.MaxFloat64, x + 1, x - 1, -x, "x", nil}
		return all[r.IntN(len(all))]
	case string:
		all := []any{"", "rbf", "linear", "polynomial", "distance", "precomputed", "WSum", "Bin", "ARD", "\x00", 1.0, nil, strings.Repeat("A", 1<<16)}
		return all[r.IntN(len(all))]
	case bool:
		return !x
	}
	return []any{1.0, "x", true}[r.IntN(3)]
}

// loadForged loads a forged file. The model is nil if it is refused, or takes samples that are too large for this machine.
func loadForged(file []byte, print uint64) (mkl.Model, siege.Case) {
	c := siege.Case{Print: print}
	m, err := mkl.Load(bytes.NewReader(file))
	if err != nil {
		c.Wrong = sane(err)
		return nil, c
	}
	c.Outcome = siege.Held
	for _, in := range m.Inputs() {
		if in.Cols > 1<<16 {
			return nil, c
		}
	}
	return m, c
}
