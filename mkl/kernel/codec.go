package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// kinds are the kernels that a model file can hold, each with its name in the file.
var kinds = []struct {
	name   string
	kernel Kernel
	decode func(settings []byte) (Kernel, error)
}{
	{"rbf", RBF{}, decode[RBF]},
	{"laplacian", Laplacian{}, decode[Laplacian]},
	{"matern", Matern{}, decode[Matern]},
	{"rational-quadratic", RationalQuadratic{}, decode[RationalQuadratic]},
	{"power-exponential", PowerExponential{}, decode[PowerExponential]},
	{"periodic", Periodic{}, decode[Periodic]},
	{"spectral", Spectral{}, decode[Spectral]},
	{"tanimoto", Tanimoto{}, decode[Tanimoto]},
	{"chi2", ChiSquare{}, decode[ChiSquare]},
	{"intersection", Intersection{}, decode[Intersection]},
	{"clinical", Clinical{}, decode[Clinical]},
	{"ibs", IBS{}, decode[IBS]},
	{"categorical", Categorical{}, decode[Categorical]},
	{"constant", Constant{}, decode[Constant]},
	{"function", KnownFunction{}, decode[KnownFunction]},
	{"linear", Linear{}, decode[Linear]},
	{"polynomial", Polynomial{}, decode[Polynomial]},
	{"product", Product{}, decode[Product]},
	{"interaction", Interaction{}, decode[Interaction]},
	{"distance", FromDistance{}, decode[FromDistance]},
	{"precomputed", Precomputed{}, decode[Precomputed]},
}

// Encode returns a resolved kernel as the JSON object in model files: its kind and its nonzero
// settings. It returns an error for [Func] and for kernels from outside of this package.
func Encode(k Kernel) (json.RawMessage, error) {
	for _, kind := range kinds {
		if reflect.TypeOf(kind.kernel) != reflect.TypeOf(k) {
			continue
		}
		settings, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		text := append([]byte(`{"kind":"`), kind.name...)
		text = append(text, '"')
		if len(settings) > len("{}") {
			text = append(text, ',')
		}
		return append(text, settings[1:]...), nil
	}
	return nil, fmt.Errorf("the kernel %v cannot be saved", k)
}

// Decode returns the kernel of a JSON object that Encode has made. It rejects unknown kinds and unknown settings,
// but not settings that Check rejects.
func Decode(text json.RawMessage) (Kernel, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	var name string
	if err := json.Unmarshal(object["kind"], &name); err != nil {
		return nil, fmt.Errorf("kernel kind: %w", err)
	}
	delete(object, "kind")
	for _, kind := range kinds {
		if kind.name == name {
			settings, err := json.Marshal(object)
			if err != nil {
				return nil, err
			}
			return kind.decode(settings)
		}
	}
	return nil, fmt.Errorf("kernel kind %q is unknown", name)
}

func decode[K Kernel](settings []byte) (Kernel, error) {
	var k K
	err := strictly(settings, &k)
	return k, err
}

// strictly stores a JSON object in v, and rejects fields that v does not have.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
