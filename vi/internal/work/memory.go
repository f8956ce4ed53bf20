package work

// Memory notes the contents of slices, to go back to. The slices are named once and
// must stay where they are.
type Memory struct {
	of, kept [][]float64
}

// Of adds slices to those whose contents are noted.
func (m *Memory) Of(x ...[]float64) { m.of = append(m.of, x...) }

// Keep notes the present contents.
func (m *Memory) Keep() {
	for i, x := range m.of {
		if i == len(m.kept) {
			m.kept = append(m.kept, make([]float64, len(x)))
		}
		copy(m.kept[i], x)
	}
}

// Restore puts back what was noted last.
func (m *Memory) Restore() {
	for i, x := range m.kept {
		copy(m.of[i], x)
	}
}
