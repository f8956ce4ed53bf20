package choose

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Candidate is a way to learn that is compared with others.
type Candidate struct {
	Name string // no two candidates may have the same name

	// Baseline says that the candidate only serves for comparison: [Ranking.Recommendation]
	// says whether the other candidates are better.
	Baseline bool

	// Learn learns from the training samples of a fold and predicts its test samples, in their
	// order. It is called for several folds at once. Its result must depend on the fold
	// alone.
	Learn func(ctx context.Context, fold Fold) (*Prediction, error)
}

// Validation is a cross-validation: every candidate learns from the training samples of
// every fold, and its predictions of the test samples are scored.
type Validation struct {
	Truth      Truth       // of all samples
	Folds      []Fold      // see [Split]
	Candidates []Candidate // all see the same folds

	// Workers is the largest number of folds at work at a time; 0 means runtime.GOMAXPROCS(0). Results do not
	// depend on it.
	Workers int

	// File, if not empty, stores the scores of each fold when it is done. A later
	// validation with the same truth, folds and Key reads them and does only the rest.
	// It recognises candidates by their names, and candidates can be added.
	File string

	// Key stands for everything else that the scores in the file depend on, such as features and
	// settings: a file with another key is refused.
	Key string

	// Progress, if not nil, is called when a fold of a candidate begins and when it has ended, one call at a time. What File
	// holds already counts as done, without a call.
	Progress func(Step)
}

// Step says how far a validation is.
type Step struct {
	Candidate string        // the candidate's name
	Fold      int           // the fold's place in Folds
	Ended     bool          // false: the fold begins
	Took      time.Duration // of a fold that has ended
	Err       error         // why a fold failed that has ended
	Done, Of  int           // folds of candidates that have ended, and all
}

// Run runs the validation. The result records a fold that fails, and the other folds continue. An error
// means that the arguments are wrong, that ctx has ended, or that File
// cannot be read or written; scores computed by then are in the file.
func (v Validation) Run(ctx context.Context) (*Result, error) {
	if ctx == nil {
		return nil, errors.New("choose: ctx is nil")
	}
	if err := v.check(); err != nil {
		return nil, err
	}
	var err error
	if v.Truth, err = v.Truth.weighted(); err != nil {
		return nil, err
	}
	file, err := v.open()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &running{v: &v, result: v.result(), file: file, variance: v.Truth.variances(), stop: stop}
	queue := make(chan task)
	var wait sync.WaitGroup
	tasks := w.tasks()
	for range min(v.workers(), len(tasks)) {
		wait.Go(func() {
			for t := range queue {
				w.run(ctx, t)
			}
		})
	}
	for _, t := range tasks {
		if ctx.Err() != nil {
			break
		}
		queue <- t
	}
	close(queue)
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return w.result, nil
}

// task is a candidate's work on a fold.
type task struct{ candidate, fold int }

// running is a validation at work.
type running struct {
	v        *Validation
	file     *state
	variance []float64               // of the targets
	stop     context.CancelCauseFunc // ends the validation if the file cannot be written

	mu     sync.Mutex // for the following, the file and the calls of Progress
	result *Result
	done   int // tasks
}

// tasks puts the losses of the file in the result and returns what is left to do, fold by fold, so that candidates can be
// compared before all is done.
func (w *running) tasks() []task {
	var left []task
	for k := range w.v.Folds {
		for c := range w.v.Candidates {
			if losses, ok := w.file.find(w.result.Names[c], k, len(w.v.Truth.Targets)); ok {
				w.result.set(c, k, losses)
				w.done++
				continue
			}
			left = append(left, task{c, k})
		}
	}
	return left
}

