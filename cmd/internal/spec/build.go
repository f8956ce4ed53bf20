package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/mkl/sequence"
)

// ViewKernel is a kernel of package mkl with what else its specification sets.
type ViewKernel struct {
	kernel.Kernel
	Center, Normalize bool
	Ranks             bool // the kernel sees ranks
	Categories        bool // the kernel sees codes of categories
	Given             bool // the columns are kernels or distances, not features
	Square            bool // they are those with all training samples

	Parts []Part // of a product, in the order of the columns

	AsGiven bool // columns are not standardised: their units or zeros matter to the kernel

	Strings  sequence.Kernel // of a kernel of strings, in place of the others
	Alphabet string          // of its strings, as it was named; empty if they suggest it
}

// Part is a factor of a product of kernels.
type Part struct {
	ViewKernel
	Columns []Item
}

// BuildProduct makes the product of the kernels of the parts of a view.
func BuildProduct(parts []View) (out ViewKernel, err error) {
	for _, p := range parts {
		k, err := Build(p.Kernels[0])
		switch {
		case err != nil:
			return out, err
		case k.Strings != nil || k.Given || k.Ranks || k.Center || k.Normalize:
			return out, fmt.Errorf("%v: a factor of a product takes no ranks, center or normalize, and cannot be a given kernel or a kernel of strings", p.Kernels[0])
		}
		out.Parts = append(out.Parts, Part{k, p.Columns})
		out.Categories = out.Categories || k.Categories
		out.AsGiven = out.AsGiven || k.AsGiven
	}
	return out, nil
}

// settings are a kernel's, taken out one by one; what is left at the end is
// unknown to the kernel.
type settings struct {
	kernel Kernel
	left   []Setting
	known  []string
	err    error
}

func (s *settings) take(name string) (Value, bool) {
	s.known = append(s.known, name)
	for i, set := range s.left {
		if set.Name == name {
			s.left = slices.Delete(s.left, i, i+1)
			return set.Value, true
		}
	}
	return Value{}, false
}

func (s *settings) fail(name string, v Value, need string) {
	if s.err == nil {
		s.err = fmt.Errorf("%s: %s=%s: %s", s.kernel.Name, name, v, need)
	}
}

// length takes a width or scale: a positive number, or mean.
func (s *settings) length(name string) float64 {
	v, ok := s.take(name)
	if !ok || v.Text == "mean" {
		return 0
	}
	if len(v.Numbers) != 1 || v.Vector || !(v.Numbers[0] > 0) {
		s.fail(name, v, "a positive number or mean is needed")
		return 0
	}
	return v.Numbers[0]
}

// widths takes a width: one for all features, or a vector of one for each.
func (s *settings) widths() (width float64, widths []float64) {
	if slices.ContainsFunc(s.left, func(x Setting) bool { return x.Name == "width" && x.Value.Vector }) {
		v, _ := s.take("width")
		return 0, v.Numbers
	}
	return s.length("width"), nil
}

// positive takes a number above 0, or 0 if the text is empty.
func (s *settings) positive(name string) float64 {
	v, ok := s.take(name)
	if !ok {
		return 0
	}
	if len(v.Numbers) != 1 || v.Vector || !(v.Numbers[0] > 0) {
		s.fail(name, v, "a positive number is needed")
		return 0
	}
	return v.Numbers[0]
}

func (s *settings) number(name string) float64 {
	v, ok := s.take(name)
	if ok && (len(v.Numbers) != 1 || v.Vector) {
		s.fail(name, v, "a number is needed")
	}
	if !ok || s.err != nil {
		return 0
	}
	return v.Numbers[0]
}

func (s *settings) flag(name string) bool {
	v, ok := s.take(name)
	switch {
	case !ok || v.Text == "no":
		return false
	case v.Text == Yes:
		return true
	}
	s.fail(name, v, "yes or no is needed")
	return false
}

// whole takes a setting that is a whole number from 1 up; 0 if it is not set.
func (s *settings) whole(name string) (n int) {
	v, ok := s.take(name)
	if !ok {
		return 0
	}
	if len(v.Numbers) == 1 {
		n = int(v.Numbers[0])
	}
	if len(v.Numbers) != 1 || v.Vector || float64(n) != v.Numbers[0] || n < 1 {
		s.fail(name, v, "a whole number from 1 up is needed")
	}
	return n
}

