package mkl

import (
	"fmt"
	"io"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi/kbmf"
)

// pairsJSON holds the settings of a model of pairs. The tensors of the rows have the prefix rows. and
// the tensors of the columns the prefix columns. .
type pairsJSON struct {
	recordJSON
	Rows    designJSON     `json:"rows"`
	Columns designJSON     `json:"columns"`
	Priors  pairPriorsJSON `json:"priors"`
	SigmaG  float64        `json:"sigma_g"`
	SigmaH  float64        `json:"sigma_h"`
	Noise   float64        `json:"noise,omitempty"`
	Margin  float64        `json:"margin,omitempty"`
}

type pairPriorsJSON struct {
	Lambda, Eta, Gamma, Epsilon Gamma
}

// addPairs adds a model of pairs and returns its settings.
func (f *fileWriter) addPairs(m *pairModel) pairsJSON {
	s := m.posterior.State()
	j := pairsJSON{
		recordJSON: f.addRecord(&m.record), Priors: pairPriorsJSON(s.Priors),
		SigmaG: s.SigmaG, SigmaH: s.SigmaH, Noise: s.Noise, Margin: s.Margin,
	}
	f.add("bias", []float64{s.Bias, s.BiasVariance}, 2)
	f.add("gamma", pairs([]Gamma{s.Gamma}), 1, 2)
	if s.Epsilon != (Gamma{}) {
		f.add("epsilon", pairs([]Gamma{s.Epsilon}), 1, 2)
	}
	j.Rows = f.addPairSide("rows.", m.rows, &s.X)
	j.Columns = f.addPairSide("columns.", m.columns, &s.Z)
	return j
}

// addPairSide adds one side and returns the settings of its design.
func (f *fileWriter) addPairSide(prefix string, ds *gram.Design, s *kbmf.SideState) designJSON {
	R, D, P, N := s.A.Rows, s.A.Cols, len(s.E), s.H.Cols
	f.prefix = prefix
	defer func() { f.prefix = "" }()
	f.add("lambda", flat(s.Lambda), R, D)
	f.add("a", flat(s.A), R, D)
	f.add("eta", pairs(s.Eta), P, 2)
	f.add("e.mean", s.E, P)
	f.add("e.cov", flat(s.ECov), P, P)
	f.add("gram", packUpper(s.Gram), D*(D+1)/2)
	f.add("h.mean", flat(s.H), R, N)
	packed := make([]float64, 0, N*R*(R+1)/2)
	for i := range N {
		packed = append(packed, packLower(la.MatrixOf(R, R, s.HCov.Row(i)))...)
	}
	f.add("h.cov", packed, N, R*(R+1)/2)
	if h := s.Healing; h != nil {
		f.addLower("healing.kernel", h.Kernel)
		f.add("healing.trust", flat(h.Trust), R, D)
		f.add("healing.residual", flat(h.Residual), R, D)
		f.add("healing.precision", h.Precision, R)
	}
	return f.addDesign(ds, N)
}

// takePairs reads a model of pairs, for labels or for values.
func (f *fileReader) takePairs(labels bool) (m pairModel, err error) {
	var j pairsJSON
	if err := f.settings(&j); err != nil {
		return m, err
	}
	if m.record, err = f.takeRecord(j.recordJSON, 1); err != nil {
		return m, err
	}
	bias := f.take("bias", 2)
	gamma := unpair(f.take("gamma", 1, 2))
	s := kbmf.State{
		Priors: kbmf.Priors(j.Priors), SigmaG: j.SigmaG, SigmaH: j.SigmaH, Labels: labels, Noise: j.Noise, Margin: j.Margin,
	}
	if f.has("epsilon") {
		if e := unpair(f.take("epsilon", 1, 2)); len(e) == 1 {
			s.Epsilon = e[0]
		}
	}
	if f.err != nil {
		return m, f.err
	}
	s.Bias, s.BiasVariance, s.Gamma = bias[0], bias[1], gamma[0]
	if m.rows, s.X, err = f.takePairSide("rows.", j.Rows); err != nil {
		return m, fmt.Errorf("rows: %w", err)
	}
	if m.columns, s.Z, err = f.takePairSide("columns.", j.Columns); err != nil {
		return m, fmt.Errorf("columns: %w", err)
	}
	if err := f.close(); err != nil {
		return m, err
	}
	p, err := kbmf.NewPosterior(s)
	if err != nil {
		return m, err
	}
	err = m.set(p)
	return m, err
}

// takePairSide reads one side.
func (f *fileReader) takePairSide(prefix string, j designJSON) (ds *gram.Design, s kbmf.SideState, err error) {
	f.prefix = prefix
	defer func() { f.prefix = "" }()
	P, D := f.size("e.mean"), j.Basis
	if P < 1 || D < 1 || f.size("a") < D || f.size("a")%D != 0 {
		return nil, s, fmt.Errorf("model: %d kernels, %d basis points and %d weights of them do not fit", P, D, f.size("a"))
	}
	R := f.size("a") / D
	N := f.size("h.mean") / R
	if N != j.Samples || N < 1 {
		return nil, s, fmt.Errorf("model: %d samples where the tensors have %d", j.Samples, N)
	}
	packed := f.takeMatrix("h.cov", N, triangle(R)) // checked before memory is allocated for the covariances
	if f.err != nil {
		return nil, s, f.err
	}
	s = kbmf.SideState{
		Lambda: f.takeMatrix("lambda", R, D), A: f.takeMatrix("a", R, D), Eta: unpair(f.take("eta", P, 2)),
		E: f.take("e.mean", P), ECov: f.takeCovariance("e.cov", P), Gram: f.takeUpper("gram", D),
		H: f.takeMatrix("h.mean", R, N), HCov: la.NewMatrix[float64](N, R*R),
	}
	if f.has("healing.kernel") {
		s.Healing = &kbmf.Healing{
			Kernel: f.takeLower("healing.kernel", D), Trust: f.takeMatrix("healing.trust", R, D),
			Residual: f.takeMatrix("healing.residual", R, D), Precision: f.take("healing.precision", R),
		}
		if f.err == nil {
			s.Healing.Kernel.MirrorLower()
		}
	}
	if f.err != nil {
		return nil, s, f.err
	}
	for i := range N {
		cov := unpackLower(R, packed.Row(i))
		cov.MirrorLower()
		if f.checkCovariance("h.cov", cov); f.err != nil {
			return nil, s, f.err
		}
		copy(s.HCov.Row(i), cov.Data)
	}
	if ds, err = f.takeDesign(j, P, false); err != nil {
		return nil, s, err
	}
	return ds, s, f.err
}

// Save writes the model to a file that [Load] reads. It takes about 8·D² bytes for the D basis points of
// each side, half of them for healing, and 4·R² bytes for each row and column.
func (m *PairRegressionModel) Save(w io.Writer) error {
	var f fileWriter
	j := f.addPairs(&m.pairModel)
	f.addTargets(m.scale)
	return f.write(w, m.Kind(), j)
}

func (m *PairRegressionModel) decode(f *fileReader) error {
	scale := f.takeTargets(1)
	if f.err != nil {
		return f.err
	}
	m.scale = scale[0]
	var err error
	m.pairModel, err = f.takePairs(false)
	return err
}

// Save writes the model to a file that [Load] reads, like [PairRegressionModel.Save].
func (m *PairClassifierModel) Save(w io.Writer) error {
	var f fileWriter
	j := f.addPairs(&m.pairModel)
	return f.write(w, m.Kind(), j)
}

func (m *PairClassifierModel) decode(f *fileReader) (err error) {
	m.pairModel, err = f.takePairs(true)
	return err
}
