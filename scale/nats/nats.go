// Package nats shares a pass over samples among workers by NATS JetStream: a queue holds what is to
// be summed, workers on any number of machines take from it, and an object store keeps their sums.
//
//	job := nats.Job{JetStream: js, Name: "houses"}
//	err := job.Begin(ctx, ranges)             // once: ranges of blocks, say a file's
//	err = job.Work(ctx, sum)                  // on every machine, as often as it has processors
//	total, err := job.Collect(ctx)            // anywhere, meanwhile or later
//	model, err := plan.Fit(ctx, mkl.PlanFitting{}, total)
//
// [Job.Sums] collects for a file that mkl fit reads.
//
// The queue gives a range to one worker, and to another one if that worker shows no sign of life for
// a while. The sums of a range are stored under its name before the queue forgets it. So a worker
// that is killed, at whatever moment, loses nothing but its time; a range that is summed twice is stored
// with the same bytes under the same name, and counts once. As the sums of blocks are added exactly
// (see package stat), the total has the same hash as the total of one goroutine on one machine.
package nats

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// Range is some consecutive samples of a data set. It is for the function that sums it to know what
// they are; but for the last of a data set, it is to have a multiple of [stat.BlockSamples] samples, and
// so many that computing their sums takes much longer than storing them (8 M² bytes for M entries).
type Range struct {
	Source string `json:"source"` // such as a file that all workers can read
	First  int64  `json:"first"`  // the first sample
	Count  int64  `json:"count"`  // samples; what is behind the end of the data set does not count
}

// name returns the name under which the sums of a range are stored.
func (r Range) name() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", r.First, r.Count, r.Source))
	return fmt.Sprintf("sums-%x", h[:16])
}

// Job is a pass over samples. Its queue and its store have its name on the servers of
// JetStream: all workers give the same one.
type Job struct {
	JetStream jetstream.JetStream
	Name      string // of letters, digits, - and _

	// Silence is how long a worker may show no sign of life before its range is given to another; 0
	// means 30 s. Workers give signs by themselves while they sum.
	Silence time.Duration

	// Replicas is on how many servers queue and store are kept; 0 means one.
	Replicas int
}

// manifest is the object of the store that lists all ranges.
const manifest = "ranges.json"

func (j Job) silence() time.Duration {
	if j.Silence > 0 {
		return j.Silence
	}
	return 30 * time.Second
}

func (j Job) subject() string { return j.Name + ".ranges" }

func (j Job) fail(doing string, err error) error {
	return fmt.Errorf("nats: job %s: %s: %w", j.Name, doing, err)
}

// Begin makes queue and store, and puts the ranges in the queue. It can be called again, with the same
// ranges: the workers pass over those whose sums are stored. Other ranges are an error.
func (j Job) Begin(ctx context.Context, ranges []Range) error {
	seen := map[Range]bool{}
	for i, r := range ranges {
		if r.First < 0 || r.Count <= 0 || r.First%stat.BlockSamples != 0 {
			return fmt.Errorf("nats: ranges[%d]: samples %d to %d of %s: a range begins after a multiple of %d samples",
				i, r.First, r.First+r.Count, r.Source, stat.BlockSamples)
		}
		if seen[r] {
			return fmt.Errorf("nats: ranges[%d]: samples %d to %d of %s are there twice", i, r.First, r.First+r.Count, r.Source)
		}
		seen[r] = true
	}
	store, err := j.JetStream.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: j.Name, Replicas: j.Replicas})
	if err != nil {
		return j.fail("store", err)
	}
	switch old, err := j.ranges(ctx, store); {
	case errors.Is(err, jetstream.ErrObjectNotFound):
		text, err := json.Marshal(ranges)
		if err == nil {
			_, err = store.PutBytes(ctx, manifest, text)
		}
		if err != nil {
			return j.fail("list of ranges", err)
		}
	case err != nil:
		return err
	case !slices.Equal(old, ranges):
		return fmt.Errorf("nats: job %s was begun with other ranges: remove it, or choose another name", j.Name)
	}
	if _, err := j.JetStream.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: j.Name, Subjects: []string{j.subject()}, Retention: jetstream.WorkQueuePolicy, Replicas: j.Replicas,
	}); err != nil {
		return j.fail("queue", err)
	}
	for _, r := range ranges {
		text, err := json.Marshal(r)
		if err == nil {
			_, err = j.JetStream.Publish(ctx, j.subject(), text, jetstream.WithMsgID(r.name()))
		}
		if err != nil {
			return j.fail("queue", err)
		}
	}
	return nil
}

// ranges returns all ranges of the job.
func (j Job) ranges(ctx context.Context, store jetstream.ObjectStore) (all []Range, err error) {
	text, err := store.GetBytes(ctx, manifest)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, j.fail("list of ranges", err)
	}
	return all, nil
}

// Work takes ranges from the queue, one at a time, and stores what sum returns for them, until none is
// left: neither in the queue nor with another worker, which could fail. Several workers can run in
// a process. An error of sum, or the end of the context, ends the worker, and gives its range to others
// at once.
func (j Job) Work(ctx context.Context, sum func(context.Context, Range) (*stat.Statistic, error)) error {
	store, err := j.JetStream.ObjectStore(ctx, j.Name)
	if err != nil {
		return j.fail("store", err)
	}
	queue, err := j.JetStream.CreateOrUpdateConsumer(ctx, j.Name, jetstream.ConsumerConfig{
		Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy, AckWait: j.silence(), MaxAckPending: -1,
	})
	if err != nil {
		return j.fail("queue", err)
	}
	for {
		wait, end := context.WithTimeout(ctx, min(j.silence(), time.Second))
		msg, err := queue.Next(jetstream.FetchContext(wait))
		nothing := wait.Err() != nil || errors.Is(err, client.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages)
		end()
		switch {
		case err == nil:
			err = j.work(ctx, store, msg, sum)
		case ctx.Err() != nil:
			err = j.fail("stopped", context.Cause(ctx))
		case nothing: // for the moment
			err = nil
		default:
			err = j.fail("queue", err)
		}
		if err != nil {
			return err
		}
		info, err := queue.Info(ctx)
		if err != nil {
			return j.fail("queue", err)
		}
		if info.NumPending == 0 && info.NumAckPending == 0 {
			return nil
		}
	}
}

