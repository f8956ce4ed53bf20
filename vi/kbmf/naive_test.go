package kbmf

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/bmkl/bmkl/internal/special"
	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/vi/internal/fittest"
)

// naiveSide is a side of naivePairs: docs/theory/kbmf.md in the letters of the model.
type naiveSide struct {
	k             []la.Matrix[float64]
	R             int
	prior         [2][2]float64 // λ, η
	upsilon, tau  float64       // 1/σ_g² and 1/σ_h²
	lambda        [][][2]float64
	a             [][]float64
	aCov          []la.Matrix[float64]
	g             [][][]float64 // component, sample, kernel
	gCov          la.Matrix[float64]
	eta           [][2]float64
	e             []float64
	eCov          la.Matrix[float64]
	h             [][]float64 // sample, component
	hCov          []la.Matrix[float64]
	otherPartners func(i int) []int
	y             func(i, j int) float64
}

// naivePairs is the model with every distribution written out, every update a plain loop with
// explicit inverses, and q(f) integrated numerically. apart takes the intermediate outputs of
// different kernels as independent, which the published code does.
type naivePairs struct {
	x, z      *naiveSide
	y         la.Matrix[float64] // NaN where missing; of labels E[f]
	apart     bool
	noBias    bool
	gamma     [2]float64
	b, bVar   float64
	prior     [2][2]float64 // γ, ε
	epsilon   [2]float64
	held      float64 // 1/σ_y² where the noise is held
	labels    la.Matrix[float64]
	margin    float64
	f2        la.Matrix[float64] // E[f²]
	logZ, far float64
}

func newNaiveSide(k []la.Matrix[float64], s *SideStart, prior [2][2]float64, sigmaG, sigmaH float64) *naiveSide {
	R, D, N, P := s.A.Rows, k[0].Rows, k[0].Cols, len(k)
	n := &naiveSide{k: k, R: R, prior: prior, upsilon: 1 / (sigmaG * sigmaG), tau: 1 / (sigmaH * sigmaH), eCov: fittest.Identity(P), gCov: fittest.Identity(P)}
	for r := range R {
		var lambda [][2]float64
		for range D {
			lambda = append(lambda, [2]float64{prior[0][0] + 0.5, prior[0][1]})
		}
		n.lambda = append(n.lambda, lambda)
		n.a, n.aCov = append(n.a, append([]float64(nil), s.A.Row(r)...)), append(n.aCov, fittest.Identity(D))
		var g [][]float64
		for i := range N {
			var row []float64
			for m := range P {
				row = append(row, s.G.At(r*P+m, i))
			}
			g = append(g, row)
		}
		n.g = append(n.g, g)
	}
	for range P {
		n.e, n.eta = append(n.e, 1), append(n.eta, [2]float64{prior[1][0] + 0.5, prior[1][1]})
	}
	for i := range N {
		var h []float64
		for r := range R {
			h = append(h, s.H.At(r, i))
		}
		n.h, n.hCov = append(n.h, h), append(n.hCov, fittest.Identity(R))
	}
	return n
}

// newNaivePairs returns the model at its start; labels are of a classifier, whose y is E[f].
func newNaivePairs(x, z *naiveSide, y la.Matrix[float64]) *naivePairs {
	s := &naivePairs{x: x, z: z, y: y.Clone()}
	seen := func(i, j int) bool { return !math.IsNaN(s.y.At(i, j)) }
	x.otherPartners = func(i int) (of []int) {
		for j := range y.Cols {
			if seen(i, j) {
				of = append(of, j)
			}
		}
		return of
	}
	z.otherPartners = func(j int) (of []int) {
		for i := range y.Rows {
			if seen(i, j) {
				of = append(of, i)
			}
		}
		return of
	}
	x.y, z.y = s.y.At, func(j, i int) float64 { return s.y.At(i, j) }
	return s
}

func (s *naiveSide) ee(m, n int) float64 { return s.e[m]*s.e[n] + s.eCov.At(m, n) }

// fromKernels is E[a_r]ᵀk_{m,i}, and its variance.
func (s *naiveSide) fromKernels(r, m int, k func(d int) float64) (mean, variance float64) {
	for d, a := range s.a[r] {
		mean += a * k(d)
		for c := range s.a[r] {
			variance += k(d) * s.aCov[r].At(d, c) * k(c)
		}
	}
	return mean, variance
}

