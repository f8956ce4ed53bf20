package mkl

import (
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mcmc"
	"github.com/bmkl/bmkl/mkl/internal/gram"
	"github.com/bmkl/bmkl/vi/probit"
)

// scratch is the memory of one prediction.
type scratch struct {
	*gram.PointScratch // nil without kernels

	g       []float64          // P
	v       la.Matrix[float64] // R×D
	ordered la.Matrix[float64] // the like, with the samples in the order of the covariance's factor
	cv      la.Matrix[float64] // R×ρ

	spread, picked, solved []float64 // of a MultiTaskPredictor
	phi                    []float64 // of a processFunction: the composite kernels
	heal                   []float64 // the Healer's own

	probit    *probit.PointScratch      // of a ProbitPredictor after variational inference
	projected *probit.ProjectionScratch // the like, from pivots
	draws     *mcmc.ProbitPointScratch  // after sampling

	missing []bool      // of a ProbitPredictor: which inputs the sample lacks
	filled  [][]float64 // its inputs, with a stand-in's in place of these
	mean    []float64   // of the probabilities over the stand-ins

	_ [64]byte // scratch of different callers shares no cache line
}
