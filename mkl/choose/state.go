package choose

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
)

// state holds the losses that a validation has computed so far, in a file of JSON.
type state struct {
	// Key identifies the validation: a hash of [Validation.Key], the truth and the folds.
	Key string `json:"key"`

	// Losses are by candidate, fold and score. They are text because JSON has no
	// infinities.
	Losses map[string]map[string]map[string]string `json:"losses"`

	path string // empty: nothing is kept
}

// open reads the state from the file, or begins one.
func (v *Validation) open() (*state, error) {
	s := &state{path: v.File}
	if s.path == "" {
		return s, nil
	}
	key := v.hash()
	text, err := os.ReadFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("choose: %w", err)
	default:
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("choose: %s is no state of a validation: %w", s.path, err)
		}
		if s.Key != key {
			return nil, fmt.Errorf("choose: %s is the state of a validation of other data, folds or settings", s.path)
		}
	}
	s.Key = key
	if s.Losses == nil {
		s.Losses = map[string]map[string]map[string]string{}
	}
	return s, s.write() // report a path that cannot be written before the work begins
}

// keptScores is the version of the scores that a state holds: a state of other scores is not continued.
const keptScores = 2

// hash computes the key of the state.
func (v *Validation) hash() string {
	h := sha256.New()
	number := func(n int) { writeBits(h, uint64(n)) }
	number(keptScores)
	number(len(v.Key))
	h.Write([]byte(v.Key))
	truth := func(t Truth) {
		number(len(t.Numbers))
		for _, x := range t.Numbers {
			writeBits(h, math.Float64bits(x))
		}
		number(len(t.Classes))
		for _, c := range t.Classes {
			number(c)
		}
		for _, y := range t.Counts {
			writeBits(h, math.Float64bits(y))
		}
		for _, one := range t.Times {
			writeBits(h, math.Float64bits(one.From))
			writeBits(h, math.Float64bits(one.To))
		}
		if t.At != 0 {
			writeBits(h, math.Float64bits(t.At))
		}
	}
	truth(v.Truth)
	for _, own := range v.Truth.Targets {
		truth(own)
	}
	for _, f := range v.Folds {
		for _, rows := range [][]int{f.Train, f.Test} {
			number(len(rows))
			for _, i := range rows {
				number(i)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func writeBits(h hash.Hash, bits uint64) {
	h.Write(binary.LittleEndian.AppendUint64(nil, bits))
}

// The losses of target o, counted from 1, have the score's name followed by " of target o".

// find returns the losses of a candidate on a fold, if the state has them: first of all targets together, then of each of
// the given number of targets.
func (s *state) find(name string, fold, targets int) ([]map[Score]float64, bool) {
	kept, ok := s.Losses[name][strconv.Itoa(fold)]
	if !ok {
		return nil, false
	}
	all := make([]map[Score]float64, 1+targets)
	for o := range all {
		for score := Score(0); score < endOfScores+pitBins; score++ {
			text, ok := kept[underTarget(score, o)]
			if !ok {
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, false
			}
			if all[o] == nil {
				all[o] = map[Score]float64{}
			}
			all[o][score] = v
		}
	}
	return all, true
}

// underTarget is the name of a score of target o; 0 stands for all targets together.
func underTarget(s Score, o int) string {
	if o == 0 {
		return s.String()
	}
	return fmt.Sprintf("%v of target %d", s, o)
}

// add stores losses in the state.
func (s *state) add(name string, fold int, losses []map[Score]float64) error {
	if s.path == "" {
		return nil
	}
	if s.Losses[name] == nil {
		s.Losses[name] = map[string]map[string]string{}
	}
	kept := map[string]string{}
	for o, own := range losses {
		for score, v := range own {
			kept[underTarget(score, o)] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	s.Losses[name][strconv.Itoa(fold)] = kept
	return s.write()
}

// write replaces the file as a whole, or leaves it unchanged.
func (s *state) write() (err error) {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return fmt.Errorf("choose: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), "."+filepath.Base(s.path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("choose: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		return fmt.Errorf("choose: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
