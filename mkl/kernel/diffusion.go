package kernel

import (
	"fmt"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Edge joins two nodes of a graph. A Weight of 0 means 1.
type Edge struct {
	From, To int     // nodes, counted from 0
	Weight   float64 // positive
}

// mostNodes is the largest number of nodes of a graph. Three matrices of as many rows and columns take 24 GiB.
const mostNodes = 1 << 15

// Diffusion returns the kernel exp(−β·L) between the nodes of an undirected graph, nodes×nodes, symmetric and positive
// semidefinite. L = D − A is the graph's Laplacian: A has the weights of the edges, and D their sums in each row. Nodes
// are numbered from 0; parallel edges add, and an edge from a node to itself changes nothing. The larger β is, the farther
// a node's neighbourhood reaches; with β = 0 the kernel is the identity.
//
// With samples that are nodes, take the kernel's rows and columns for a view with [Precomputed]. With samples whose
// features are nodes, such as genes in a pathway, multiply the samples by Diffusion of β/2 and use [Linear]: the kernel of
// the samples is then xᵀ·exp(−β·L)·y.
//
// The entries are good to β·d·1e-16, d the largest number of edges of a node, and the time grows with the cube of the
// nodes. There are at most 32768 of them. Source: Kondor and Lafferty, Diffusion kernels on graphs, 2002.
func Diffusion(nodes int, edges []Edge, beta float64) (la.Matrix[float64], error) {
	var none la.Matrix[float64]
	if nodes < 1 || nodes > mostNodes {
		return none, fmt.Errorf("kernel: Diffusion: nodes is %d, not a number from 1 to %d", nodes, mostNodes)
	}
	if !(beta >= 0) || math.IsInf(beta, 0) {
		return none, fmt.Errorf("kernel: Diffusion: beta is %g, not a number from 0 up", beta)
	}
	minus := la.NewMatrix[float64](nodes, nodes) // −β·L
	for i, e := range edges {
		w := e.Weight
		if w == 0 {
			w = 1
		}
		switch {
		case e.From < 0 || e.From >= nodes || e.To < 0 || e.To >= nodes:
			return none, fmt.Errorf("kernel: Diffusion: edges[%d] joins %d and %d, and there are %d nodes", i, e.From, e.To, nodes)
		case !(w > 0) || math.IsInf(w, 0):
			return none, fmt.Errorf("kernel: Diffusion: edges[%d] has the weight %g, not a positive number", i, w)
		case e.From == e.To:
			continue
		}
		w = float64(w * beta)
		minus.Row(e.From)[e.To] += w
		minus.Row(e.To)[e.From] += w
		minus.Row(e.From)[e.From] -= w
		minus.Row(e.To)[e.To] -= w
	}
	largest := 0.0 // half of the largest row sum
	for i := range nodes {
		largest = max(largest, -minus.At(i, i))
	}
	if math.IsInf(largest, 0) {
		return none, fmt.Errorf("kernel: Diffusion: beta times the weights of a node's edges is beyond the range of numbers")
	}
	// exp(X) = exp(X/2^s)^(2^s). With rows of X/2^s that sum to 1/2 at most, 14 terms of the series leave an error of 1e-16.
	halvings := 0
	for ; 2*largest > 0.5; largest /= 2 {
		halvings++
	}
	scale := math.Ldexp(1, -halvings)
	for i := range nodes {
		la.Scal(scale, minus.Row(i))
	}
	const terms = 14
	ws := &la.Workspace{}
	k, next := la.NewMatrix[float64](nodes, nodes), la.NewMatrix[float64](nodes, nodes)
	addIdentity := func(m la.Matrix[float64]) {
		for i := range nodes {
			m.Row(i)[i]++
		}
	}
	addIdentity(k)
	for n := terms; n > 0; n-- { // Horner: 1 + X/1·(1 + X/2·(1 + …))
		la.Gemm(ws, la.NoTrans, la.NoTrans, 1/float64(n), minus, k, 0, next)
		addIdentity(next)
		k, next = next, k
	}
	for range halvings {
		la.Gemm(ws, la.NoTrans, la.Transpose, 1, k, k, 0, next) // k is symmetric: its square is positive semidefinite
		k, next = next, k
	}
	for i := range nodes {
		for j := range i {
			mean := 0.5 * (k.At(i, j) + k.At(j, i))
			k.Row(i)[j], k.Row(j)[i] = mean, mean
		}
	}
	return k, nil
}
