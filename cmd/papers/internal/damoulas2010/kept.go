package damoulas2010

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bmkl/bmkl/cmd/internal/atomicfile"
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/la"
)

// kept is a folder with what a run has finished, from which the next one goes on: kernel
// matrices, as NumPy files, and the scores of families, a line of JSON for each. Files of
// other data or settings may lie beside them.
type kept struct {
	env      *console.Env
	dir      string // "" keeps nothing
	data     string // a hash of the sequences and of the families
	settings string // JSON

	mu     sync.Mutex
	lines  []byte // of the file of scores
	scores map[string]homologyScore
}

// keptScores is the name of the file of scores.
const keptScores = "families.jsonl"

// keptLine is a line of it.
type keptLine struct {
	Settings string        `json:"settings"`
	Score    homologyScore `json:"score"`
}

// openKept reads what is there for runs of these settings on these data.
func openKept(e *console.Env, dir, data string, settings any) (*kept, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(data))
	k := &kept{env: e, dir: dir, data: hex.EncodeToString(hash[:6]), scores: map[string]homologyScore{}}
	k.settings = k.data + " " + string(text)
	if dir == "" {
		return k, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, console.Input(err)
	}
	k.lines, err = os.ReadFile(filepath.Join(dir, keptScores))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, console.Input(err)
	}
	for number, text := range bytes.Split(bytes.TrimSpace(k.lines), []byte("\n")) {
		if len(text) == 0 {
			continue
		}
		var line keptLine
		if err := json.Unmarshal(text, &line); err != nil {
			return nil, console.Inputf("%s, line %d: %w", filepath.Join(dir, keptScores), number+1, err)
		}
		if line.Settings == k.settings {
			k.scores[line.Score.Family] = line.Score
		}
	}
	return k, nil
}

// score returns the score of a family that is finished.
func (k *kept) score(family string) (homologyScore, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.scores[family]
	return s, ok
}

// add keeps the score of a family.
func (k *kept) add(s homologyScore) error {
	if k.dir == "" {
		return nil
	}
	text, err := json.Marshal(keptLine{k.settings, s})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.scores[s.Family] = s
	k.lines = append(append(k.lines, text...), '\n')
	return atomicfile.Write(k.env.Ctx, filepath.Join(k.dir, keptScores), func(w io.Writer) error {
		_, err := w.Write(k.lines)
		return err
	})
}

// kernel returns the n×n matrix of a name: the kept one, or else it computes the matrix.
func (k *kept) kernel(name string, n int, compute func() (la.Matrix[float64], error)) (la.Matrix[float64], error) {
	if k.dir == "" {
		return compute()
	}
	path := filepath.Join(k.dir, fmt.Sprintf("%s %s.npy", name, k.data))
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", n, n)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	header = "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header
	file, err := os.ReadFile(path)
	if err == nil {
		values, ok := bytes.CutPrefix(file, []byte(header))
		if !ok || len(values) != 8*n*n {
			return la.Matrix[float64]{}, console.Inputf("%s is not a matrix of %d×%d numbers", path, n, n)
		}
		x := la.NewMatrix[float64](n, n)
		for i := range x.Data {
			x.Data[i] = math.Float64frombits(binary.LittleEndian.Uint64(values[8*i:]))
		}
		return x, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return la.Matrix[float64]{}, console.Input(err)
	}
	x, err := compute()
	if err != nil {
		return x, err
	}
	return x, atomicfile.Write(k.env.Ctx, path, func(w io.Writer) error {
		if _, err := io.WriteString(w, header); err != nil {
			return err
		}
		row := make([]byte, 8*n)
		for i := range n {
			for j, v := range x.Row(i) {
				binary.LittleEndian.PutUint64(row[8*j:], math.Float64bits(v))
			}
			if _, err := w.Write(row); err != nil {
				return err
			}
		}
		return nil
	})
}
