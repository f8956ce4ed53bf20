package nats

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/kernel"
	"github.com/bmkl/bmkl/stat"
	"github.com/bmkl/bmkl/stat/stattest"
)

// hangs names the server for a process that is this test's program, and is to be killed at work.
const hangs = "NATS_WORKER_THAT_HANGS"

func TestMain(m *testing.M) {
	if url := os.Getenv(hangs); url != "" {
		nc, err := client.Connect(url)
		if err == nil {
			var js jetstream.JetStream
			if js, err = jetstream.New(nc); err == nil {
				err = Job{JetStream: js, Name: "killed"}.Work(context.Background(), func(_ context.Context, r Range) (*stat.Statistic, error) {
					fmt.Println("begun", r.First)
					select {}
				})
			}
		}
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serve starts a server in this process.
func serve(t *testing.T) (js jetstream.JetStream, url string) {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	})
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(20*time.Second))
	nc, err := client.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(func() {
		nc.Close()
		s.Shutdown()
		s.WaitForShutdown()
	})
	js, err = jetstream.New(nc)
	require.NoError(t, err)
	return js, s.ClientURL()
}

// ranges are ranges of some blocks, two each.
func ranges(blocks int64) (all []Range) {
	for first := int64(0); first < blocks; first += 2 {
		all = append(all, Range{Source: "drawn", First: first * stat.BlockSamples, Count: 2 * stat.BlockSamples})
	}
	return all
}

func sum(_ context.Context, r Range) (*stat.Statistic, error) {
	return stattest.Sum(r.First/stat.BlockSamples, r.Count/stat.BlockSamples)
}

// A worker is killed at work, another was gone between storing and saying so, a third fails: nothing
// is lost, nothing counts twice, and the hash equals the hash of goroutines.
func TestKilledWorkers(t *testing.T) {
	js, url := serve(t)
	ctx := t.Context()
	job := Job{JetStream: js, Name: "killed", Silence: 300 * time.Millisecond}
	all := ranges(10)
	require.NoError(t, job.Begin(ctx, all))

	// The process has no say in its end.
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), hangs+"="+url)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(line, "begun"), line)
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()

	// Stored and not acknowledged: it is not summed again.
	store, err := js.ObjectStore(ctx, job.Name)
	require.NoError(t, err)
	stored := all[3]
	require.NoError(t, job.put(ctx, store, stored, sum))

	failure := errors.New("the disk is gone")
	err = job.Work(ctx, func(context.Context, Range) (*stat.Statistic, error) { return nil, failure })
	require.ErrorIs(t, err, failure)

	var wg sync.WaitGroup
	var summed, again atomic.Int64
	for range 3 {
		wg.Go(func() {
			assert.NoError(t, job.Work(ctx, func(ctx context.Context, r Range) (*stat.Statistic, error) {
				if summed.Add(1); r == stored {
					again.Add(1)
				}
				return sum(ctx, r)
			}))
		})
	}
	total, err := job.Collect(ctx) // while they work
	require.NoError(t, err)
	wg.Wait()
	assert.GreaterOrEqual(t, summed.Load(), int64(len(all)-1))
	assert.Zero(t, again.Load(), "a range was summed that was stored")
	want, err := stattest.Goroutines(10)
	require.NoError(t, err)
	assert.Equal(t, want.Hash(), total.Hash())

	// Begun again, nothing is left to do.
	require.NoError(t, job.Begin(ctx, all))
	require.NoError(t, job.Work(ctx, func(context.Context, Range) (*stat.Statistic, error) { return nil, failure }))
	total, err = job.Collect(ctx)
	require.NoError(t, err)
	assert.Equal(t, want.Hash(), total.Hash())

	assert.ErrorContains(t, job.Begin(ctx, all[1:]), "job killed was begun with other ranges")
	require.NoError(t, job.Remove(ctx))
	_, err = job.Collect(ctx)
	assert.Error(t, err)
}

// The end of the context ends a worker and whoever collects.
func TestStopped(t *testing.T) {
	js, _ := serve(t)
	job := Job{JetStream: js, Name: "stopped"}
	require.NoError(t, job.Begin(t.Context(), ranges(4)))
	ctx, stop := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	err := job.Work(ctx, func(ctx context.Context, r Range) (*stat.Statistic, error) {
		stop(reason)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	assert.ErrorIs(t, err, reason)
	_, err = job.Collect(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestRangesAreRefused(t *testing.T) {
	for _, c := range []struct {
		ranges []Range
		want   string
	}{
		{[]Range{{"a", 100, 5000}}, "ranges[0]: samples 100 to 5100 of a: a range begins after a multiple of 8192 samples"},
		{[]Range{{"a", 0, 0}}, "ranges[0]: samples 0 to 0 of a: "},
		{[]Range{{"a", 0, 10}, {"b", 0, 10}, {"a", 0, 10}}, "ranges[2]: samples 0 to 10 of a are there twice"},
	} {
		assert.ErrorContains(t, Job{}.Begin(t.Context(), c.ranges), c.want)
	}
}

// The file of a job's sums has a part for each range, and serves whoever reads files of sums.
func TestSumsOfAJob(t *testing.T) {
	js, _ := serve(t)
	ctx := t.Context()
	x := la.MatrixOf(5, 1, []float64{1, 2, 3, 4, 5})
	plan, err := mkl.LandmarkGP{Landmarks: &mkl.Landmarks{Count: 3}}.Begin(ctx, []mkl.View{{X: x, Kernel: kernel.RBF{Width: 1}}}, []float64{1, 3, 2, 5, 4})
	require.NoError(t, err)
	sum := func(_ context.Context, r Range) (*stat.Statistic, error) {
		b, err := plan.Builder(1)
		if err != nil {
			return nil, err
		}
		if err := b.Add([]float64{float64(r.First%7) / 7, 1}, la.MatrixOf(2, 1, []float64{2, 3})); err != nil {
			return nil, err
		}
		return b.Finish()
	}
	job := Job{JetStream: js, Name: "file"}
	require.NoError(t, job.Begin(ctx, ranges(6)))
	require.NoError(t, job.Work(ctx, sum))
	total, err := job.Collect(ctx)
	require.NoError(t, err)
	sums, err := job.Sums(ctx, plan)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, sums.Save(&file))
	back, err := mkl.ReadSums(&file)
	require.NoError(t, err)
	assert.Equal(t, total.Hash(), back.Total.Hash())
	require.Len(t, back.Parts, 3)
	assert.Equal(t, mkl.SumsPart{Name: "drawn, samples 0 to 16384", Samples: 2}, back.Parts[0])

	other, err := mkl.LandmarkGP{Landmarks: &mkl.Landmarks{Count: 2}}.Begin(ctx, []mkl.View{{X: x, Kernel: kernel.RBF{Width: 1}}}, []float64{1, 3, 2, 5, 4})
	require.NoError(t, err)
	_, err = job.Sums(ctx, other)
	assert.ErrorContains(t, err, "the samples were summed by another plan")
}
