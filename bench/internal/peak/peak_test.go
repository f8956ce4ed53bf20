package peak

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRatesArePositive(t *testing.T) {
	if testing.Short() {
		t.Skip("a rate takes as long as it takes")
	}
	assert.Positive(t, FMA64())
	assert.Positive(t, FMA32())
	assert.Positive(t, ReadBandwidth(1<<20))
	assert.Positive(t, FMAs64())
	assert.Positive(t, FMAs32())
	assert.Equal(t, 1<<20, NewBuffer(1<<20+1).Read())
}

func BenchmarkPeak(b *testing.B) {
	b.Run("fma=64", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(FMA64(), "GFLOP/s")
		}
	})
	b.Run("fma=32", func(b *testing.B) {
		for b.Loop() {
			b.ReportMetric(FMA32(), "GFLOP/s")
		}
	})
	for _, kib := range []int{16, 512, 16 << 10, 128 << 10} {
		b.Run(fmt.Sprintf("read=%dKiB", kib), func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(ReadBandwidth(kib<<10), "GB/s")
			}
		})
	}
}
