// Package predictive predicts the targets eᵀ·g + b of new samples from the moments of a posterior,
// where g are the intermediate outputs of package intermediate, e the kernel weights and b a bias.
package predictive
