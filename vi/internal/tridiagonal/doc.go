// Package tridiagonal brings a symmetric matrix K into a tridiagonal form once, in N³
// operations, so that systems, traces and the determinant of I + λK cost N for every λ, and
// N² to carry vectors there and back.
package tridiagonal
