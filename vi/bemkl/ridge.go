package bemkl

import "github.com/bmkl/bmkl/vi/internal/conjugate"

// ridge returns the coefficients A, B and C of the change of the bound
// −A·ln s − B(1/s − 1) − C(s − 1) under rescale, as far as they come from λ and
// the precisions ω of the kernel weights.
func (l *latent) ridge(omega *conjugate.Gammas) (a, b, c float64) {
	a, b = l.ridgeOfWeights()
	less, c := ridgeOfKernels(omega)
	return float64(a) - float64(less), b, c
}

// ridgeOfWeights returns what λ adds to A and B of the ridge.
func (l *latent) ridgeOfWeights() (a, b float64) {
	prior := l.lambda.Prior
	for _, v := range l.lambda.Scale {
		b += v
	}
	return float64(l.R*l.D) * prior.Shape, b * l.lambda.Shape / prior.Scale
}

// ridgeOfKernels returns what ω takes from A and adds to C of the ridge.
func ridgeOfKernels(omega *conjugate.Gammas) (a, c float64) {
	for _, v := range omega.Scale {
		c += v
	}
	return float64(len(omega.Scale)) * omega.Prior.Shape, c * omega.Shape / omega.Prior.Scale
}