// work sums the range of a message, unless its sums are stored.
func (j Job) work(ctx context.Context, store jetstream.ObjectStore, msg jetstream.Msg, sum func(context.Context, Range) (*stat.Statistic, error)) error {
	var r Range
	if err := json.Unmarshal(msg.Data(), &r); err != nil {
		return errors.Join(j.fail("range", err), msg.Term())
	}
	alive, end := context.WithCancel(ctx)
	defer end()
	go func() {
		beat := time.NewTicker(j.silence() / 3)
		defer beat.Stop()
		for {
			select {
			case <-alive.Done():
				return
			case <-beat.C:
				_ = msg.InProgress() // if it is lost, another worker has the range as well
			}
		}
	}()
	if err := j.put(ctx, store, r, sum); err != nil {
		return errors.Join(err, msg.Nak())
	}
	if err := msg.DoubleAck(ctx); err != nil {
		return j.fail("queue", err)
	}
	return nil
}

// put sums a range and stores its sums, unless they are stored.
func (j Job) put(ctx context.Context, store jetstream.ObjectStore, r Range, sum func(context.Context, Range) (*stat.Statistic, error)) error {
	doing := fmt.Sprintf("samples %d to %d of %s", r.First, r.First+r.Count, r.Source)
	if _, err := store.GetInfo(ctx, r.name()); err == nil {
		return nil // a worker stored them, and was gone before it could say so
	} else if !errors.Is(err, jetstream.ErrObjectNotFound) {
		return j.fail(doing, err)
	}
	s, err := sum(ctx, r)
	if err != nil {
		return j.fail(doing, err)
	}
	data, err := s.MarshalBinary()
	if err == nil {
		_, err = store.PutBytes(ctx, r.name(), data)
	}
	if err != nil {
		return j.fail(doing, err)
	}
	return nil
}

// Collect merges the sums of all ranges as they come, and returns when it has the last of them.
func (j Job) Collect(ctx context.Context) (*stat.Statistic, error) {
	total := &stat.Statistic{}
	err := j.collect(ctx, func(_ Range, s *stat.Statistic) error { return total.Merge(s) })
	if err != nil {
		return nil, err
	}
	return total, nil
}

// Sums is [Job.Collect] with a part for each range. Save writes the file of sums that mkl sum and mkl fit read. It returns an
// error if the ranges were summed by another plan.
func (j Job) Sums(ctx context.Context, plan mkl.SamplePlan) (*mkl.Sums, error) {
	total := &mkl.Sums{Plan: plan}
	err := j.collect(ctx, func(r Range, s *stat.Statistic) error { return total.Add(mkl.SumsPart{Name: r.part()}, s) })
	if err != nil {
		return nil, err
	}
	return total, nil
}

// part names a range in a file of sums.
func (r Range) part() string {
	return fmt.Sprintf("%s, samples %d to %d", r.Source, r.First, r.First+r.Count)
}

// collect passes the sums of all ranges to add, as they come.
func (j Job) collect(ctx context.Context, add func(Range, *stat.Statistic) error) error {
	store, err := j.JetStream.ObjectStore(ctx, j.Name)
	if err != nil {
		return j.fail("store", err)
	}
	ranges, err := j.ranges(ctx, store)
	if err != nil {
		return err
	}
	missing := map[string]Range{}
	for _, r := range ranges {
		missing[r.name()] = r
	}
	watch, err := store.Watch(ctx)
	if err != nil {
		return j.fail("store", err)
	}
	defer func() { _ = watch.Stop() }()
	for len(missing) > 0 {
		var info *jetstream.ObjectInfo
		open := true
		select {
		case <-ctx.Done():
			return j.fail(fmt.Sprintf("%d of %d ranges are missing", len(missing), len(ranges)), context.Cause(ctx))
		case info, open = <-watch.Updates():
		}
		if !open {
			return j.fail("store", errors.New("the connection was closed"))
		}
		if info == nil { // all that was there has been told
			continue
		}
		r, wanted := missing[info.Name]
		if !wanted || info.Deleted {
			continue
		}
		if err := j.get(ctx, store, r, add); err != nil {
			return err
		}
		delete(missing, info.Name)
	}
	return nil
}

// get passes the sums of a range to add.
func (j Job) get(ctx context.Context, store jetstream.ObjectStore, r Range, add func(Range, *stat.Statistic) error) error {
	var s stat.Statistic
	data, err := store.GetBytes(ctx, r.name())
	if err == nil {
		err = s.UnmarshalBinary(data)
	}
	if err == nil {
		err = add(r, &s)
	}
	if err != nil {
		return j.fail(fmt.Sprintf("samples %d to %d of %s", r.First, r.First+r.Count, r.Source), err)
	}
	return nil
}

// Remove removes queue and store.
func (j Job) Remove(ctx context.Context) error {
	err := errors.Join(j.JetStream.DeleteStream(ctx, j.Name), j.JetStream.DeleteObjectStore(ctx, j.Name))
	if err != nil {
		return j.fail("remove", err)
	}
	return nil
}
