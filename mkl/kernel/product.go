package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Product is the product of kernels on parts of a sample,
//
//	Π_i k_i(x_i, y_i),
//
// where x_i are the next Columns features of x. A product of [Categorical] with Overlap on the name of a group and [Linear] on a
// variable gives each group a slope of its own.
type Product struct {
	Factors []Factor // two or more, in the order of the features
}

// Factor is a kernel on some features.
type Factor struct {
	Columns int    // how many features the kernel sees
	Kernel  Kernel // of features, with one width, which is not learned
}

type factorJSON struct {
	Columns int             `json:"columns"`
	Kernel  json.RawMessage `json:"kernel"`
}

type productJSON struct {
	Factors []factorJSON `json:"factors"`
}

// MarshalJSON writes the factors as [Encode] writes kernels.
func (k Product) MarshalJSON() ([]byte, error) {
	var all productJSON
	for _, f := range k.Factors {
		text, err := Encode(f.Kernel)
		if err != nil {
			return nil, err
		}
		all.Factors = append(all.Factors, factorJSON{f.Columns, text})
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads what MarshalJSON wrote. It rejects a product as a factor before decoding it, so that no file nests them.
func (k *Product) UnmarshalJSON(text []byte) error {
	var all productJSON
	if err := strictly(text, &all); err != nil {
		return err
	}
	k.Factors = nil
	for i, f := range all.Factors {
		var kind struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(f.Kernel, &kind); err != nil {
			return fmt.Errorf("factor %d: %w", i, err)
		}
		if kind.Kind == "product" {
			return fmt.Errorf("factor %d is a product", i)
		}
		one, err := Decode(f.Kernel)
		if err != nil {
			return fmt.Errorf("factor %d: %w", i, err)
		}
		k.Factors = append(k.Factors, Factor{f.Columns, one})
	}
	return nil
}

// String implements [Kernel].
func (k Product) String() string {
	parts := make([]string, len(k.Factors))
	for i, f := range k.Factors {
		parts[i] = fmt.Sprint(f.Kernel)
	}
	return strings.Join(parts, "*")
}

// Check implements [Kernel].
func (k Product) Check(d int) error {
	if len(k.Factors) < 2 {
		return fmt.Errorf("Factors: %d where two at least are needed", len(k.Factors))
	}
	columns := 0
	for i, f := range k.Factors {
		if f.Kernel == nil {
			return fmt.Errorf("Factors[%d]: Kernel is nil", i)
		}
		if f.Columns < 1 || f.Columns > d-columns {
			return fmt.Errorf("Factors[%d]: Columns is %d of %d features that are left", i, f.Columns, d-columns)
		}
		columns += f.Columns
		if err := checkFactor(f.Kernel); err != nil {
			return fmt.Errorf("Factors[%d]: %w", i, err)
		}
		if err := f.Kernel.Check(f.Columns); err != nil {
			return fmt.Errorf("Factors[%d]: %w", i, err)
		}
	}
	if columns != d {
		return fmt.Errorf("Factors: they see %d columns where the samples have %d features", columns, d)
	}
	return nil
}

// checkFactor returns an error for a kernel that is no factor of a product.
func checkFactor(k Kernel) error {
	switch k.(type) {
	case Product, KnownFunction:
		return fmt.Errorf("%v is no factor of a product", k)
	}
	switch {
	case Learns(k):
		return errors.New("ARD: widths of a product are not learned")
	case Widths(k) != nil:
		return errors.New("Widths: a factor has one width")
	case k.Statistic().Kind == GivenStatistic:
		return fmt.Errorf("%v is given, and no function of features", k)
	}
	return nil
}

// Statistic implements [Kernel]. It is the kernel itself.
func (k Product) Statistic() Statistic {
	type part struct {
		kernel      Kernel
		stat        Statistic
		first, last int
	}
	var parts []part
	first := 0
	for _, f := range k.Factors {
		parts = append(parts, part{f.Kernel, f.Kernel.Statistic(), first, first + f.Columns})
		first += f.Columns
	}
	rooms := sync.Pool{New: func() any { return new([1]float64) }} // for one value of a kernel
	return Statistic{Kind: CustomStatistic, Func: func(x, y []float64) float64 {
		room := rooms.Get().(*[1]float64)
		product := 1.0
		for _, p := range parts {
			room[0] = p.stat.Of(x[p.first:p.last], y[p.first:p.last])
			p.kernel.Apply(room[:])
			product *= room[0]
		}
		rooms.Put(room)
		return product
	}}
}

// Apply implements [Kernel].
func (Product) Apply([]float64) {}

// Properties implements [Kernel]: products of positive semidefinite matrices, entry by entry, are positive semidefinite.
func (k Product) Properties() Properties {
	all := Properties{Bounded: true, Definite: true, Divisible: true}
	for _, f := range k.Factors {
		p := f.Kernel.Properties()
		all = Properties{Bounded: all.Bounded && p.Bounded, Definite: all.Definite && p.Definite, Divisible: all.Divisible && p.Divisible}
	}
	return all
}

// Missing implements [Kernel]. Distances of the factors' own features set their widths: see WithFactors.
func (Product) Missing() Distance { return NoDistance }

// Resolve implements [Kernel].
func (k Product) Resolve(float64) Kernel {
	return k.WithFactors(func(f Factor, _ int) Kernel {
		if f.Kernel.Missing() != NoDistance {
			return f.Kernel
		}
		return f.Kernel.Resolve(0)
	})
}

// WithFactors returns the product of other kernels, which of returns for each factor and the place of its first feature.
func (k Product) WithFactors(of func(f Factor, first int) Kernel) Product {
	out, first := Product{slices.Clone(k.Factors)}, 0
	for i, f := range k.Factors {
		out.Factors[i].Kernel = of(f, first)
		first += f.Columns
	}
	return out
}

// LacksRange implements [Ranged].
func (k Product) LacksRange() bool {
	return slices.ContainsFunc(k.Factors, func(f Factor) bool { return LacksRange(f.Kernel) })
}

// WithRange implements [Ranged].
func (k Product) WithRange(low, high []float64) Kernel {
	return k.WithFactors(func(f Factor, first int) Kernel {
		if !LacksRange(f.Kernel) {
			return f.Kernel
		}
		return f.Kernel.(Ranged).WithRange(low[first:first+f.Columns], high[first:first+f.Columns])
	})
}
