package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime/metrics"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/table"
	"github.com/bmkl/bmkl/internal/testkit/siege"
)

// attacks returns one for each format.
func attacks() []siege.Attack {
	var all []siege.Attack
	for _, f := range formats {
		files := f.files()
		change := f.change
		if change == nil {
			change = changeBytes
		}
		all = append(all, siege.Attack{Name: "forged " + f.name, Run: func(r *rand.Rand) siege.Case {
			return read(r, change(r, bytes.Clone(files[r.IntN(len(files))])))
		}})
	}
	return all
}

// pick returns one of the values.
func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// name is what a file is called. Errors begin with it.
const name = "data.file"

// What a reader may take: bytes for an error, or for what it prints about a file, and bytes of memory
// for a file of some kilobytes. The window of a zstd file takes most of this memory.
const (
	longest    = 4000
	mostMemory = 300 << 20
	cellMemory = 64 << 20 // that cells may take
)

// read reads a file in one of the ways of the command and judges what comes of it.
func read(r *rand.Rand, file []byte) (c siege.Case) {
	sum := sha256.Sum256(file)
	c.Print = binary.LittleEndian.Uint64(sum[:])
	complain := func(format string, args ...any) { c.Wrong = append(c.Wrong, fmt.Sprintf(format, args...)) }
	sane := func(err error) {
		if n := len(err.Error()); n > longest {
			complain("an error of %d bytes: %.100s", n, err)
		}
		if !strings.HasPrefix(err.Error(), name) {
			complain("an error without the file's name: %.100s", err)
		}
	}
	before := allocated()
	defer func() {
		// Unpacked, a byte can be a thousand; libraries take buffers of some megabytes.
		if taken := allocated() - before; taken > mostMemory {
			complain("%d bytes allocated for a file of %d", taken, len(file))
		}
	}()
	var in io.Reader = bytes.NewReader(file)
	size := int64(len(file))
	if r.IntN(3) == 0 { // a pipe
		in, size = io.MultiReader(in), -1
	}
	s, err := table.New(name, in, size, table.Options{
		Header: pick(r, table.HeaderAuto, table.HeaderAuto, table.HeaderYes, table.HeaderNo), Memory: cellMemory,
	})
	if err != nil {
		sane(err)
		return c
	}
	columns := s.Columns()
	for _, text := range append(s.Remarks(), columns[:min(len(columns), 8)]...) {
		if len(text) > len(file)+longest {
			complain("a text of %d bytes", len(text))
		}
	}
	var want []table.Want
	for j := range columns[:min(len(columns), 8)] {
		want = append(want, table.Want{
			Column: j, Lenient: r.IntN(2) == 0,
			Kind: pick(r, table.Number, table.Optional, table.Label, table.OptionalLabel, table.Undecided, table.Any, table.Any, table.Any),
		})
	}
	for d, err := range s.Blocks(want, pick(r, 0, 0, 1, 2)) {
		if err != nil {
			sane(err)
			return c
		}
		for _, w := range want {
			if n := len(d.Numbers[w.Column]) + len(d.Labels[w.Column]); n != d.Rows {
				complain("column %d has %d of %d rows", w.Column, n, d.Rows)
			}
			if w.Kind == table.Number {
				for i, v := range d.Numbers[w.Column] {
					if v-v != 0 {
						complain("column %d, row %d: %g", w.Column, i, v)
					}
				}
			}
		}
	}
	c.Outcome = siege.Held
	return c
}

// allocated returns how many bytes the program has taken so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// changeBytes changes one to four things of a binary file.
func changeBytes(r *rand.Rand, file []byte) []byte {
	for range 1 + r.IntN(4) {
		if len(file) == 0 {
			break
		}
		at := r.IntN(len(file))
		switch r.IntN(9) {
		case 0:
			file[at] ^= 1 << r.IntN(8)
		case 1:
			file[at] = byte(r.Uint32())
		case 2, 3, 4: // a number of some width and order
			n := pick(r, 0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 1<<20, math.MaxInt32, math.MaxUint32, 1<<40, math.MaxInt64, math.MaxUint64, r.Uint64(), r.Uint64N(256))
			var b [8]byte
			if r.IntN(4) == 0 {
				binary.BigEndian.PutUint64(b[:], n<<(64-8*pick(r, 1, 2, 4, 8)))
			} else {
				binary.LittleEndian.PutUint64(b[:], n)
			}
			copy(file[at:], b[:pick(r, 1, 2, 4, 8)])
		case 5:
			file = file[:at]
		case 6: // left out
			file = append(file[:at:at], file[min(len(file), at+1+r.IntN(16)):]...)
		case 7: // twice
			end := min(len(file), at+1+r.IntN(32))
			file = append(file[:end:end], file[at:]...)
		case 8: // moved
			to := r.IntN(len(file))
			copy(file[to:], file[at:min(len(file), at+1+r.IntN(32))])
		}
	}
	return file
}

// tokens are what may stand in a text, and what may not.
var tokens = []string{
	"", "0", "-1", "1e308", "1e309", "-1e-320", "nan", "inf", "-Inf", "0x1p-3", "1_000", "NA", "?", "null", "\x00", "\xff", "\ufeff",
	"\"", "\"\"", "\"a\nb\"", ",", ";", "\t", "\n", "\r\n", "\r", " ", "#", ":", "1:1", "0:1", "99999999:1", "4294967296:1", "9223372036854775807", "qid:3",
	"ä", "(1, 4194304)", "'<f8'", "2024-01-01", "true", "1e", "+", "--1", "1:2:3", "\x1b[31m", "\u202e",
}

// changeText changes one to four things of a text.
func changeText(r *rand.Rand, file []byte) []byte {
	for range 1 + r.IntN(4) {
		if len(file) == 0 || r.IntN(5) == 0 {
			file = changeBytes(r, file)
			continue
		}
		at := r.IntN(len(file))
		end := min(len(file), at+r.IntN(6))
		token := pick(r, tokens...)
		switch r.IntN(4) {
		case 0:
			token = fmt.Sprint(math.Exp(700*r.NormFloat64()/2) * r.NormFloat64())
		case 1:
			if r.IntN(20) == 0 {
				token = string(bytes.Repeat([]byte(token), 1+r.IntN(2000)))
			}
		}
		file = append(append(file[:at:at], token...), file[end:]...)
	}
	return file
}
