package kernel

// Constant is the kernel that is 1 for any two samples. Its function is a constant: in a sum of Gaussian processes
// it plays the role of a bias.
type Constant struct{}

// String implements [Kernel].
func (Constant) String() string { return "constant" }

// Check implements [Kernel].
func (Constant) Check(int) error { return nil }

// Statistic implements [Kernel].
func (Constant) Statistic() Statistic { return Statistic{Kind: NoStatistic} }

// Apply implements [Kernel].
func (Constant) Apply(s []float64) {
	for i := range s {
		s[i] = 1
	}
}

// Properties implements [Kernel].
func (Constant) Properties() Properties { return Properties{Bounded: true, Definite: true} }

// Missing implements [Kernel].
func (Constant) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Constant) Resolve(float64) Kernel { return k }
