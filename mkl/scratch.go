package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi/bemkl"
	"github.com/bmkl/bmkl/vi/probit"
)

// scratch is the memory of one prediction.
type scratch struct {
	*gram.PointScratch // nil without kernels

	g       []float64          // P
	v       la.Matrix[float64] // R×D
	ordered la.Matrix[float64] // as v, with the samples in the order of the covariance's factor
	cv      la.Matrix[float64] // R×ρ

	spread, picked, solved []float64 // of a MultiTaskPredictor
	phi                    []float64 // of a processFunction: the composite kernels
	heal                   []float64 // for the Healer
	triangles              *bemkl.TrianglesScratch
	f                      []float64 // D: for triangles
	rounded                *gram.RoundedScratch

	probit    *probit.PointScratch      // of a ProbitPredictor after variational inference
	projected *probit.ProjectionScratch // of a ProbitPredictor from pivots
	draws     *mcmc.ProbitPointScratch  // of a ProbitPredictor after sampling

	missing []bool      // of a ProbitPredictor: which inputs the sample lacks
	filled  [][]float64 // its inputs, in which a stand-in's replace the missing ones
	mean    []float64   // of the probabilities over the stand-ins

	_ [64]byte // scratch of different callers shares no cache line
}
