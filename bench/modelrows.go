package main

import "iter"

func modelRows() iter.Seq2[string, func() row] {
	return func(yield func(string, func() row) bool) {}
}