// Build makes the kernel that k names. An error says which setting is wrong.
func Build(k Kernel) (ViewKernel, error) {
	s := &settings{kernel: k, left: slices.Clone(k.Settings)}
	var out ViewKernel
	switch k.Name {
	case "rbf":
		r := kernel.RBF{}
		r.Width, r.Widths = s.widths()
		r.Scale, r.Medians, r.ARD = s.length("scale"), s.positive("medians"), s.flag("ard")
		out.Kernel = r
	case "laplacian":
		l := kernel.Laplacian{}
		l.Width, l.Widths = s.widths()
		l.Medians, l.ARD = s.positive("medians"), s.flag("ard")
		if v, ok := s.take("distance"); ok {
			switch v.Text {
			case "manhattan":
				l.Manhattan = true
			case "euclidean":
				if l.Widths != nil || l.ARD {
					s.fail("distance", v, "one width for each column is for distance=manhattan")
				}
			default:
				s.fail("distance", v, "euclidean or manhattan is needed")
			}
		}
		out.Kernel = l
	case "matern":
		m := kernel.Matern{}
		m.Width, m.Widths = s.widths()
		m.Medians, m.Smoothness = s.positive("medians"), s.positive("smoothness")
		out.Kernel = m
	case "rational-quadratic":
		r := kernel.RationalQuadratic{}
		r.Width, r.Widths = s.widths()
		r.Medians, r.Alpha = s.positive("medians"), s.positive("alpha")
		out.Kernel = r
	case "power-exponential":
		out.Kernel = kernel.PowerExponential{Width: s.length("width"), Medians: s.positive("medians"), Power: s.positive("power"), Norm: s.positive("norm")}
	case "periodic":
		out.Kernel, out.AsGiven = kernel.Periodic{Period: s.positive("period"), Width: s.positive("width"), Decay: s.positive("decay")}, true
	case "spectral":
		out.Kernel, out.AsGiven = kernel.Spectral{Period: s.positive("period"), Width: s.positive("width")}, true
	case "tanimoto":
		out.Kernel, out.AsGiven = kernel.Tanimoto{}, true
	case "chi2":
		out.Kernel = kernel.ChiSquare{Width: s.length("width"), Medians: s.positive("medians"), Additive: s.flag("additive")}
		out.AsGiven = true
	case "intersection":
		out.Kernel, out.AsGiven = kernel.Intersection{}, true
	case "clinical":
		out.Kernel, out.AsGiven = kernel.Clinical{}, true
	case "ibs":
		out.Kernel, out.AsGiven = kernel.IBS{}, true
	case "categorical":
		out.Kernel = kernel.Categorical{Width: s.length("width"), Medians: s.positive("medians"), Overlap: s.flag("overlap")}
		out.Categories = true
	case "linear":
		out.Kernel = kernel.Linear{Scale: s.positive("scale")}
	case "function":
		out.Kernel = kernel.KnownFunction{}
	case "constant":
		out.Kernel = kernel.Constant{}
	case "poly", "polynomial":
		out.Kernel = kernel.Polynomial{Offset: s.number("offset"), Scale: s.number("scale"), Degree: s.whole("degree")}
	case "interaction":
		out.Kernel = kernel.Interaction{Order: s.whole("order"), Width: s.positive("width")}
	case "distance":
		out.Kernel, out.Given, out.Square = kernel.FromDistance{Scale: s.length("scale")}, true, !s.flag("basis")
	case "precomputed":
		out.Kernel, out.Given, out.Square = kernel.Precomputed{AllowIndefinite: s.flag("indefinite")}, true, !s.flag("basis")
	default:
		return buildStrings(k)
	}
	if !out.Given && !out.Categories && !out.AsGiven {
		out.Ranks = s.flag("ranks")
	}
	out.Center, out.Normalize = s.flag("center"), s.flag("normalize")
	if s.err == nil && len(s.left) > 0 {
		s.err = fmt.Errorf("%s has no setting %q: it has %s", k.Name, s.left[0].Name, strings.Join(s.known, ", "))
	}
	return out, s.err
}

// buildStrings makes a kernel of strings, whose settings package sequence reads.
func buildStrings(k Kernel) (out ViewKernel, err error) {
	var settings []string
	for _, set := range k.Settings {
		switch {
		case set.Name == "alphabet":
			out.Alphabet = set.Value.String()
			if _, err := sequence.ParseAlphabet(out.Alphabet); err != nil {
				return out, err
			}
		case set.Value.Text == Yes:
			settings = append(settings, set.Name)
		default:
			settings = append(settings, set.Name+"="+set.Value.String())
		}
	}
	out.Strings, err = sequence.Parse(k.Name + "(" + strings.Join(settings, ",") + ")")
	if err != nil && !slices.Contains(sequence.Names(), k.Name) {
		return out, fmt.Errorf("no kernel is called %q: there are rbf, laplacian, matern, rational-quadratic, power-exponential, periodic, spectral, tanimoto, chi2, intersection, clinical, ibs, categorical, linear, polynomial, interaction, constant, distance, precomputed and function, and of strings %s",
			k.Name, strings.Join(sequence.Names(), ", "))
	}
	return out, err
}
