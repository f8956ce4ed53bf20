package la

import (
	"math"
	"unsafe"
)

// ToWords stores ⌊x_i·scale + dither_i⌋ − 2¹⁵ in dst_i: x in integers, rounded up or down by a dither in [2¹⁵, 2¹⁵+1). The floor must be
// in [0, 2¹⁶); elements are undefined where it is not. The three vectors have the same length and do not overlap.
//
// Roundings: the product, and then the sum.
func ToWords(x []float64, scale float64, dither []float64, dst []int16) {
	checkLen("dither", dither, len(x))
	checkLen("dst", dst, len(x))
	raceRead(x)
	raceRead(dither)
	raceWrite(dst)
	table[float64]()
	f, whole := active.words.to, len(x)/wordsBlock*wordsBlock
	for i := 0; i < whole; i += wordsPiece {
		f(min(wordsPiece, whole-i), &x[i], scale, &dither[i], &dst[i])
	}
	toWords(x[whole:], scale, dither[whole:], dst[whole:])
}

// FromWords stores (256·high_i + low_i)·(step_i·scale) in dst_i. The four vectors have the same length, and dst must not overlap the others.
//
// Roundings: the product of step and scale, and the product of all. The sum is exact.
func FromWords(high, low []int32, step []float64, scale float64, dst []float64) {
	checkLen("high", high, len(dst))
	checkLen("low", low, len(dst))
	checkLen("step", step, len(dst))
	checkApart("dst", dst, "step", step)
	raceRead(high)
	raceRead(low)
	raceRead(step)
	raceWrite(dst)
	table[float64]()
	f, whole := active.words.from, len(dst)/wordsBlock*wordsBlock
	for i := 0; i < whole; i += wordsPiece {
		f(min(wordsPiece, whole-i), &high[i], &low[i], &step[i], scale, &dst[i])
	}
	fromWords(high[whole:], low[whole:], step[whole:], scale, dst[whole:])
}

// Squares stores x_i² in dst_i and returns the largest |x_i|, 0 for none. dst has the length of x and must not overlap it. Elements that are not
// numbers do not count.
func Squares(x, dst []float64) (largest float64) {
	checkLen("dst", dst, len(x))
	checkApart("dst", dst, "x", x)
	raceRead(x)
	raceWrite(dst)
	table[float64]()
	f, whole := active.words.squares, len(x)/wordsBlock*wordsBlock
	for i := 0; i < whole; i += wordsPiece {
		if size := f(min(wordsPiece, whole-i), &x[i], &dst[i]); size > largest {
			largest = size
		}
	}
	if size := squares(x[whole:], dst[whole:]); size > largest {
		largest = size
	}
	return largest
}

// wordKernels are the loops of ToWords, FromWords and Squares for n > 0 elements, a multiple of wordsBlock.
type wordKernels struct {
	to      func(n int, x *float64, scale float64, dither *float64, dst *int16)
	from    func(n int, high, low *int32, step *float64, scale float64, dst *float64)
	squares func(n int, x, dst *float64) (largest float64)
}

const (
	wordsBlock = 16   // of the elements of a vector
	wordsPiece = 4096 // the most elements of one call, so that a goroutine can be preempted soon
)

var genericWords = wordKernels{
	to: func(n int, x *float64, scale float64, dither *float64, dst *int16) {
		toWords(unsafe.Slice(x, n), scale, unsafe.Slice(dither, n), unsafe.Slice(dst, n))
	},
	from: func(n int, high, low *int32, step *float64, scale float64, dst *float64) {
		fromWords(unsafe.Slice(high, n), unsafe.Slice(low, n), unsafe.Slice(step, n), scale, unsafe.Slice(dst, n))
	},
	squares: func(n int, x, dst *float64) float64 { return squares(unsafe.Slice(x, n), unsafe.Slice(dst, n)) },
}

func toWords(x []float64, scale float64, dither []float64, dst []int16) {
	dither, dst = dither[:len(x)], dst[:len(x)]
	for i, v := range x {
		dst[i] = int16(int32(float64(v*scale)+dither[i]) - 1<<15)
	}
}

func fromWords(high, low []int32, step []float64, scale float64, dst []float64) {
	high, low, step = high[:len(dst)], low[:len(dst)], step[:len(dst)]
	for i := range dst {
		dst[i] = float64(int64(high[i])<<8+int64(low[i])) * float64(step[i]*scale)
	}
}

func squares(x, dst []float64) (largest float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		if size := math.Abs(v); size > largest {
			largest = size
		}
		dst[i] = v * v
	}
	return largest
}
