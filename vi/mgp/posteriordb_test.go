package mgp

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/internal/testkit/golden"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi"
)

// reference holds the golden file posteriordb, whose README says what the fields are.
type reference struct {
	X, Y, K    []float64
	Posteriors map[string][]referenceDraws
}

// referenceDraws summarises draws of one quantity.
type referenceDraws struct {
	Name                                 string
	Mean, SD, Draws, Kurtosis, Low, High float64
}

// squaredExponential returns exp(−(x−z)²/(2ρ²)) of all pairs.
func (r reference) squaredExponential(t *testing.T, rho float64) *vi.Dense {
	k := la.NewMatrix[float64](len(r.X), len(r.X))
	for i, a := range r.X {
		for j, b := range r.X {
			k.Set(i, j, math.Exp(-(a-b)*(a-b)/(2*rho*rho)))
		}
	}
	d, err := vi.NewDense(k)
	require.NoError(t, err)
	return d
}

// logPriorOfStan is the log density of log ρ and log α for ρ ~ Gamma(25, rate 4) and α ~ N(0, 2²) above 0, but for a constant.
func logPriorOfStan(rho, alpha float64) float64 {
	return 25*math.Log(rho) - 4*rho - alpha*alpha/8 + math.Log(alpha)
}

// logGrid returns n values from low to high with equal ratios.
func logGrid(low, high float64, n int) (grid []float64) {
	for i := range n {
		grid = append(grid, low*math.Pow(high/low, float64(i)/float64(n-1)))
	}
	return grid
}

// mixture gathers the moments of quantities over a grid of parameters, and their share below two quantiles of the reference.
type mixture struct {
	draws              []referenceDraws
	offset             float64 // of log weights
	total              float64
	mean, square       []float64
	belowLow, belowTop []float64
}

func newMixture(offset float64, draws []referenceDraws) *mixture {
	n := len(draws)
	return &mixture{draws, offset, 0, make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
}

// add adds normal distributions of all quantities with the weight exp(log − offset). Of variance 0 are parameters.
func (m *mixture) add(log float64, mean, variance []float64) {
	w := math.Exp(log - m.offset)
	m.total += w
	for i, v := range mean {
		m.mean[i] += w * v
		m.square[i] += w * (v*v + variance[i])
		below := func(x float64) float64 { return w * 0.5 * math.Erfc((v-x)/math.Sqrt(2*variance[i])) }
		if variance[i] > 0 {
			m.belowLow[i] += below(m.draws[i].Low)
			m.belowTop[i] += below(m.draws[i].High)
		}
	}
}

// compare holds means and standard deviations to the reference's within four standard errors of its draws. It holds
// the shares below the reference's quantiles to within skew more than four standard errors.
func (m *mixture) compare(t *testing.T, skew float64) {
	const errors = 4
	for i, d := range m.draws {
		mean := m.mean[i] / m.total
		sd := math.Sqrt(m.square[i]/m.total - mean*mean)
		root := math.Sqrt(d.Draws)
		meanError, sdError := d.SD/root, d.SD*math.Sqrt((d.Kurtosis-1)/4)/root
		low, top := m.belowLow[i]/m.total, m.belowTop[i]/m.total
		line := fmt.Sprintf("| %s | %.4f | %.4f | %.1f | %.4f | %.4f | %.1f | ", d.Name, d.Mean, mean, (mean-d.Mean)/meanError, d.SD, sd, (sd-d.SD)/sdError)
		assert.InDelta(t, d.Mean, mean, errors*meanError, d.Name)
		assert.InDelta(t, d.SD, sd, errors*sdError, d.Name)
		if top > 0 {
			line += fmt.Sprintf("%.1f | %.1f |", 100*low, 100*top)
			limit := skew + errors*math.Sqrt(0.05*0.95)/root
			assert.InDelta(t, 0.05, low, limit, d.Name)
			assert.InDelta(t, 0.95, top, limit, d.Name)
		} else {
			line += " | |"
		}
		t.Log(line)
	}
}

// TestGoldenPosteriordbTargets integrates over the evidence of targets at given parameters, which is exact.
func TestGoldenPosteriordbTargets(t *testing.T) {
	var r reference
	golden.Read(t, "posteriordb", "reference.json", &r)
	m := newMixture(-25, r.Posteriors["gp_regr"])
	for _, rho := range logGrid(2, 16, 20) {
		k := r.squaredExponential(t, rho)
		for _, alpha := range logGrid(0.05, 12, 20) {
			for _, sigma := range logGrid(0.1, 9, 20) {
				fit, err := Evidence{Known: []float64{alpha * alpha}, KnownNoise: sigma, Workers: 1}.Fit(context.Background(), k, r.Y)
				require.NoError(t, err)
				log := fit.LogEvidence + logPriorOfStan(rho, alpha) - sigma*sigma/2 + math.Log(sigma)
				m.add(log, []float64{rho, alpha, sigma}, make([]float64, 3))
			}
		}
	}
	m.compare(t, 0)
}

// TestGoldenPosteriordbCounts integrates over the estimate of the evidence of counts by expectation propagation. The
// reference has no level: here it is 0. The normal sites leave out that each posterior is skew.
func TestGoldenPosteriordbCounts(t *testing.T) {
	var r reference
	golden.Read(t, "posteriordb", "reference.json", &r)
	m := newMixture(-40, r.Posteriors["gp_pois_regr"])
	for _, rho := range logGrid(2.5, 10, 24) {
		k := r.squaredExponential(t, rho)
		for _, alpha := range logGrid(0.7, 12, 24) {
			e := Evidence{Known: []float64{alpha * alpha}, Workers: 1}
			e.like = Counts{Y: r.K}
			o, x, err := e.objective(context.Background(), k, make([]float64, len(r.K)), false)
			require.NoError(t, err)
			x[len(x)-1] = 0
			o.tol = finalTolerance
			logZ, err := o.functions(x)
			require.NoError(t, err)
			mean := append([]float64{rho, alpha}, o.sites.mean...)
			variance := append([]float64{0, 0}, o.sites.variance...)
			m.add(logZ+logPriorOfStan(rho, alpha), mean, variance)
		}
	}
	m.compare(t, 0.005)
}
