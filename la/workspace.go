package la

// Workspace says how many goroutines a call may use and keeps the scratch
// memory that calls need, so that nothing is allocated once it has grown. The
// zero value is ready. A nil *Workspace stands for a fresh zero value. One
// workspace serves one call at a time.
type Workspace struct {
	// Workers is the most goroutines that work at the same time; 0 means
	// runtime.GOMAXPROCS(0). Results do not depend on it.
	Workers int
}
