package mkl

import (
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// judge compares members by their predictions of the samples held out. Errors and variances have the units of the targets' standard
// deviation and variance.
type judge struct {
	r          *manyRows
	y          []float64  // of the samples held out
	at         []Features // of the samples held out
	middle, sd float64    // of all targets
	known      map[Model]judgement
}

// judgement is what a member predicts of the held-out samples. The calibrated variances are the variances times the factor that depends on
// the member's own predictions ([fitWidening]).
type judgement struct{ errors, variances, calibrated []float64 }

// newJudge returns the judge of members that learn the targets y of all samples, or what effects of levels leave of them.
func newJudge(r *manyRows, y []float64) *judge {
	n := len(y)
	j := &judge{r: r, y: y[n-r.held:], known: map[Model]judgement{}}
	j.middle, j.sd = vec.MeanSD(y)
	return j
}

// see takes the samples held out as members see them.
func (j *judge) see() {
	n := len(j.r.order)
	j.at = distinctInputs(j.r.between(n-j.r.held, n))
}

// of returns the judgement of predictions of the samples held out.
func (j *judge) of(mean, variance []float64) judgement {
	if j.r.shift != nil {
		p := &Prediction{Mean: [][]float64{slices.Clone(mean)}, Variance: [][]float64{slices.Clone(variance)}}
		j.r.shift.add(p)
		mean, variance = p.Mean[0], p.Variance[0]
	}
	n := len(j.y)
	g := judgement{make([]float64, n), make([]float64, n), make([]float64, n)}
	ratio := make([]float64, n)
	for i, y := range j.y {
		g.errors[i], g.variances[i] = (mean[i]-y)/j.sd, variance[i]/float64(j.sd*j.sd)
		ratio[i] = float64(g.errors[i]*g.errors[i]) / g.variances[i]
	}
	w := fitWidening(mean, ratio)
	for i, v := range g.variances {
		g.calibrated[i] = v * w.factor(mean[i])
	}
	return g
}

// member returns the judgement of a member.
func (j *judge) member(model Model) (judgement, error) {
	if g, ok := j.known[model]; ok {
		return g, nil
	}
	var p *Prediction
	if h, ok := model.(interface{ heldPrediction() *Prediction }); ok {
		// The model was fitted to these samples too, but made these predictions before.
		p = h.heldPrediction()
	} else {
		var err error
		if p, err = model.(TargetModel).PredictTargets(j.r.ctx, PredictOptions{Workers: j.r.Workers}, j.at...); err != nil {
			return judgement{}, err
		}
	}
	g := j.of(p.Mean[0], p.Variance[0])
	j.known[model] = g
	return g, nil
}

// members returns the judgements of members.
func (j *judge) members(models []Model) (all judgements, err error) {
	for _, m := range models {
		g, err := j.member(m)
		if err != nil {
			return all, err
		}
		all = all.and(g)
	}
	return all, nil
}

// judgements has a row for each member.
type judgements struct{ errors, variances, calibrated [][]float64 }

// and returns the judgements with one more.
func (all judgements) and(g judgement) judgements {
	return judgements{with(all.errors, g.errors), with(all.variances, g.variances), with(all.calibrated, g.calibrated)}
}

// with returns the rows and one more. It does not change the rows.
func with(rows [][]float64, row []float64) [][]float64 {
	return append(rows[:len(rows):len(rows)], row)
}

// weights returns the weights of the members. The variances are calibrated, because the mixture's will be: otherwise a member with bad means
// has weight only because its variances follow the noise.
func (all judgements) weights() []float64 { return stackMoments(all.errors, all.calibrated) }

// promising is the share of the weight below which a member is dropped, that a member must have after a part of its fit.
const promising = 0.5

// promise reports whether the last members, as many as given, have enough weight beside the others that the whole of their fit is worth
// its time. Without others they have.
func (all judgements) promise(last int) bool {
	n := len(all.errors)
	return last == n || vec.Total(all.weights()[n-last:]) >= float64(promising*smallShare(n))
}
