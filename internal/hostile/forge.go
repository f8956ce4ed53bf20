package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// forged is a model file taken apart by its description in docs/model-file.md, sharing
// no code with package mkl, to be changed and put together with a checksum that is right.
type forged struct {
	meta    map[string]string
	tensors map[string]*forgedTensor
}

type forgedTensor struct {
	shape []int
	data  []float64
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
	f := &forged{tensors: map[string]*forgedTensor{}}
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
		t := &forgedTensor{shape: in.Shape}
		for at := in.Offsets[0]; at+8 <= in.Offsets[1]; at += 8 {
			t.data = append(t.data, math.Float64frombits(binary.LittleEndian.Uint64(body[at:])))
		}
		f.tensors[name] = t
	}
	return f, nil
}

// bytes puts the file together.
func (f *forged) bytes() []byte {
	meta := map[string]string{}
	for k, v := range f.meta {
		meta[k] = v
	}
	meta["sha256"] = strings.Repeat("0", 2*sha256.Size)
	header := map[string]any{"__metadata__": meta}
	var body []byte
	for _, name := range f.names() {
		t := f.tensors[name]
		begin := len(body)
		for _, v := range t.data {
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(v))
		}
		header[name] = map[string]any{"dtype": "F64", "shape": t.shape, "data_offsets": []int{begin, len(body)}}
	}
	text, err := json.Marshal(header)
	if err != nil {
		panic(err) // of strings and numbers
	}
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	file = append(append(file, text...), body...)
	sum := sha256.Sum256(file)
	const key = `"sha256":"`
	hex.Encode(file[bytes.Index(file, []byte(key))+len(key):], sum[:])
	return file
}

func (f *forged) names() []string {
	var names []string
	for name := range f.tensors {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// kinds of models, for files that claim to be another.
var kinds = []string{
	"regression", "shared-regression", "task-regression", "classifier", "multilabel", "task-classifier",
	"multigp", "multigp-classifier", "landmarks", "landmark-classifier", "pool", "pool-classifier", "probit-classifier",
	"multi-task", "spike-slab", "factors", "pair-regression", "pair-classifier",
}

// mutate changes one to three things of a file and returns what they are.
func (f *forged) mutate(r *rand.Rand) []string {
	var what []string
	for range 1 + r.IntN(3) {
		names := f.names()
		name := ""
		var t *forgedTensor
		if len(names) > 0 {
			name = names[r.IntN(len(names))]
			t = f.tensors[name]
		}
		switch act := r.IntN(8); {
		case act < 4 && t != nil && len(t.data) > 0:
			i := r.IntN(len(t.data))
			v := value(r, t.data[i])
			if r.IntN(3) == 0 {
				for j := range t.data {
					t.data[j] = v
				}
			} else {
				t.data[i] = v
			}
			what = append(what, fmt.Sprintf("%s[%d]=%g", name, i, v))
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
			what = append(what, "shape of "+name)
		case act == 7:
			f.meta["kind"] = kinds[r.IntN(len(kinds))]
			what = append(what, "kind "+f.meta["kind"])
		}
	}
	return what
}

// value returns a number in place of v that is likely to do harm.
func value(r *rand.Rand, v float64) float64 {
	all := []float64{
		0, -1, 2, 1e300, -1e300, 1e-300, 5e-324, math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1),
		1e18, 1e100, 1e150, -v, v * 1e10, v * 1e-10, v * (1 + 1e-9),
	}
	return all[r.IntN(len(all))]
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
		t.data = append(t.data, 1)
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