func (s *naiveSide) at(m, i int) func(int) float64 {
	return func(d int) float64 { return s.k[m].At(d, i) }
}

// hh is E[h_i·h_iᵀ].
func (s *naiveSide) hh(i, r, c int) float64 { return s.h[i][r]*s.h[i][c] + s.hCov[i].At(r, c) }

func (s *naiveSide) update(name string, apart bool, other *naiveSide, eps, b float64) {
	N, P, D := len(s.h), len(s.e), len(s.a[0])
	observe := func(g *[2]float64, prior [2]float64, sum float64) { g[1] = 1 / (1/prior[1] + sum/2) }
	switch name {
	case "λ":
		for r := range s.R {
			for d, a := range s.a[r] {
				observe(&s.lambda[r][d], s.prior[0], a*a+s.aCov[r].At(d, d))
			}
		}
	case "a":
		s.a = append([][]float64(nil), s.a...)
		for r := range s.R {
			precision, right := la.NewMatrix[float64](D, D), make([]float64, D)
			for d := range D {
				precision.Set(d, d, fittest.Mean(s.lambda[r][d]))
				for m, k := range s.k {
					for i := range N {
						right[d] += s.upsilon * k.At(d, i) * s.g[r][i][m]
						for c := range D {
							precision.Set(d, c, precision.At(d, c)+s.upsilon*k.At(d, i)*k.At(c, i))
						}
					}
				}
			}
			s.aCov[r], _ = fittest.Inverse(precision)
			s.a[r] = fittest.Times(s.aCov[r], right)
		}
	case "G":
		precision := la.NewMatrix[float64](P, P)
		for m := range P {
			for n := range P {
				if m == n || !apart {
					precision.Set(m, n, s.tau*s.ee(m, n))
				}
			}
			precision.Set(m, m, precision.At(m, m)+s.upsilon)
		}
		s.gCov, _ = fittest.Inverse(precision)
		for r := range s.R {
			for i := range N {
				right := make([]float64, P)
				for m := range P {
					p, _ := s.fromKernels(r, m, s.at(m, i))
					right[m] = s.upsilon*p + s.tau*s.e[m]*s.h[i][r]
				}
				if !apart {
					s.g[r][i] = fittest.Times(s.gCov, right)
					continue
				}
				for m := range P { // one kernel after the other
					rest := right[m]
					for n := range P {
						if n != m {
							rest -= s.tau * s.ee(m, n) * s.g[r][i][n]
						}
					}
					s.g[r][i][m] = s.gCov.At(m, m) * rest
				}
			}
		}
	case "η":
		for m := range P {
			observe(&s.eta[m], s.prior[1], s.ee(m, m))
		}
	case "e":
		precision, right := la.NewMatrix[float64](P, P), make([]float64, P)
		for m := range P {
			for n := range P {
				if m == n {
					precision.Set(m, m, fittest.Mean(s.eta[m]))
				}
				for r := range s.R {
					for i := range N {
						precision.Set(m, n, precision.At(m, n)+s.tau*(s.g[r][i][m]*s.g[r][i][n]+s.gCov.At(m, n)))
					}
				}
			}
			for r := range s.R {
				for i := range N {
					right[m] += s.tau * s.g[r][i][m] * s.h[i][r]
				}
			}
		}
		s.eCov, _ = fittest.Inverse(precision)
		s.e = fittest.Times(s.eCov, right)
	case "H":
		for i := range N {
			precision, right := la.NewMatrix[float64](s.R, s.R), make([]float64, s.R)
			for r := range s.R {
				precision.Set(r, r, s.tau)
				for m, e := range s.e {
					right[r] += s.tau * e * s.g[r][i][m]
				}
				for _, j := range s.otherPartners(i) {
					right[r] += eps * (s.y(i, j) - b) * other.h[j][r]
					for c := range s.R {
						precision.Set(r, c, precision.At(r, c)+eps*other.hh(j, r, c))
					}
				}
			}
			s.hCov[i], _ = fittest.Inverse(precision)
			s.h[i] = fittest.Times(s.hCov[i], right)
		}
	}
}

// fit is E[h_x]ᵀE[h_z] + E[b] of a pair, and its variance.
func (s *naivePairs) fit(i, j int) (mean, variance float64) {
	mean, variance = s.b, s.bVar
	for r := range s.x.R {
		mean += s.x.h[i][r] * s.z.h[j][r]
		for c := range s.x.R {
			variance += s.x.hh(i, r, c)*s.z.hh(j, r, c) - s.x.h[i][r]*s.x.h[i][c]*s.z.h[j][r]*s.z.h[j][c]
		}
	}
	return mean, variance
}

