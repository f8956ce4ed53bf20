// Package cputime tells what this process has taken of the machine. On a machine that
// others use too, processor time says what a computation costs where a clock on the wall does
// not.
package cputime
