package mkl

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"testing"

	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzJournal lets fits go on from any bytes with a checksum that is right: an error or a model,
// and a model predicts numbers or says why not.
func FuzzJournal(f *testing.F) {
	views := []View{{X: Column([]float64{1, 2, 4, 3, 7}), Input: "x1", Kernel: kernel.RBF{Width: 1}}, {X: Column([]float64{0, 1, -1, 2, 5}), Input: "x2", Kernel: kernel.Linear{}}}
	y := []float64{1, -1, 2, 0.5, 3}
	fit := func(t testing.TB, j *Journal) {
		s := fitting{Fitting: Fitting{Journal: j, Workers: 1}, Ascent: Ascent{MaxSweeps: 15}}
		m, err := Regression{Fitting: s.Fitting, Ascent: s.Ascent}.Fit(t.Context(), views, y)
		if m == nil {
			assert.Error(t, err)
			return
		}
		if p, err := m.PredictTargets(t.Context(), PredictOptions{}, views[0].X, views[1].X); err == nil {
			assert.False(t, math.IsNaN(p.Mean[0][0]) || !(p.Variance[0][0] > 0))
		}
	}
	var kept []byte
	fit(f, &Journal{Every: 1, Save: func(data []byte) error { kept = data; return nil }})
	const head = len(journalMagic) + 3*8
	const first = len("bmkl journal 1\n")      // where the numbers of the ascents begin
	body := kept[head : len(kept)-sha256.Size] // of the ascents
	f.Add(body, 0, uint64(0))
	for word := range (len(body) - first) / 8 {
		for _, v := range []float64{math.NaN(), math.Inf(1), -1, 0, 1e300} {
			f.Add(body, word, math.Float64bits(v))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, word int, value uint64) {
		body = append([]byte(nil), body...)
		if word >= 0 && word < (len(body)-first)/8 {
			binary.LittleEndian.PutUint64(body[first+8*word:], value)
		}
		sum := sha256.Sum256(body)
		data := append(append(append([]byte(nil), kept[:head]...), body...), sum[:]...)
		j := &Journal{}
		if err := j.UnmarshalBinary(data); err != nil {
			return
		}
		_, err := j.MarshalBinary()
		require.NoError(t, err)
		fit(t, j)
	})
}