// each calls f for every observed pair.
func (s *naivePairs) each(f func(i, j int)) {
	for i := range s.y.Rows {
		for _, j := range s.x.otherPartners(i) {
			f(i, j)
		}
	}
}

// noise is E[ε].
func (s *naivePairs) noise() float64 {
	if s.held > 0 {
		return s.held
	}
	return fittest.Mean(s.epsilon)
}

// residual is Σ E[(t − h_xᵀh_z − b)²] without the variance of t.
func (s *naivePairs) residual() (sum float64) {
	s.each(func(i, j int) {
		m, v := s.fit(i, j)
		sum += (s.y.At(i, j)-m)*(s.y.At(i, j)-m) + v
	})
	return sum
}

// update makes the update of the given name. The names of a side's updates end in the letter of the
// side.
func (s *naivePairs) update(name string) {
	if base, ok := strings.CutSuffix(name, "x"); ok {
		s.x.update(base, s.apart, s.z, s.noise(), s.b)
		return
	}
	if base, ok := strings.CutSuffix(name, "z"); ok {
		s.z.update(base, s.apart, s.x, s.noise(), s.b)
		return
	}
	switch name {
	case "γ":
		s.gamma[1] = 1 / (1/s.prior[0][1] + (s.b*s.b+s.bVar)/2)
	case "b":
		n, sum := 0.0, 0.0
		s.each(func(i, j int) {
			m, _ := s.fit(i, j)
			n++
			sum += s.y.At(i, j) - (m - s.b)
		})
		s.bVar = 1 / (fittest.Mean(s.gamma) + n*s.noise())
		s.b = s.bVar * s.noise() * sum
	case "ε":
		s.epsilon[1] = 1 / (1/s.prior[1][1] + s.residual()/2)
	case "f":
		s.truncate()
	}
}

// truncate is q(f): the moments of N(m, 1) where f·label > margin, by Simpson's rule.
func (s *naivePairs) truncate() {
	s.logZ, s.far = 0, 0
	s.f2 = la.NewMatrix[float64](s.y.Rows, s.y.Cols)
	s.each(func(i, j int) {
		label := s.labels.At(i, j)
		m, _ := s.fit(i, j)
		const step, points = 1.0 / 128, 2048
		centre := label*m - s.margin
		from := math.Max(0, centre-8) // u = label·f − margin
		var mass, first, second float64
		for n := 0; n <= points; n++ {
			u, w := from+float64(n)*step, 4.0
			switch {
			case n == 0 || n == points:
				w = 1
			case n%2 == 0:
				w = 2
			}
			w *= step / 3 * math.Exp(-(u-centre)*(u-centre)/2) / math.Sqrt(2*math.Pi)
			mass, first, second = mass+w, first+w*u, second+w*u*u
		}
		u1, u2 := first/mass, second/mass
		f := label * (s.margin + u1)
		s.y.Set(i, j, f)
		s.f2.Set(i, j, s.margin*s.margin+2*s.margin*u1+u2)
		s.logZ += math.Log(mass)
		s.far += s.f2.At(i, j) - 2*f*m + m*m
	})
}

func (s *naiveSide) bound(gammas func(q, p [2]float64), normals func(meanLog, mean, n, squares float64), entropy func(cov la.Matrix[float64], copies float64)) {
	N, P := len(s.h), len(s.e)
	var distance, away float64
	for r := range s.R {
		for d, a := range s.a[r] {
			gammas(s.lambda[r][d], s.prior[0])
			normals(fittest.MeanLog(s.lambda[r][d]), fittest.Mean(s.lambda[r][d]), 1, a*a+s.aCov[r].At(d, d))
		}
		entropy(s.aCov[r], 1)
		entropy(s.gCov, float64(N))
		for i := range N {
			away += s.hh(i, r, r)
			for m := range P {
				p, v := s.fromKernels(r, m, s.at(m, i))
				distance += (s.g[r][i][m]-p)*(s.g[r][i][m]-p) + s.gCov.At(m, m) + v
				away -= 2 * s.h[i][r] * s.e[m] * s.g[r][i][m]
				for n := range P {
					away += s.ee(m, n) * (s.g[r][i][m]*s.g[r][i][n] + s.gCov.At(m, n))
				}
			}
		}
	}
	for m := range P {
		gammas(s.eta[m], s.prior[1])
		normals(fittest.MeanLog(s.eta[m]), fittest.Mean(s.eta[m]), 1, s.ee(m, m))
	}
	entropy(s.eCov, 1)
	normals(math.Log(s.upsilon), s.upsilon, float64(s.R*N*P), distance)
	normals(math.Log(s.tau), s.tau, float64(s.R*N), away)
	for i := range N {
		entropy(s.hCov[i], 1)
	}
}

