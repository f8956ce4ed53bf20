package intermediate

import "github.com/bmkl/bmkl/vi/internal/conjugate"

// ridgeOfWeights returns what λ adds to A and B of the ridge.
func (l *Outputs) Ridge() (a, b float64) {
	prior := l.Lambda.Prior
	for _, v := range l.Lambda.Scale {
		b += v
	}
	return float64(l.R*l.D) * prior.Shape, b * l.Lambda.Shape / prior.Scale
}

// RidgeOfKernels returns what ω takes from A and adds to C of the ridge.
func RidgeOfKernels(omega *conjugate.Gammas) (a, c float64) {
	for _, v := range omega.Scale {
		c += v
	}
	return float64(len(omega.Scale)) * omega.Prior.Shape, c * omega.Shape / omega.Prior.Scale
}
