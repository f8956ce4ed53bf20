package la

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Workspace holds the number of goroutines that a call may use, and the scratch memory of calls. The
// memory grows to the largest need and stays allocated, so that later calls allocate nothing. The
// zero value is ready. A nil *Workspace stands for a new one. A workspace serves one call at a time.
type Workspace struct {
	// Workers is the largest number of goroutines that work at the same time, including the
	// caller's; 0 means runtime.GOMAXPROCS(0). Results do not depend on it.
	Workers int

	locals []locals // one for each worker
	starts []func() // starts[i] works as worker i; made once, since a closure allocates
	job    job
	tasks  int
	next   atomic.Int64
	done   sync.WaitGroup

	products64 products[float64]
	products32 products[float32]
	gemvs64    gemvs[float64, float64]
	gemvs32    gemvs[float32, float32]
	gemvsMixed gemvs[float32, float64]
	symvs64    symvs[float64, float64]
	symvs32    symvs[float32, float32]
	symvsMixed symvs[float32, float64]

	coef, diag, parts, small buffer // for Gemv, Symv and small products
	panel                    buffer // for CholeskyPivoted

	blockWidth   int // of triangular routines, set by tests; 0 means that the routines choose
	triangular64 triangular[float64]
	triangular32 triangular[float32]
}

// locals is the memory of one worker.
type locals struct {
	a, b buffer // packed panels
	tile buffer // one register tile of C, at the edges
}

// buffer is memory that grows and is used again, for elements of any type.
type buffer []byte

// elements returns n elements in b, aligned to a cache line and not cleared. It grows b if b is too
// small.
func elements[T Float](b *buffer, n int) []T {
	const line = 64
	var z T
	if need := n*int(unsafe.Sizeof(z)) + line; cap(*b) < need {
		*b = make(buffer, need)
	}
	p := unsafe.Pointer(unsafe.SliceData(*b))
	return unsafe.Slice((*T)(unsafe.Add(p, -uintptr(p)&(line-1))), n)
}

// job is work cut into independent tasks.
type job interface {
	// do works on one task with the scratch memory of the worker that runs it.
	do(s *locals, task int)
}

// workers returns the number of workers to use for that many tasks.
func (w *Workspace) workers(tasks int) int {
	n := w.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return max(1, min(n, tasks))
}

// run does the tasks of j, in any order, and returns when all are done.
func (w *Workspace) run(tasks int, j job) {
	n := w.workers(tasks)
	if len(w.locals) < n {
		w.locals = append(w.locals, make([]locals, n-len(w.locals))...)
	}
	if n == 1 {
		for t := range tasks {
			j.do(&w.locals[0], t)
		}
		return
	}
	for i := len(w.starts); i < n; i++ {
		w.starts = append(w.starts, func() {
			w.work(i)
			w.done.Done()
		})
	}
	w.job, w.tasks = j, tasks
	w.next.Store(0)
	w.done.Add(n - 1)
	for i := 1; i < n; i++ {
		go w.starts[i]()
	}
	w.work(0)
	w.done.Wait()
	w.job = nil
}

// work does tasks until none is left.
func (w *Workspace) work(worker int) {
	for {
		t := int(w.next.Add(1)) - 1
		if t >= w.tasks {
			return
		}
		w.job.do(&w.locals[worker], t)
	}
}
