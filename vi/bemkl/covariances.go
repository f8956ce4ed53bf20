package bemkl

import "github.com/bmkl/bmkl/la"

// This file lists the covariances that the states of posteriors hold, for [climb.Run] to check.

func (s RegressionState) covariances() []la.Matrix[float64] { return []la.Matrix[float64]{s.BECov} }

func (s ClassificationState) covariances() []la.Matrix[float64] { return []la.Matrix[float64]{s.BECov} }

func (s TaskState) covariances() []la.Matrix[float64] { return []la.Matrix[float64]{s.BECov} }

func (s TaskClassificationState) covariances() []la.Matrix[float64] {
	return []la.Matrix[float64]{s.BECov}
}

func (s SharedState) covariances() []la.Matrix[float64] { return s.BECov }
