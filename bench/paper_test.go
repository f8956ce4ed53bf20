package main

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The paper's updates must be right before their speed counts.
func TestPaperRegressionGolden(t *testing.T) {
	var f struct {
		Dims  struct{ N, P int }
		Hyper map[string]float64
		K     [][][]float64
		Y     [][]float64
		Init  struct {
			AMu [][]float64   `json:"A_mu"`
			GMu [][][]float64 `json:"G_mu"`
		}
		After map[string]struct {
			State struct {
				AMu  [][]float64 `json:"A_mu"`
				BeMu []float64   `json:"be_mu"`
			}
		}
	}
	raw, err := os.ReadFile("../testdata/golden/gonen/regression.json")
	must(err)
	must(json.Unmarshal(raw, &f))
	dense := func(rows [][]float64) *mat.Dense {
		d := mat.NewDense(len(rows), len(rows[0]), nil)
		for i, r := range rows {
			d.SetRow(i, r)
		}
		return d
	}
	var k []*mat.Dense
	for _, km := range f.K {
		k = append(k, dense(km))
	}
	prior := func(name string) gammaPrior { return gammaPrior{f.Hyper["alpha_"+name], f.Hyper["beta_"+name]} }
	r := newPaperRegression(paperPriors{
		lambda: prior("lambda"), upsilon: prior("upsilon"), gamma: prior("gamma"),
		omega: prior("omega"), epsilon: prior("epsilon"),
	}, k, f.Y[0], f.Init.AMu[0], dense(f.Init.GMu[0]))
	for range 10 {
		r.sweep()
	}
	check := func(name string, got mat.Vector, want []float64) {
		var worst, scale float64
		for i, w := range want {
			worst = max(worst, math.Abs(got.AtVec(i)-w))
			scale = max(scale, math.Abs(w))
		}
		if worst > 1e-8*scale {
			t.Errorf("%s differs by %g of %g", name, worst, scale)
		}
	}
	check("a", r.a, f.After["10"].State.AMu[0])
	check("(b, e)", r.be, f.After["10"].State.BeMu)
}
