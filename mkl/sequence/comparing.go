package sequence

import "context"

// comparison is a kernel that goes through two strings letter by letter, with the
// scratch of one goroutine.
type comparison interface {
	// begin sets the string with which with compares others.
	begin(x []uint16)
	with(y []uint16) float64
}

// compare computes the kernel, string by string.
func (t *task) compare(ctx context.Context, newComparison func() comparison) error {
	err := each(ctx, t.workers, len(t.x), func() func(int) {
		c := newComparison()
		return func(i int) {
			// The longest rows of a triangle come first, so that no worker gets one at the end.
			if t.same {
				i = len(t.x) - 1 - i
			}
			c.begin(t.x[i])
			row := t.k.Row(i)
			if t.same {
				row = row[:i+1]
			} else {
				t.xSelf[i] = c.with(t.x[i])
			}
			for j := range row {
				row[j] = c.with(t.basis[j])
			}
			if t.progress != nil {
				t.progress()
			}
		}
	})
	if err != nil {
		return err
	}
	if t.same {
		for i := range t.basisSelf {
			t.basisSelf[i] = t.k.At(i, i)
		}
		return nil
	}
	if t.known {
		return nil
	}
	return each(ctx, t.workers, len(t.basis), func() func(int) {
		c := newComparison()
		return func(j int) {
			c.begin(t.basis[j])
			t.basisSelf[j] = c.with(t.basis[j])
		}
	})
}
