package nearest

import "github.com/bmkl/bmkl/la"

// Single finds the rows of an index nearest to one row at a time. It is safe for concurrent use.
type Single struct {
	l             *level
	centres, rows la.Panels[float32]
}

// SingleScratch is memory for one search.
type SingleScratch struct {
	d            []float32
	visits, near few
}

// Single prepares searches among all rows. It holds a copy of them.
func (ix *Index) Single() *Single {
	l := &ix.levels[len(ix.levels)-1]
	return &Single{l, la.PackPanels(l.centres), la.PackPanels(l.x)}
}

// NewScratch returns memory for a search.
func (s *Single) NewScratch() *SingleScratch {
	most := s.centres.Padded()
	for c := range s.l.centres.Rows {
		lo, hi := s.panels(c)
		most = max(most, (hi-lo)*la.PanelRows)
	}
	return &SingleScratch{d: make([]float32, most)}
}

// panels returns the panels that the rows of cell c are in.
func (s *Single) panels(c int) (lo, hi int) {
	return int(s.l.start[c]) / la.PanelRows, (int(s.l.start[c+1]) + la.PanelRows - 1) / la.PanelRows
}

// Nearest stores the rows nearest to x in near, from the nearest to the furthest: those that [Index.Search] finds. Where
// there are fewer, −1 stands in the remaining places.
func (s *Single) Nearest(w *SingleScratch, x []float32, near []int32) {
	w.near.reset(len(near))
	if s.l.centres.Rows == 1 {
		s.look(w, 0, x)
	} else {
		s.centres.SqDistVec(x, w.d[:s.centres.Padded()])
		for _, k := range w.visits.all(w.d[:s.l.centres.Rows], s.l.visits) {
			s.look(w, int(rowOf(k)), x)
		}
	}
	keys := w.near.sorted()
	for j := range near {
		near[j] = -1
		if j < len(keys) {
			near[j] = rowOf(keys[j])
		}
	}
}

// look offers the rows of cell c.
func (s *Single) look(w *SingleScratch, c int, x []float32) {
	lo, hi := s.panels(c)
	p := la.Panels[float32]{Rows: (hi - lo) * la.PanelRows, Cols: s.rows.Cols, Data: s.rows.Data[lo*la.PanelRows*s.rows.Cols : hi*la.PanelRows*s.rows.Cols]}
	d := w.d[:p.Rows]
	p.SqDistVec(x, d)
	first := int(s.l.start[c])
	rows := s.l.row[first:s.l.start[c+1]]
	for j, u := range d[first-lo*la.PanelRows:][:len(rows)] {
		if u <= w.near.most {
			w.near.offer(u, rows[j])
		}
	}
}
