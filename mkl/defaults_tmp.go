package mkl

type KernelSet int

func (KernelSet) String() string                { return "" }
func KernelSets() []KernelSet                   { return nil }
func withDefaults(v []View, s KernelSet) []View { return v }
