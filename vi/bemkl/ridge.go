package bemkl

import "github.com/bmkl/bmkl/vi/internal/conjugate"

// ridge returns the coefficients A, B and C of the change of the bound
// −A·ln s − B(1/s − 1) − C(s − 1) under rescale, as far as they come from λ and
// the precisions ω of the kernel weights.
func (l *latent) ridge(omega *conjugate.Gammas) (a, b, c float64) {
	prior := l.lambda.Prior
	a = float64(float64(l.R*l.D)*prior.Shape) - float64(float64(len(omega.Scale))*omega.Prior.Shape)
	for _, v := range l.lambda.Scale {
		b += v
	}
	for _, v := range omega.Scale {
		c += v
	}
	return a, b * l.lambda.Shape / prior.Scale, c * omega.Shape / omega.Prior.Scale
}
