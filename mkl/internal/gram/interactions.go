package gram

import "github.com/bmkl/bmkl/mkl/kernel"

// sharedInteractions is a group's part in kernels of products of features. Kernels of one width share what they compute, whatever their order.
type sharedInteractions struct {
	points *kernel.InteractionPoints // nil if the group has another kernel
	at     int                       // of their memory in PointScratch
	first  bool                      // the first group of those that share: it computes
	order  int
}

// statistic stores the kernels of z in stat. The groups that share must be asked in their order.
func (i *sharedInteractions) statistic(s *PointScratch, z, stat []float64) {
	memory := s.interactions[i.at]
	if i.first {
		i.points.Compute(memory, z)
	}
	copy(stat, i.points.Of(memory, i.order))
}

// shareInteractions prepares the groups whose kernels are products of features.
func (p *Points) shareInteractions() {
	for i := range p.groups {
		g := &p.groups[i]
		k, ok := p.interaction(g)
		if !ok || g.interactions.points != nil || g.basis.Rows == 0 {
			continue
		}
		most, sharing := k.Order, []int{i}
		for j := i + 1; j < len(p.groups); j++ {
			h := &p.groups[j]
			if l, ok := p.interaction(h); ok && l.Width == k.Width && h.input == g.input && h.sight.Equal(g.sight) && h.basis.Rows == g.basis.Rows {
				most, sharing = max(most, l.Order), append(sharing, j)
			}
		}
		points := kernel.NewInteractionPoints(k.Width, most, g.basis)
		for _, j := range sharing {
			own, _ := p.interaction(&p.groups[j])
			p.groups[j].interactions = sharedInteractions{points, len(p.interactions), j == i, own.Order}
		}
		p.interactions = append(p.interactions, points)
	}
}

// interaction returns the kernel of a group if it is of products of features. Such a group has one view.
func (p *Points) interaction(g *predictorGroup) (k kernel.Interaction, ok bool) {
	if k, ok = p.Views[g.slots[0]].Kernel.(kernel.Interaction); !ok {
		return k, false
	}
	return k.Resolve(0).(kernel.Interaction), true
}
