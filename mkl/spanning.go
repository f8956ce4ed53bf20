package mkl

// Kernels that are inner products of few features are determined by a few samples that span the features:
// every other sample is a combination of these, the same for all kernels. A [MultiGP] then keeps only
// the spanning samples; docs/theory/mgp.md, section 22, derives the fit.

// spannedShare is the least ratio of samples to features for a fit to samples that span the others.
// Below it there is little to gain.
const spannedShare = 4

// spanned reports whether the model is fitted to samples that span the others. features is 0 if the kernels
// are not inner products. Fits of up to mostDrawn samples make
// draws, which [mgp.Evidence.FitSpanned] does not support. Noise that varies or has heavy tails differs between samples, as
// noise of samples with weights does, and tests of the noise after a hurried fit need the kernels of all samples.
func (g *processRegression) spanned(samples, features int) bool {
	return features > 0 && samples > mostDrawn && features <= samples/spannedShare &&
		!g.factorised && g.noise == ConstantNoise && !g.hurried && g.weights == nil
}

// spannedMemory estimates the bytes of such a fit.
func (g *processRegression) spannedMemory(s FitSize, features int) int64 {
	N, P, M := float64(s.Samples), float64(s.Kernels), float64(features)
	words := float64(6*N*M) + float64((float64(3*P)+8)*M*M) // features, weights, a basis; kernels, factors
	words += float64(float64(g.workers()) * (1 << 18))      // packed blocks of products
	return inBytes(words + float64((P+10)*(M+N)))           // vectors
}
