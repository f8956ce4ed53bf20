package validation

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl/choose"
)

// TestProgress: where there is no terminal, lines name the candidate and the fold that ended, at most one in two seconds. The time that is
// left follows from the mean time of each candidate.
func TestProgress(t *testing.T) {
	var said strings.Builder
	e := &console.Env{Stderr: &said}
	p := newProgress(e, false, []choose.Candidate{{Name: "mean"}, {Name: "mgp"}}, 5, 1)
	now := p.said
	p.now = func() time.Time { return now }
	done := 0
	end := func(name string, fold int, took time.Duration) {
		p.step(choose.Step{Candidate: name, Fold: fold, Done: done, Of: 10})
		now = now.Add(took)
		done++
		p.step(choose.Step{Candidate: name, Fold: fold, Ended: true, Took: took, Done: done, Of: 10})
	}
	end("mean", 0, 0)
	end("mgp", 0, 3*time.Second)
	end("mean", 1, time.Second)
	end("mgp", 1, 5*time.Second)
	for k := 2; k < 5; k++ {
		end("mean", k, 0)
		end("mgp", k, 4*time.Second)
	}
	assert.Equal(t, `cv: mgp, fold 1 of 5: 3s; 2 of 10 fits done, about 12s left
cv: mgp, fold 2 of 5: 5s; 4 of 10 fits done, about 14s left
cv: mgp, fold 3 of 5: 4s; 6 of 10 fits done, about 9s left
cv: mgp, fold 4 of 5: 4s; 8 of 10 fits done, about 4s left
cv: mgp, fold 5 of 5: 4s; 10 of 10 fits done
`, said.String())
	said.Reset()
	p = newProgress(e, true, []choose.Candidate{{Name: "mean"}}, 5, 1)
	now = p.said.Add(time.Hour)
	p.now = func() time.Time { return now }
	p.step(choose.Step{Candidate: "mean", Ended: true, Done: 1, Of: 5})
	assert.Empty(t, said.String(), "quiet")
}
