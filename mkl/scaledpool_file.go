package mkl

import (
	"fmt"
	"math"
	"slices"

	"github.com/bmkl/bmkl/mkl/internal/vec"
)

// poolScaleJSON says what a pool of numbers does with the moments of its members' mixture.
type poolScaleJSON struct {
	Learned targetScale `json:"learned,omitempty"` // empty, or the scale of the targets that members have learned
	Middle  float64     `json:"middle"`            // mean of the learned targets
	Largest float64     `json:"largest,omitempty"` // training target; absent: means have no bound
	Step    float64     `json:"step,omitempty"`    // whose rounding has the least variance
	Knots   []float64   `json:"knots,omitempty"`   // of the logarithm of the variances' factor, by the predicted mean
	Log     []float64   `json:"log,omitempty"`     // the logarithm there
}

// encode returns the settings; nil if the moments stay as they are.
func (s *poolScale) encode() *poolScaleJSON {
	if s.scale == ownScale && s.step == 0 && s.widening.at == nil {
		return nil
	}
	return &poolScaleJSON{s.scale, s.middle, s.largest, s.step, s.widening.at, s.widening.log}
}

// take takes the scale from settings, which may be nil.
func (s *poolScale) take(j *poolScaleJSON) error {
	if j == nil {
		return nil
	}
	if !slices.Contains([]targetScale{ownScale, rootScale, logScale}, j.Learned) {
		return fmt.Errorf("model: scale.learned is %q", j.Learned)
	}
	if !(j.Largest >= 0) || math.IsInf(j.Largest, 1) {
		return fmt.Errorf("model: scale.largest is %g", j.Largest)
	}
	if !(j.Step >= 0) || math.IsInf(j.Step, 1) {
		return fmt.Errorf("model: scale.step is %g", j.Step)
	}
	rises := true
	for i := 1; i < len(j.Knots); i++ {
		rises = rises && j.Knots[i-1] < j.Knots[i]
	}
	if len(j.Knots) != len(j.Log) || !rises || vec.FirstNonFinite(slices.Concat(j.Knots, j.Log, []float64{j.Middle})) >= 0 {
		return fmt.Errorf("model: scale: knots %v, log %v, middle %g", j.Knots, j.Log, j.Middle)
	}
	s.recorded, s.middle, s.largest, s.widening = recorded{j.Learned, j.Step}, j.Middle, j.Largest, widening{j.Knots, j.Log}
	return nil
}
