package motorcycle

// The paper's kernels have the widths 2^minExponent … 2^maxExponent.
const MinExponent, MaxExponent = -10, 10
