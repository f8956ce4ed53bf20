package vi

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bmkl/bmkl/vi/internal/check"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// Journal keeps the states of the ascents that a fit makes, one after another, so that an
// interrupted fit can continue. The same fit is started again with the journal, and each of its
// ascents begins with the state that the ascent of the same number had reached. A state holds
// everything that further sweeps depend on, so the fit ends with the same bits as a fit without
// interruption. An ascent without a state is repeated, which gives the same bits too.
//
// The zero value is an empty journal. A journal serves one fit. To continue a fit, read the bytes of
// its journal into a new journal. The bytes may be read at any time.
type Journal struct {
	// Save, if not nil, is called after a sweep for the journal to be saved, at most once in
	// Every. An error ends the fit.
	Save  func() error
	Every time.Duration

	mu     sync.Mutex
	stages []*Stage // in the order in which ascents began
	begun  int
	saved  time.Time
}

// Stage is what a journal keeps of one ascent. All methods of a nil Stage do nothing.
type Stage struct {
	journal *Journal
	number  int  // from 1
	known   bool // there is a state
	done    bool // the ascent has converged
	passed  int  // sweeps that do not count for convergence, see [Ascent.Continue]
	rec     Record
	values  []float64
}

// Sweeps returns how many sweeps the ascents of the journal have made.
func (j *Journal) Sweeps() (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var before []float64
	for _, s := range j.stages {
		if !s.known {
			continue
		}
		// The trace of an ascent that goes on from the one before begins with that one's.
		trace := s.rec.Trace
		n += len(trace)
		if len(before) <= len(trace) && slices.Equal(before, trace[:len(before)]) {
			n -= len(before)
		}
		before = trace
	}
	return n
}

// Next returns the stage of the ascent that begins now, nil without a journal.
func (j *Journal) Next() *Stage {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.begun == len(j.stages) {
		j.stages = append(j.stages, &Stage{})
	}
	s := j.stages[j.begun]
	j.begun++
	s.journal, s.number = j, j.begun
	return s
}

// Resume puts the state that was noted back where visit names it, and the record into rec. known
// says whether a state was noted; without one nothing is changed. done says that the ascent has
// converged.
func (s *Stage) Resume(visit func(*work.Snapshot), rec *Record) (known, done bool, err error) {
	if s == nil || !s.known {
		return false, false, nil
	}
	if err := work.Put(visit, s.values); err != nil {
		return false, false, fmt.Errorf("vi: the state of ascent %d: %w", s.number, err)
	}
	*rec = s.rec
	rec.Trace, rec.Changes = slices.Clone(s.rec.Trace), slices.Clone(s.rec.Changes)
	return true, s.done, nil
}

// Note keeps the state that visit names after the last sweep of rec, and saves the journal if
// it is time.
func (s *Stage) Note(visit func(*work.Snapshot), rec *Record, done bool) error {
	if s == nil {
		return nil
	}
	j := s.journal
	j.mu.Lock()
	s.values = work.Take(visit, s.values)
	trace, changes := s.rec.Trace[:0], s.rec.Changes[:0]
	s.rec = *rec
	s.rec.Trace, s.rec.Changes = append(trace, rec.Trace...), append(changes, rec.Changes...)
	s.known, s.done = true, done
	due := j.Save != nil && time.Since(j.saved) >= j.Every
	j.mu.Unlock()
	if !due {
		return nil
	}
	err := j.Save()
	j.mu.Lock()
	j.saved = time.Now()
	j.mu.Unlock()
	return err
}

// A journal in bytes is journalMagic, the number of stages, each with whether there is a state,
// whether it is done, passed, the record and the numbers of the state, and the SHA-256 of all
// that. Numbers take eight bytes, little endian; lists follow their length.
const journalMagic = "bmkl journal 1\n"

// MarshalBinary implements [encoding.BinaryMarshaler]. Its error is always nil.
func (j *Journal) MarshalBinary() ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := []byte(journalMagic)
	word := func(v uint64) { b = binary.LittleEndian.AppendUint64(b, v) }
	list := func(x []float64) {
		word(uint64(len(x)))
		for _, v := range x {
			word(math.Float64bits(v))
		}
	}
	truth := func(v bool) {
		if v {
			word(1)
		} else {
			word(0)
		}
	}
	word(uint64(len(j.stages)))
	for _, s := range j.stages {
		truth(s.known)
		truth(s.done)
		word(uint64(s.passed))
		word(uint64(s.rec.Reason))
		word(uint64(int64(s.rec.Left)))
		word(math.Float64bits(s.rec.Jitter))
		list(s.rec.Trace)
		list(s.rec.Changes)
		list(s.values)
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. Bytes that are no journal, are cut off
// or damaged are an error and leave j as it was. It takes no more memory than a small multiple of
// the length of data.
func (j *Journal) UnmarshalBinary(data []byte) error {
	body, ok := bytes.CutPrefix(data, []byte(journalMagic))
	if !ok {
		return fmt.Errorf("vi: journal: it does not begin as one")
	}
	cut := len(body) - sha256.Size
	if cut < 0 {
		return fmt.Errorf("vi: journal: it is cut off")
	}
	if sum := sha256.Sum256(data[:len(data)-sha256.Size]); !bytes.Equal(sum[:], body[cut:]) {
		return fmt.Errorf("vi: journal: its checksum is wrong")
	}
	rest := body[:cut]
	whole := true
	word := func() uint64 {
		if len(rest) < 8 {
			whole = false
			return 0
		}
		v := binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
		return v
	}
	small := func(most int) int {
		v := word()
		if v > uint64(most) {
			whole = false
			return 0
		}
		return int(v)
	}
	list := func() (x []float64) {
		for range small(len(rest) / 8) {
			x = append(x, math.Float64frombits(word()))
		}
		return x
	}
	var stages []*Stage
	for range small(len(rest) / 8) {
		s := &Stage{known: small(1) == 1, done: small(1) == 1, passed: small(math.MaxInt32)}
		s.rec.Reason = Reason(small(int(RoundOff)))
		s.rec.Left = int(int64(word()))
		s.rec.Jitter = math.Float64frombits(word())
		s.rec.Trace, s.rec.Changes, s.values = list(), list(), list()
		begun := !s.known // it may ignore sweeps of the record that it will note
		if whole = whole && (begun || s.passed <= len(s.rec.Trace)) && check.NonFinite(s.rec.Trace) < 0; !whole {
			break
		}
		stages = append(stages, s)
	}
	if !whole || len(rest) > 0 {
		return fmt.Errorf("vi: journal: it is damaged")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stages, j.begun = stages, 0
	return nil
}
