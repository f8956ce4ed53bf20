// Package cputime measures the processor time that this process has taken. On a machine that
// others use too, processor time says what a computation costs where a clock on the wall does
// not.
package cputime
