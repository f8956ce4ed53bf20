// Package kernel holds the kernels of package mkl. A kernel is a function of two samples that says how similar
// they are. A view of package mkl has one kernel on one matrix of features:
//
//	mkl.View{X: x, Kernel: kernel.RBF{Width: 1}}
//
// The kernels of features are [RBF], [Laplacian], [Matern], [RationalQuadratic], [PowerExponential], [Periodic],
// [Spectral], [Tanimoto], [ChiSquare], [Intersection], [Clinical], [IBS], [Categorical], [Linear], [Polynomial],
// [Interaction] and [Constant]. [Func] makes a kernel of any Go function. [FromDistance] and [Precomputed] stand for matrices of distances or
// kernels that the caller has computed; [Diffusion] computes a kernel between the nodes of a graph.
//
// # A kernel of your own
//
// Any type that implements [Kernel] can be a view's kernel. The interface splits a kernel into a [Statistic] of two
// samples, such as their squared distance, and a function of that number, [Kernel].Apply. Views of the same
// matrix share the computation of their statistic. A kernel whose width can be taken from the data implements
// Missing and Resolve. A kernel with widths or scales also implements [Scaled], so that package tune can learn
// them. Models with a kernel from outside of this package cannot be saved.
package kernel
