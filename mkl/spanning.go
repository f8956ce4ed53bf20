package mkl

// Kernels that are inner products of few features are known from a few samples that span the features:
// every other sample is a combination of these, the same for all kernels. A [MultiGP] then keeps no more
// than those, and docs/theory/mgp.md, section 22, has what it makes of them.

// spannedShare is how many times more samples than features there are at least where the fit is one in the
// features: with fewer there is little to gain.
const spannedShare = 4

// spanned reports whether the fit is one to samples that span the others; the number of features is 0 if the kernels
// are no inner products. Fits of up to mostDrawn samples make
// draws, which [mgp.Evidence.FitSpanned] does not. Noise that varies or has heavy tails differs between samples, and
// after a hurried fit tests of its noise take the kernels of all samples.
func (g *processRegression) spanned(samples, features int) bool {
	return features > 0 && samples > mostDrawn && features <= samples/spannedShare &&
		!g.factorised && g.noise == ConstantNoise && !g.hurried
}

// spannedMemory estimates what such a fit takes.
func (g *processRegression) spannedMemory(s FitSize, features int) int64 {
	N, P, M := float64(s.Samples), float64(s.Kernels), float64(features)
	words := float64(6*N*M) + float64((float64(3*P)+8)*M*M) // features, weights, a basis; kernels, factors
	words += float64(float64(g.workers()) * (1 << 18))      // packed blocks of products
	return inBytes(words + float64((P+10)*(M+N)))           // vectors
}
