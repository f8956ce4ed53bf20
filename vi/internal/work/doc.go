// Package work is how a sweep gets its work done: by updates in their order, each
// perhaps split into tasks that several goroutines share; how a sweep is taken back; and
// how much of a bound is round-off.
package work
