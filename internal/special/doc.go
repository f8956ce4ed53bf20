// Package special holds functions that have the same bits on every machine: those that
// package math has, with other bits on some machines, and those that it lacks.
//
//   - elementary: [Exp], [Expm1], [Log], [Log1p], [Tanh], [Hypot]
//   - of the gamma function: [Digamma], [Trigamma], [LogGamma], [LogMinusDigamma],
//     [LogGammaRise]
//   - modified Bessel functions of the second kind: [BesselK], [BesselKRatio]
//   - of the normal distribution: [LogNormalCDF], [LogNormalQuantile],
//     [NormalQuantile], [Mills], [NormalAbove]
//   - random numbers: [Rand], whose normal draws have the same bits on every machine
//   - probabilities and means of normal variables where a given one is the
//     largest: [Cone]
//
// Each function says how accurate it is and where its formula comes from.
package special
