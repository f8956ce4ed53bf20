package mkl

import (
	"errors"
	"fmt"

	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/mkl/internal/vec"
	"github.com/bmkl/bmkl/vi/vecchia"
)

// localJSON holds the settings of a local model. Its tensors are features ([localFeatures.encode]); x and y, the standardised
// samples; and alpha.I, solution I of the linear systems.
type localJSON struct {
	Samples    int                 `json:"samples"`
	Inputs     []inputJSON         `json:"inputs"`
	Columns    [][2]int            `json:"columns"`          // input and column of each feature
	Target     []float64           `json:"target,omitempty"` // mean and standard deviation, of numbers
	Local      covarianceJSON      `json:"local"`
	Neighbours int                 `json:"neighbours"`
	Weight     float64             `json:"weight"` // of the neighbours' mean
	Factor     []float64           `json:"factor"`
	Solutions  []localSolutionJSON `json:"solutions,omitempty"`
}

// covarianceJSON is a covariance. Widths are stored as their inverses.
type covarianceJSON struct {
	Parts  []covariancePartJSON `json:"parts"`
	Linear float64              `json:"linear"`
	Noise  float64              `json:"noise"`
}

type covariancePartJSON struct {
	Matern    bool      `json:"matern,omitempty"`
	Amplitude float64   `json:"amplitude"`
	Scale     []float64 `json:"scale"`
}

type localSolutionJSON struct {
	Covariance covarianceJSON `json:"covariance"`
	Weight     float64        `json:"weight"`
	Double     bool           `json:"double,omitempty"`
}

func covarianceSettings(c *vecchia.Covariance) (j covarianceJSON) {
	j.Linear, j.Noise = c.Linear, c.Noise
	for _, p := range c.Parts {
		j.Parts = append(j.Parts, covariancePartJSON{p.Shape == vecchia.Matern, p.Amplitude, p.Scale})
	}
	return j
}

func (j *covarianceJSON) covariance() (c vecchia.Covariance) {
	c.Linear, c.Noise = j.Linear, j.Noise
	for _, p := range j.Parts {
		part := vecchia.Part{Amplitude: p.Amplitude, Scale: p.Scale}
		if p.Matern {
			part.Shape = vecchia.Matern
		}
		c.Parts = append(c.Parts, part)
	}
	return c
}

// encode adds the tensors and returns the settings.
func (m *localModel) encode(f *fileWriter) localJSON {
	j := m.localProcess.encode(f)
	j.Target = []float64{m.target.mean, m.target.sd}
	return j
}

// encode adds the tensors and returns the settings.
func (m *localProcess) encode(f *fileWriter) localJSON {
	s := m.posterior.State()
	j := localJSON{
		Samples: m.Samples(), Local: covarianceSettings(&s.Local), Neighbours: s.Neighbours, Weight: s.LocalWeight, Factor: s.Factor,
	}
	j.Inputs, j.Columns = m.features.encode(f, m.design)
	f.add("x", flat(s.X), s.X.Rows, s.X.Cols)
	f.add("y", flat(s.Y), s.Y.Rows, s.Y.Cols)
	for i, v := range s.Solved {
		j.Solutions = append(j.Solutions, localSolutionJSON{covarianceSettings(&v.Covariance), v.Weight, v.Double})
		f.add(fmt.Sprintf("alpha.%d", i), flat(v.Alpha), v.Alpha.Rows, v.Alpha.Cols)
	}
	return j
}

// take fills in the model from its settings and tensors.
func (m *localModel) take(f *fileReader, j localJSON) error {
	if len(j.Target) != 2 || !(j.Target[1] > 0) || vec.FirstNonFinite(j.Target) >= 0 {
		return errors.New("target: a mean and a positive standard deviation are needed")
	}
	m.target = target{j.Target[0], j.Target[1]}
	return m.localProcess.take(f, j, 1)
}

// take fills in the process from its settings and tensors. targets is the number of its targets.
func (m *localProcess) take(f *fileReader, j localJSON, targets int) (err error) {
	d := len(j.Columns)
	if j.Samples < 1 || d < 1 {
		return fmt.Errorf("%d samples of %d features", j.Samples, d)
	}
	ds := &gram.Design{D: j.Samples}
	if m.features, err = takeFeatures(f, ds, j.Inputs, j.Columns); err != nil {
		return err
	}
	m.onViews = onViews{design: ds}
	state := vecchia.State{
		Local: j.Local.covariance(), Neighbours: j.Neighbours, LocalWeight: j.Weight, Factor: j.Factor,
		X: f.takeMatrix("x", j.Samples, d), Y: f.takeMatrix("y", j.Samples, targets),
	}
	for i := range j.Solutions {
		v := &j.Solutions[i]
		state.Solved = append(state.Solved, vecchia.Solved{
			Covariance: v.Covariance.covariance(), Weight: v.Weight, Double: v.Double, Alpha: f.takeMatrix(fmt.Sprintf("alpha.%d", i), j.Samples, targets),
		})
	}
	if f.err != nil {
		return f.err
	}
	m.posterior, err = vecchia.NewPosterior(state, 0)
	return err
}
