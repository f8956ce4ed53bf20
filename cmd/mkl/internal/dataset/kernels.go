package dataset

import (
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// Kernels are the kernels of a view; nil if the data are to suggest them.
type Kernels []spec.ViewKernel

// ParseKernels reads the flag -kernels; no text is no kernels.
func ParseKernels(text string) (Kernels, error) {
	if text == "" {
		return nil, nil
	}
	parsed, err := spec.Parse(text)
	if err != nil {
		return nil, err
	}
	return buildKernels(parsed)
}

// buildKernels makes kernels of their specifications.
func buildKernels(parsed []spec.Kernel) (all Kernels, err error) {
	for _, p := range parsed {
		k, err := spec.Build(p)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

func (k Kernels) some(is func(k spec.ViewKernel) bool) bool { return slices.ContainsFunc(k, is) }

// Given reports whether the columns are kernels or distances, not features.
func (k Kernels) Given() bool { return k.some(func(k spec.ViewKernel) bool { return k.Given }) }

// Square reports whether the columns are a kernel or distance with each training sample.
func (k Kernels) Square() bool { return k.some(func(k spec.ViewKernel) bool { return k.Square }) }

// OfStrings reports whether the kernels are of strings.
func (k Kernels) OfStrings() bool {
	return k.some(func(k spec.ViewKernel) bool { return k.Strings != nil })
}

// ofCategories reports whether a kernel is of categories.
func (k Kernels) ofCategories() bool {
	return k.some(func(k spec.ViewKernel) bool { return k.Categories })
}

// categorical reports whether all kernels are of categories, or constant: then all columns are categories.
func (k Kernels) categorical() bool {
	return k.ofCategories() && !k.some(func(k spec.ViewKernel) bool { return !k.Categories && !isConstant(k) })
}

// Functions reports whether a kernel stands for a known function.
func (k Kernels) Functions() bool { return k.some(isFunction) }

func isConstant(k spec.ViewKernel) bool { return k.Kernel == kernel.Kernel(kernel.Constant{}) }

func isFunction(k spec.ViewKernel) bool { return k.Kernel == kernel.Kernel(kernel.KnownFunction{}) }
