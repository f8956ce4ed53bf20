// Package trees infers a function with edges and interactions: a sum of a curve for each feature and of the leaves of
// boosted trees. All heights have normal priors, and the evidence learns the variances of the priors and the noise.
//
// The trees grow on the residuals of the curves. The model is linear in its heights, so that the sums over samples that a
// fit needs do not grow with the number of samples. Scores of classes are sums of boosted trees alone.
// docs/theory/trees.md derives the equations.
//
// # Files
//
//	fit.go             Process: settings, the order of a fit
//	bins.go            features as small integers
//	tree.go            Tree: splits and leaves
//	grow.go            the growth of a tree
//	curve.go           Curve: knots of a feature
//	sums.go            sums over samples
//	evidence.go        variances of the priors, noise, the posterior of heights
//	posterior.go       Posterior: predictions, state
//	classes.go         FitClasses: trees of the scores of classes
//	classposterior.go  ClassPosterior: probabilities, state
//	forecast.go        how long the parts of a fit take, by counts of operations
package trees
