package vi

import (
	"slices"
	"testing"

	"github.com/bmkl/bmkl/internal/testkit/golden"
)

// TestGolden skips by name the golden files of families that no package here knows;
// the others are run by the families' own tests.
func TestGolden(t *testing.T) {
	for name, path := range golden.Files(t) {
		if family := golden.Family(path); !slices.Contains(golden.Families, family) {
			t.Run(name, func(t *testing.T) { t.Skipf("family %s is not built yet", family) })
		}
	}
}
