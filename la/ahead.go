package la

import "unsafe"

// ahead is a queue of memory that a worker will soon read, in pieces. Each call of add or
// sub takes one piece as a hint and prefetches it while it computes. The queue does not
// enter the results; its zero value is empty.
type ahead struct {
	hints     [urgent + 128]hint // those from next on, before end, are to be fetched
	next, end int
}

// hint is a piece: the arguments soon and step of add in stripKernels. Addresses are
// numbers, not pointers, because nothing is read there and some lie past the end of an array.
type hint struct {
	soon uintptr
	step int
}

// urgent is how many pieces may overtake the others.
const urgent = 8

// clear empties the queue.
func (h *ahead) clear() { h.next, h.end = urgent, urgent }

// take returns the piece for the next call or, from an empty queue, the cache line at none,
// which should be one that is in the cache anyway.
func (h *ahead) take(none uintptr) (soon uintptr, step int) {
	if h.next == h.end {
		return none, 0
	}
	p := h.hints[h.next]
	h.next++
	return p.soon, p.step
}

// addStrips adds k positions of n strips of nr lines, ts elements apart, the first of
// them from p on, for calls with as many terms.
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

// addRows adds n rows of a matrix, ld elements apart, the first of them from p on, for
// calls with tiles of nr rows; they are fetched before the others.
func addRows[T Float](h *ahead, n int, p *T, ld, nr int) {
	step := ld * int(unsafe.Sizeof(*p))
	for i := (n - 1) / (nr / 4); i >= 0 && h.next > 0; i-- {
		h.next--
		h.hints[h.next] = hint{address(p) + uintptr(i*nr/4*step), step}
	}
}

func address[T Float](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
