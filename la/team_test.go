package la

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// teams returns lists as the triangular routines make them, of that many blocks.
func teams(blocks int) map[string]*team {
	f, i, s := &team{}, &team{}, &team{}
	f.reset(blocks, 0)
	f.addGrid(factoring, false)
	i.reset(blocks, 0)
	i.addRows(loading)
	i.addGrid(solving, true)
	i.addGrid(multiplying, false)
	s.reset(blocks, 3)
	s.addRows(loading)
	s.addGrid(solving, false)
	return map[string]*team{"factorisation": f, "inversion": i, "solution": s}
}

// needs reports whether step k of x needs y to be done.
func needs(x *tile, k int, y *tile) bool {
	switch x.part {
	case factoring:
		return y.j == k && (y.i == x.i || y.i == x.j) && y != x
	case solving:
		return y.part == loading && y.i == x.i || y.part == solving && y.j == x.j && y.i == k && k < x.i
	case multiplying:
		return y.part == solving
	}
	return false
}

// TestTeamRespectsDependencies has workers take and put tiles in random order. Every step must find
// what it needs; and where nothing can be taken, whatever is not done must wait for
// something.
func TestTeamRespectsDependencies(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for name, list := range teams(1 + rng.IntN(6)) {
			type taken struct {
				x    *tile
				to   int
				last bool
			}
			var held []taken
			for list.left > 0 {
				if rng.IntN(3) > 0 {
					if x, _, _ := list.find(rng.IntN(2)); x != nil {
						x, to, last := list.take(rng.IntN(2))
						for k := x.next; k < to; k++ {
							for i := range list.tiles {
								y := &list.tiles[i]
								require.False(t, needs(x, k, y) && !y.done, "%s: step %d of %+v does not wait for %+v", name, k, *x, *y)
							}
						}
						held = append(held, taken{x, to, last})
						continue
					}
					for i := range list.tiles {
						x, waits := &list.tiles[i], false
						for j := range list.tiles {
							waits = waits || needs(x, x.next, &list.tiles[j]) && !list.tiles[j].done
						}
						require.True(t, waits || x.busy || x.done, "%s: nobody takes %+v", name, *x)
					}
				}
				if len(held) > 0 {
					i := rng.IntN(len(held))
					h := held[i]
					held = append(held[:i], held[i+1:]...)
					list.put(h.x, h.to, h.last, false)
				}
			}
			for i := range list.tiles {
				require.True(t, list.tiles[i].done, "%s: %+v", name, list.tiles[i])
			}
		}
	}
}