// run does a task and stores what came of it.
func (w *running) run(ctx context.Context, t task) {
	step := Step{Candidate: w.result.Names[t.candidate], Fold: t.fold}
	w.mu.Lock()
	w.report(step)
	w.mu.Unlock()
	start := time.Now()
	losses, err := w.v.fold(ctx, t.candidate, t.fold, w.variance)
	step.Ended, step.Took, step.Err = true, time.Since(start), err

	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	w.result.set(t.candidate, t.fold, losses)
	w.result.fail(t.candidate, t.fold, err)
	w.done++
	if err == nil {
		if err := w.file.add(step.Candidate, t.fold, losses); err != nil {
			w.stop(err)
			return
		}
	}
	w.report(step)
}

// report calls Progress.
func (w *running) report(s Step) {
	if w.v.Progress != nil {
		s.Done, s.Of = w.done, len(w.v.Candidates)*len(w.v.Folds)
		w.v.Progress(s)
	}
}

func (v *Validation) workers() int {
	if v.Workers > 0 {
		return v.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// result returns a result without scores.
func (v *Validation) result() *Result {
	scores := Scores(v.Truth.Kind())
	empty := func(scores []Score) *Result {
		r := newResult(scores, len(v.Candidates), len(v.Folds))
		for k, f := range v.Folds {
			r.ratio += float64(len(f.Test)) / float64(len(f.Train)) / float64(len(v.Folds))
			r.parts[k] = f
		}
		for c, candidate := range v.Candidates {
			r.Names[c], r.baseline[c] = candidate.Name, candidate.Baseline
		}
		r.At = v.Truth.At
		return r
	}
	if v.Truth.Targets == nil {
		return empty(scores)
	}
	var inAll []Score
	for _, s := range scores {
		inAll = append(inAll, s.InAll())
	}
	r := empty(inAll)
	for range v.Truth.Targets {
		r.Targets = append(r.Targets, empty(scores))
	}
	return r
}

// set stores the losses of a candidate on a fold: first of all targets together, then of each of several targets.
func (r *Result) set(candidate, fold int, losses []map[Score]float64) {
	if losses == nil {
		return
	}
	r.losses[candidate][fold] = losses[0]
	for o, own := range r.Targets {
		own.losses[candidate][fold] = losses[1+o]
	}
}

// fail stores the reason why a candidate failed on a fold.
func (r *Result) fail(candidate, fold int, err error) {
	r.Errors[candidate][fold] = err
	for _, own := range r.Targets {
		own.Errors[candidate][fold] = err
	}
}

// fold computes the losses of a candidate on a fold: first of all targets together, then of each of several targets.
func (v *Validation) fold(ctx context.Context, candidate, fold int, variance []float64) ([]map[Score]float64, error) {
	f := v.Folds[fold]
	p, err := v.Candidates[candidate].Learn(ctx, f)
	if err != nil {
		return nil, err
	}
	var all map[Score]float64
	var each []map[Score]float64
	if truth := v.Truth.Of(f.Test); truth.Targets == nil {
		all, err = p.losses(truth)
	} else {
		all, each, err = p.ofTargets(truth, variance)
	}
	if err != nil {
		return nil, err
	}
	return append([]map[Score]float64{all}, each...), nil
}

func (v *Validation) check() error {
	if err := v.Truth.check(); err != nil {
		return err
	}
	n := v.Truth.samples()
	if len(v.Folds) == 0 || len(v.Candidates) == 0 {
		return errors.New("choose: Folds and Candidates are needed")
	}
	for k, f := range v.Folds {
		if err := f.check(fmt.Sprintf("Folds[%d]", k), n); err != nil {
			return err
		}
	}
	names := map[string]bool{}
	for c, candidate := range v.Candidates {
		if names[candidate.Name] {
			return fmt.Errorf("choose: two candidates are called %q", candidate.Name)
		}
		if names[candidate.Name] = true; candidate.Learn == nil {
			return fmt.Errorf("choose: Candidates[%d].Learn is nil", c)
		}
	}
	if v.Workers < 0 {
		return fmt.Errorf("choose: Workers is %d", v.Workers)
	}
	return nil
}
