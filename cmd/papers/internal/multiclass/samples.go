package multiclass

import (
	"math/rand/v2"
	"slices"
)

// At returns some elements of x.
func At[T any](x []T, index []int) []T {
	y := make([]T, len(index))
	for k, i := range index {
		y[k] = x[i]
	}
	return y
}

// Sequence is first, first+1, …: n numbers.
func Sequence(first, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = first + i
	}
	return s
}

// Stratified splits the samples of each class at random, a share for training.
func Stratified(class []int, share float64, seed uint64) (train, test []int) {
	members := map[int][]int{}
	for i, c := range class {
		members[c] = append(members[c], i)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for c := range 1 + slices.Max(class) {
		m := members[c]
		r.Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
		cut := int(share * float64(len(m)))
		train, test = append(train, m[:cut]...), append(test, m[cut:]...)
	}
	slices.Sort(train)
	slices.Sort(test)
	return train, test
}
