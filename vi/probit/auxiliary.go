package probit

import (
	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/work"
)

// coneWorker is the scratch of integrals over the cones on which auxiliary
// variables live.
type coneWorker struct {
	cone    special.Cone
	in, out []float64 // C
}

// chunkSize is the number of samples of a task of coneWorkers.
const chunkSize = 16

// newChunks returns a crew whose tasks are chunkSize samples each.
func newChunks(workers, samples, C int) *work.Crew[*coneWorker] {
	return work.NewCrew(workers, (samples+chunkSize-1)/chunkSize, func(int) *coneWorker {
		return &coneWorker{in: make([]float64, C), out: make([]float64, C)}
	})
}

// updateY is q(y_n) = N(E[W]·E[k_n], I) on the cone of its label (equations 1.5 to
// 1.7).
func (m *model) updateY() error {
	m.location.CopyFrom(m.f)
	return m.chunks.Each(m.coneOf)
}

// updateChunk is updateY for a chunk of samples.
func (m *model) updateChunk(w *coneWorker, chunk int) error {
	w.truncate(chunk, m.labels, m.location, m.y, m.logZ)
	return nil
}

// truncate makes y the means of auxiliary variables around the locations on the cones of
// their labels, and logZ the logarithms of the cones' probabilities, for a chunk of samples.
func (w *coneWorker) truncate(chunk int, labels []int, location, y la.Matrix[float64], logZ []float64) {
	in, out := w.in, w.out
	for n := chunk * chunkSize; n < min(len(labels), (chunk+1)*chunkSize); n++ {
		for c := range in {
			in[c] = location.At(c, n)
		}
		logZ[n] = w.cone.Mean(labels[n], in, out)
		for c, v := range out {
			y.Set(c, n, v)
		}
	}
}
