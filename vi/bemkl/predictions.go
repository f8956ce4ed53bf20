package bemkl

import (
	"math"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// Predictions implements [vi.Objective].
func (m *sharedLayers) Predictions(p *vi.Predictions) {
	p.Resize(m.L * m.N)
	for o := range m.L {
		m.predict(p, o, 0, &m.reads[o], 1/m.epsilonMean[o], m.upsilonMean[0])
	}
}

// predict stores what output o, which reads row r as q says, predicts at the training
// points: the means of a new sample there, and of its variance, which for each sample
// would take a product with Cov[a], the mean over the samples, the covariances between
// the intermediate outputs of different kernels left out.
func (l *latent) predict(p *vi.Predictions, o, r int, q *readout, noise, upsilon float64) {
	mean, sd := p.Mean[o*l.N:(o+1)*l.N], p.SD[o*l.N:(o+1)*l.N]
	be := q.be
	for i := range mean {
		mean[i] = be.Mean[q.bias]
	}
	within := 1/upsilon + l.ATrace[r]/float64(l.N*l.P)
	variance := noise + be.Cov.At(q.bias, q.bias)
	for m := range l.P {
		h := l.H.Row(r*l.P + m)
		la.Axpy(be.Mean[q.weights+m], h, mean)
		variance += float64(within*q.ee.At(m, m)) + float64(be.Cov.At(q.weights+m, q.weights+m)*la.SumSq(h))/float64(l.N)
	}
	for i := range sd {
		sd[i] = math.Sqrt(variance)
	}
}
