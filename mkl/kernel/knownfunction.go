package kernel

// KnownFunction marks a view that has no kernel. Each column that the view sees holds the values of a known
// function at the samples. The targets of package mkl's MultiTask are sparse combinations of the known functions
// and of the latent functions of the other views. All other estimators reject such views. With Standardize the
// functions have mean 0 and the same scale, which the prior of their weights assumes.
type KnownFunction struct{}

// String implements [Kernel].
func (KnownFunction) String() string { return "function" }

// Check implements [Kernel].
func (KnownFunction) Check(int) error { return nil }

// Statistic implements [Kernel].
func (KnownFunction) Statistic() Statistic { return Statistic{Kind: NoStatistic} }

// Apply implements [Kernel].
func (KnownFunction) Apply(s []float64) { clear(s) }

// Properties implements [Kernel].
func (KnownFunction) Properties() Properties { return Properties{Bounded: true} }

// Missing implements [Kernel].
func (KnownFunction) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k KnownFunction) Resolve(float64) Kernel { return k }
