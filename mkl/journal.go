package mkl

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/vi"
)

// Journal keeps the state of a running fit, so that an interrupted fit can continue:
// the same fit with the saved journal gives the same bits as a fit without an
// interruption. Set it as [Fitting].Journal, either empty or as UnmarshalBinary has read it.
//
//	journal := &mkl.Journal{Save: func(data []byte) error { return os.WriteFile(path, data, 0o600) }}
//	if data, err := os.ReadFile(path); err == nil {
//		err = journal.UnmarshalBinary(data)
//	}
//
// It keeps the state of every ascent of a bound or of the evidence ([Auto] and
// [AutoClassifier] make several), of every pass of a [LandmarkClassifier], and of the chains of a sampled
// [ProbitClassifier]. The steps before, such as kernels, sums of samples, effects of levels and the plan of a fit
// with landmarks, are computed anew.
//
// A journal serves one call of Fit. It must not be copied.
type Journal struct {
	// Save, if not nil, gets the bytes of the journal and should write them. It is called after the
	// first sweep and then at most once in Every. An error ends the fit.
	Save  func(data []byte) error
	Every time.Duration // 0 means a minute

	ascents vi.Journal

	mu     sync.Mutex
	begun  bool
	of     [2]uint64 // Seed, and the bits of Tolerance
	chains []byte    // a checkpoint of chains; may be nil
}

// claim records the settings of a fit that begins. It returns an error if the journal belongs to a fit with other settings.
func (j *Journal) claim(f *fitting) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	of := [2]uint64{f.Seed, math.Float64bits(f.Tolerance)}
	if j.begun && j.of != of {
		return fmt.Errorf("mkl: Journal: it is of a fit with Seed %d and Tolerance %g, not %d and %g",
			j.of[0], math.Float64frombits(j.of[1]), f.Seed, f.Tolerance)
	}
	j.begun, j.of = true, of
	return nil
}

// ofAscents returns the journal of a fit's ascents, or nil without a journal.
func (j *Journal) ofAscents() *vi.Journal {
	if j == nil {
		return nil
	}
	j.ascents.Every = cmp.Or(j.Every, time.Minute)
	j.ascents.Save = j.save
	return &j.ascents
}

// save calls Save.
func (j *Journal) save() error {
	if j.Save == nil {
		return nil
	}
	data, err := j.MarshalBinary()
	if err == nil {
		err = j.Save(data)
	}
	if err != nil {
		return fmt.Errorf("Journal: %w", err) // the fit that returns the error adds its prefix
	}
	return nil
}

// ofChains makes the journal keep the chains of s, and makes s continue from the chains in the journal.
func (j *Journal) ofChains(s *mcmc.Sampling) error {
	if j == nil {
		return nil
	}
	if j.chains != nil && s.Resume == nil {
		s.Resume = &mcmc.Checkpoint{}
		if err := s.Resume.UnmarshalBinary(j.chains); err != nil {
			return fmt.Errorf("mkl: Journal: %w", err)
		}
	}
	also := s.Checkpoint
	s.Every = cmp.Or(s.Every, 100)
	var saved time.Time // used by one goroutine only: checkpoints come one after another
	s.Checkpoint = func(c *mcmc.Checkpoint) error {
		data, err := c.MarshalBinary()
		if err != nil {
			return err
		}
		j.mu.Lock()
		j.chains = data
		j.mu.Unlock()
		if time.Since(saved) >= cmp.Or(j.Every, time.Minute) {
			if err := j.save(); err != nil {
				return err
			}
			saved = time.Now()
		}
		if also != nil {
			return also(c)
		}
		return nil
	}
	return nil
}

// Sweeps returns the number of sweeps and steps whose state the journal has, without the sweeps of chains.
func (j *Journal) Sweeps() int { return j.ascents.Sweeps() }

// A journal in bytes is journalMagic, the settings, the number of bytes of the chains, the chains
// and the journal of the ascents.
const journalMagic = "bmkl fit journal 1\n"

// MarshalBinary implements [encoding.BinaryMarshaler]. It may be called while the fit runs.
func (j *Journal) MarshalBinary() ([]byte, error) {
	ascents, err := j.ascents.MarshalBinary()
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	b := []byte(journalMagic)
	for _, v := range []uint64{j.of[0], j.of[1], uint64(len(j.chains))} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return append(append(b, j.chains...), ascents...), nil
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It returns an error, and leaves j unchanged, if the
// bytes are damaged or not a journal.
func (j *Journal) UnmarshalBinary(data []byte) error {
	const words = 3
	body, ok := bytes.CutPrefix(data, []byte(journalMagic))
	if !ok || len(body) < 8*words {
		return fmt.Errorf("mkl: Journal: the bytes are no journal of a fit")
	}
	var head [words]uint64
	for i := range head {
		head[i] = binary.LittleEndian.Uint64(body[8*i:])
	}
	body = body[8*words:]
	if head[2] > uint64(len(body)) {
		return fmt.Errorf("mkl: Journal: it is cut off")
	}
	chains := bytes.Clone(body[:head[2]])
	if len(chains) > 0 {
		if err := new(mcmc.Checkpoint).UnmarshalBinary(chains); err != nil {
			return fmt.Errorf("mkl: Journal: %w", err)
		}
	}
	if err := j.ascents.UnmarshalBinary(body[head[2]:]); err != nil {
		return fmt.Errorf("mkl: Journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun, j.of, j.chains = true, [2]uint64{head[0], head[1]}, nil
	if len(chains) > 0 {
		j.chains = chains
	}
	return nil
}
