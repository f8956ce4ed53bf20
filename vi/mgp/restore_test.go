package mgp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRestore(t *testing.T) {
	k, y, labels := mgpProblem(t, 14, 4, 3)
	for family := FamilyStudentT; family <= FamilyFlat; family++ {
		for _, classes := range []bool{false, true} {
			target := y
			if classes {
				target = labels
			}
			m, err := Model{Family: family, Workers: 1}.model(k, target, classes)
			require.NoError(t, err)
			state := func() State {
				p, err := m.posterior()
				require.NoError(t, err)
				return p.State()
			}
			for range 5 {
				require.NoError(t, m.Sweep(nil))
			}
			m.Keep()
			want, bound := state(), m.Bound()
			require.NoError(t, m.Sweep(nil))
			assert.NotEqual(t, want, state())
			m.Restore()
			assert.Equal(t, want, state())
			assert.Equal(t, bound, m.Bound())
			require.NoError(t, m.Sweep(nil))
			assert.GreaterOrEqual(t, m.Bound(), bound-1e-9)
		}
	}
}