// bound is E[log p] − E[log q], term by term.
func (s *naivePairs) bound() (sum float64) {
	gammas := func(q, p [2]float64) {
		lp, _ := math.Lgamma(p[0])
		lq, _ := math.Lgamma(q[0])
		sum += (p[0]-1)*fittest.MeanLog(q) - fittest.Mean(q)/p[1] - lp - p[0]*math.Log(p[1])
		sum += q[0] + math.Log(q[1]) + lq + (1-q[0])*special.Digamma(q[0])
	}
	normals := func(meanLog, mean, n, squares float64) {
		sum += 0.5*n*(meanLog-math.Log(2*math.Pi)) - 0.5*mean*squares
	}
	entropy := func(cov la.Matrix[float64], copies float64) {
		_, logDet := fittest.Inverse(cov)
		sum += 0.5 * copies * (float64(cov.Rows)*(1+math.Log(2*math.Pi)) + logDet)
	}
	s.x.bound(gammas, normals, entropy)
	s.z.bound(gammas, normals, entropy)
	if !s.noBias {
		gammas(s.gamma, s.prior[0])
		normals(fittest.MeanLog(s.gamma), fittest.Mean(s.gamma), 1, s.b*s.b+s.bVar)
		entropy(la.MatrixOf(1, 1, []float64{s.bVar}), 1)
	}
	n := 0.0
	s.each(func(i, j int) { n++ })
	if s.labels.Rows > 0 {
		// E[log p(f|…)] + the entropy of q(f), whose density is N(m, 1) over the mass.
		squares := s.residual()
		s.each(func(i, j int) { squares += s.f2.At(i, j) - s.y.At(i, j)*s.y.At(i, j) })
		normals(0, 1, n, squares)
		return sum + s.logZ + 0.5*s.far + 0.5*n*math.Log(2*math.Pi)
	}
	if s.held > 0 {
		normals(math.Log(s.held), s.held, n, s.residual())
		return sum
	}
	gammas(s.epsilon, s.prior[1])
	normals(fittest.MeanLog(s.epsilon), fittest.Mean(s.epsilon), n, s.residual())
	return sum
}

// moments returns mean and covariance of the factors of a new sample with these kernels.
func (s *naiveSide) moments(k func(m, d int) float64) ([]float64, la.Matrix[float64]) {
	P := len(s.e)
	h, cov := make([]float64, s.R), la.NewMatrix[float64](s.R, s.R)
	g := make([][]float64, s.R)
	for r := range s.R {
		for m := range P {
			p, _ := s.fromKernels(r, m, func(d int) float64 { return k(m, d) })
			g[r] = append(g[r], p)
			h[r] += s.e[m] * p
		}
	}
	for r := range s.R {
		for c := range s.R {
			var v float64
			for m := range P {
				for n := range P {
					second := g[r][m] * g[c][n]
					if r == c {
						for d := range s.a[r] {
							for d2 := range s.a[r] {
								second += k(m, d) * s.aCov[r].At(d, d2) * k(n, d2)
							}
						}
						if m == n {
							second += 1 / s.upsilon
						}
					}
					v += s.ee(m, n) * second
				}
			}
			if r == c {
				v += 1 / s.tau
			}
			cov.Set(r, c, v-h[r]*h[c])
		}
	}
	return h, cov
}

// drawStart draws a start for kernels of these sizes.
func drawStart(src *rand.Rand, R, P, D, N int) SideStart {
	s := SideStart{A: la.NewMatrix[float64](R, D), G: la.NewMatrix[float64](R*P, N), H: la.NewMatrix[float64](R, N)}
	for _, x := range [][]float64{s.A.Data, s.G.Data, s.H.Data} {
		for i := range x {
			x[i] = src.NormFloat64()
		}
	}
	return s
}
