// Pivots of a Cholesky factorisation, for float64_amd64.h or float32_amd64.h; Z29 is 0,
// X30 is 1, X31 is Inf, R11 the number of the pivot.

// PIVOT leaves the root of the pivot d in X25 and its reciprocal in X26 and all lanes of
// Z27. It jumps to bad unless 0 < d < Inf.
#define PIVOT(d) \
	COMPARE1 X29, d;        \
	JLS bad;                \
	COMPARE1 d, X31;        \
	JLS bad;                \
	ROOT1 d, d, X25;        \
	DIVIDE1 X25, X30, X26;  \
	BROADCAST X26, Z27

// AHEAD computes the next pivot, by itself, into ze, from the first vectors of its row,
// n0, and of row i, c0, so that pivots do not wait for vectors. zd is clobbered.
#define AHEAD(i, d, zd, e, ze, c0, n0) \
	ALIGN $(i+1), c0, c0, zd; \
	ALIGN $(i+1), n0, n0, ze; \
	MULTIPLY1 X26, d, d;      \
	LESSPRODUCT1 d, d, e
