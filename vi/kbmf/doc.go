// Package kbmf is kernelised Bayesian matrix factorisation: models of values, or of labels, of pairs
// of a row and a column, given kernels of the rows and kernels of the columns.
//
// [Regression] learns values, [Classification] labels ±1. Rows x and columns z have R factors each.
// The value of a pair is the inner product of the factors of its row and of its column, plus a bias.
// The factors of either side are regressions on the kernels of that side: sample weights a_s turn
// every kernel K_m into an intermediate output g_{s,m} of component s, and kernel weights e, which
// the components share, combine these into the factors,
//
//	g_{s,m,i} = a_sᵀ·k_{m,i} + noise,   h_{s,i} = eᵀ·g_{s,i} + noise,   y_ij = h_{x,i}ᵀ·h_{z,j} + b + noise.
//
// So a row or a column without any value, even a new one, has factors that follow from its kernels.
//
// # Priors
//
// Every sample weight a_{s,d} and kernel weight e_m is normal with mean 0 and a precision of its
// own, λ_{s,d} and η_m; so is the bias b, with the precision γ. These precisions have gamma priors,
// and so has the precision ε of the values. The noise of the intermediate outputs and of the factors
// is held at σ_g and σ_h. A classifier has no ε: its scores have variance 1.
//
// # Factorisation and order of the updates
//
// The posterior is approximated by q(b)q(γ)q(ε) and, for either side, q(λ)q(a)q(G)q(η)q(e)q(H). Here
// q(H) has the covariance of a sample's R factors and q(G) the covariance of its P intermediate
// outputs of one component. A sweep updates λ, a, G, η, e and H of the rows, the same of the
// columns, then γ, b, and ε or the scores f.
//
// Unless Plain is set, sweeps after the tenth start from extrapolated means and end with three steps
// along directions that leave the fitted values alone: the scales of a and G against e for each
// side, and the scale of the rows' factors against the columns' factors.
//
// # Predictions
//
// [Posterior.New] predicts the factors of new rows or columns, [Posterior.NewHealed] does so with
// variances that grow where the training samples do not reach, and [Posterior.Predict] predicts all
// pairs of some rows and some columns. [Points] predicts the factors of one row or column at a time,
// and [Posterior.Pair] the value of one pair.
//
// # Sources
//
// M. Gönen, "Predicting drug–target interactions from chemical and genomic kernels using Bayesian
// matrix factorization", Bioinformatics 28 (2012); M. Gönen, S. A. Khan and S. Kaski, "Kernelized
// Bayesian matrix factorization", ICML 2013; M. Gönen and S. Kaski, of the same title, IEEE TPAMI 36
// (2014). docs/theory/kbmf.md derives the updates, the bound and the predictions.
//
// # Files
//
//	regression.go      Regression: model, its likelihood and start
//	classification.go  Classification: model, its likelihood and start
//	model.go           state of a fit: rows, columns, bias, likelihood, steps along directions, bound, snapshot
//	side.go            the rows or the columns: updates and terms of the bound
//	posterior.go       the posterior; predictions of many pairs
//	points.go          predictions of single rows, columns and pairs
//	healing.go         what heals the factors of new rows and columns
package kbmf
