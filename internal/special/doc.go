// Package special holds the special functions that the standard library lacks:
//
//   - of the gamma function: [Digamma], [Trigamma], [LogMinusDigamma], [LogGammaRise]
//   - modified Bessel functions of the second kind: [BesselK], [BesselKRatio]
//   - of the normal distribution: [LogNormalCDF], [LogNormalQuantile],
//     [NormalQuantile], [Mills], [NormalAbove]
//   - probabilities and means of normal variables of which a given one is the
//     largest: [Cone]
//
// Logarithms of the gamma function itself are in package math. Each function says how
// accurate it is and where its formula comes from.
package special
