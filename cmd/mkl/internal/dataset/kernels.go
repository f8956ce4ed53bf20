package dataset

import (
	"fmt"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/spec"
	"github.com/bmkl/bmkl/cmd/mkl/internal/notes"
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

// productOf makes the product of kernels of a view of columns of the main file. No column is in two of its parts.
func productOf(v spec.View, main *console.File) (spec.ViewKernel, error) {
	k, err := spec.BuildProduct(v.Parts)
	if err != nil {
		return k, err
	}
	in := map[int]bool{}
	for _, p := range v.Parts {
		at, err := spec.Select(p.Columns, main.Columns(), nil)
		if err != nil {
			return k, fmt.Errorf("%s: %w", main.Name(), err)
		}
		for _, j := range at {
			if in[j] {
				return k, fmt.Errorf("column %q is in two factors of the product", main.Columns()[j])
			}
			in[j] = true
		}
	}
	return k, nil
}

// product is the kernel of a view whose only kernel is a product: each factor sees the features of its columns.
func (f *Features) product(k spec.ViewKernel) (kernel.Kernel, error) {
	var out kernel.Product
	names := f.Source.File.Columns()
	for _, p := range k.Parts {
		at, err := spec.Select(p.Columns, names, nil)
		if err != nil {
			return nil, err
		}
		factor := kernel.Factor{Kernel: p.Kernel}
		for _, c := range f.Plan {
			if !slices.ContainsFunc(at, func(j int) bool { return names[j] == c.Name }) {
				continue
			}
			if c.Codes && !p.Categories {
				return nil, console.Inputf("view %s: %v: column %q is text, which categorical compares", notes.Quoted(f.Name), p.Kernel, c.Name)
			}
			factor.Columns += c.Width()
		}
		if factor.Columns == 0 {
			return nil, console.Inputf("view %s: %v: its columns carry no information", notes.Quoted(f.Name), p.Kernel)
		}
		out.Factors = append(out.Factors, factor)
	}
	return out, nil
}

// OfProduct reports whether the kernel is a product of kernels on parts of the columns.
func (k Kernels) OfProduct() bool { return len(k) == 1 && k[0].Parts != nil }

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
	return k.ofCategories() && !k.OfProduct() && !k.some(func(k spec.ViewKernel) bool { return !k.Categories && !isConstant(k) })
}

// Functions reports whether a kernel stands for a known function.
func (k Kernels) Functions() bool { return k.some(isFunction) }

func isConstant(k spec.ViewKernel) bool { return k.Kernel == kernel.Kernel(kernel.Constant{}) }

func isFunction(k spec.ViewKernel) bool { return k.Kernel == kernel.Kernel(kernel.KnownFunction{}) }
