// Package mcmc samples from the posteriors that package vi approximates: with
// Markov chains whose limit is the posterior itself, and with diagnostics that
// tell whether the chains have come close to it.
//
// A sampler is a plain struct of hyperparameters with a Sample method; [Sampling]
// says how many chains of what length it runs, several side by side. Each chain
// has a random stream of its own, so that the draws depend on the seed alone:
// they are the same on every run and for every number of workers, and a run that
// was interrupted and resumed from its [Checkpoint] ends in the same draws, bit
// for bit. They are also the same on every machine, since the random numbers,
// exponentials and logarithms are the module's own; docs/guide/trust.md names the
// tests.
//
// The moves of each sampler and the cost of a sweep are described at the sampler
// and in docs/theory/mcmc.md.
package mcmc
