package la

import (
	"sync"
	"sync/atomic"
)

// A team is several workers that share a list of tiles. A tile is advanced step by step, by one
// worker at a time. A step may need other tiles, which are earlier in the list. There are no
// barriers: a worker takes any tile that can be advanced, and waits only if no tile can.
//
// Worker 0, the caller, looks for a tile from the front of the list, because all other tiles depend
// on the front. The other workers look from the back. If the operating system suspends one of them,
// the tile that it holds is probably needed late.
type team struct {
	n      int // workers
	tiles  []tile
	front  int // all tiles before it are done
	back   int // all tiles from it on are done
	blocks int // rows of the grid
	width  int // tiles of a row of the grid, 0 if it is a lower triangle

	mu      sync.Mutex
	changed sync.Cond
	waiting int
	left    int          // tiles that are not done
	grid    int          // tiles of the grid that are not done
	version atomic.Int64 // number of calls of put, for which other workers may wait
}

// tile is block (i, j) of one part of the work.
type tile struct {
	part       tilePart
	busy, done bool
	i, j       int
	next       int // step
}

type tilePart int

const (
	loading     tilePart = iota // row i of T is loaded, j = 0; one step
	factoring                   // L_ij; step k < j subtracts L_ik·L_jkᵀ, step j solves or factors
	solving                     // X_ij; step k < i subtracts T_ik·X_kj, step i solves
	multiplying                 // (XᵀX)_ij when all of X is done; one step
)

// reset empties the list, for a grid with the given number of rows and width.
func (t *team) reset(blocks, width int) {
	t.changed.L = &t.mu
	t.tiles, t.blocks, t.width = t.tiles[:0], blocks, width
	t.front, t.back, t.left, t.grid = 0, 0, 0, 0
}

// addRows appends tiles (i, 0).
func (t *team) addRows(part tilePart) {
	for i := range t.blocks {
		t.add(tile{part: part, i: i})
	}
}

// skip marks the tiles in the list as done.
func (t *team) skip() {
	for i := range t.tiles {
		t.tiles[i].done = true
	}
	t.left = 0
}

// addGrid appends the tiles of a grid or, if width is 0, of a lower triangle, row by row. If skip is
// set, tile (i, j) begins with step j, because it has no work in earlier steps.
func (t *team) addGrid(part tilePart, skip bool) {
	for i := range t.blocks {
		width := t.width
		if width == 0 {
			width = i + 1
		}
		for j := range width {
			x := tile{part: part, i: i, j: j}
			if skip {
				x.next = j
			}
			t.add(x)
		}
	}
}

func (t *team) add(x tile) {
	t.tiles = append(t.tiles, x)
	t.back++
	t.left++
	if x.part == factoring || x.part == solving {
		t.grid++
	}
}

// at returns tile (i, j) of the grid, which begins at tile first of the list.
func (t *team) at(first, i, j int) *tile {
	if t.width > 0 {
		return &t.tiles[first+i*t.width+j]
	}
	return &t.tiles[first+i*(i+1)/2+j]
}

// reach returns the first step k of x that has to wait for other tiles, and the last step
// of x.
func (t *team) reach(x *tile) (k, last int) {
	k = x.next
	switch x.part {
	case loading:
		return 1, 0
	case factoring:
		for k < x.j && t.at(0, x.i, k).done && t.at(0, x.j, k).done {
			k++
		}
		if k == x.j && (x.i == x.j || t.at(0, x.j, x.j).done) {
			k++
		}
		return k, x.j
	case solving:
		if !t.tiles[x.i].done {
			return k, x.i
		}
		for k < x.i && t.at(t.blocks, k, x.j).done {
			k++
		}
		if k == x.i {
			k++
		}
		return k, x.i
	case multiplying:
		if t.grid == 0 {
			k = 1
		}
		return k, 0
	}
	panic("la: unknown part")
}

// take returns a tile x whose steps x.next ≤ k < to the worker must carry out. last says that x is
// done afterwards. take returns nil if all tiles are done.
func (t *team) take(worker int) (x *tile, to int, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.left > 0 {
		if x, to, last = t.find(worker); x != nil {
			x.busy = true
			return x, to, last
		}
		t.wait()
	}
	return nil, 0, false
}

// find returns the tile to take, or nil if no tile can be advanced.
func (t *team) find(worker int) (x *tile, to int, last bool) {
	for n := t.front; n < t.back; n++ {
		x = &t.tiles[n]
		if worker > 0 {
			x = &t.tiles[t.front+t.back-1-n]
		}
		if !x.busy && !x.done {
			if k, end := t.reach(x); k > x.next {
				return x, k, k > end
			}
		}
	}
	return nil, 0, false
}

// put gives back a tile that take has returned. If failed, all other work is cancelled.
func (t *team) put(x *tile, to int, last, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.next, x.busy, x.done = to, false, last
	if last {
		t.left--
		for t.front < t.back && t.tiles[t.front].done {
			t.front++
		}
		for t.front < t.back && t.tiles[t.back-1].done {
			t.back--
		}
		if x.part == factoring || x.part == solving {
			t.grid--
		}
	}
	if failed {
		t.left = 0
	}
	t.version.Add(1)
	if t.waiting > 0 {
		t.changed.Broadcast()
	}
}

// spins is the number of times that a waiting worker looks for a change before it sleeps: some tens
// of microseconds, about as long as a virtual machine takes to wake it.
const spins = 40000

// wait returns after another worker has called put. The lock is held on entry and on return.
func (t *team) wait() {
	version := t.version.Load()
	t.mu.Unlock()
	for range spins {
		if t.version.Load() != version {
			t.mu.Lock()
			return
		}
	}
	t.mu.Lock()
	if t.version.Load() == version {
		t.waiting++
		t.changed.Wait()
		t.waiting--
	}
}
