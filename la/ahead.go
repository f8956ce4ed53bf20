package la

import "unsafe"

// ahead is a queue of memory that a worker will soon read, in pieces. Each call of add or sub in
// stripKernels takes one piece as a hint and prefetches it while it computes. The queue does not
// enter the results. Its zero value is empty.
type ahead struct {
	hints     [urgent + 128]hint // hints[next:end] are in the queue
	next, end int
}

// hint is a piece: the arguments soon and step of add in stripKernels. The address is a number, not a
// pointer, because it is only prefetched and may be past the end of an array.
type hint struct {
	soon uintptr
	step int
}

// urgent is the number of pieces that addRows may put in front of the others.
const urgent = 8

// clear empties the queue.
func (h *ahead) clear() { h.next, h.end = urgent, urgent }

// take removes and returns the next piece. From an empty queue it returns the cache line at none, an
// address that should be in the cache already.
func (h *ahead) take(none uintptr) (soon uintptr, step int) {
	if h.next == h.end {
		return none, 0
	}
	p := h.hints[h.next]
	h.next++
	return p.soon, p.step
}

// addStrips adds k positions of n strips of nr lines. The strips are ts elements apart, the first one
// begins at p. The calls that take the pieces have k terms.
func addStrips[T Float](h *ahead, n int, p *T, ts, nr, k int) {
	size := int(unsafe.Sizeof(*p))
	row := k / 4 * 64
	for i := range n {
		at := address(p) + uintptr(i*ts*size)
		for range size / 4 { // times nr/4 rows
			if h.end == len(h.hints) {
				return
			}
			h.hints[h.end] = hint{at, row}
			h.end++
			at += uintptr(nr / 4 * row)
		}
	}
}

// addRows adds n rows of a matrix in front of the other pieces. The rows are ld elements apart, the
// first one begins at p. The calls that take the pieces have tiles of nr rows.
func addRows[T Float](h *ahead, n int, p *T, ld, nr int) {
	step := ld * int(unsafe.Sizeof(*p))
	for i := (n - 1) / (nr / 4); i >= 0 && h.next > 0; i-- {
		h.next--
		h.hints[h.next] = hint{address(p) + uintptr(i*nr/4*step), step}
	}
}

func address[T Float](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
