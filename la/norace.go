//go:build !race

package la

const raceEnabled = false

func raceRead[T any]([]T)                    {}
func raceWrite[T any]([]T)                   {}
func raceReadMatrix[T Float](Matrix[T])      {}
func raceReadLower[T Float](Matrix[T])       {}
func raceWriteLower[T Float](int, Matrix[T]) {}
