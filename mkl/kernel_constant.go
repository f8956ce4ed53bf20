package mkl

// Constant is the kernel that is 1 for any two samples. Its function is a
// constant: in a sum of Gaussian processes it takes the place of a bias.
type Constant struct{}

// String implements [Kernel].
func (Constant) String() string { return "constant" }

func (Constant) check(int) error          { return nil }
func (Constant) statistic() statistic     { return statistic{kind: nothing} }
func (Constant) lacks() figure            { return noFigure }
func (k Constant) resolve(float64) Kernel { return k }

func (Constant) apply(s []float64) {
	for i := range s {
		s[i] = 1
	}
}

func (Constant) bounded() bool { return true }

// Function is not a kernel but stands for none: each column that its view sees is a function that is known, of
// which targets of a [MultiTask] are sparse combinations beside the latent functions of the other views. Other
// models refuse it. With Standardize the functions have the same scale, as the prior of their weights has it,
// and no constant part.
type Function struct{}

// String implements [Kernel].
func (Function) String() string { return "function" }

func (Function) check(int) error          { return nil }
func (Function) statistic() statistic     { return statistic{kind: nothing} }
func (Function) lacks() figure            { return noFigure }
func (k Function) resolve(float64) Kernel { return k }
func (Function) apply(s []float64)        { clear(s) }
func (Function) bounded() bool            { return true }
