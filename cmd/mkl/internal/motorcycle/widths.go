package motorcycle

// The Gaussian kernels that M. Gönen (2012) learned these data by have the widths
// 2^MinExponent … 2^MaxExponent on times of mean 0 and deviation 1.
const MinExponent, MaxExponent = -10, 10
