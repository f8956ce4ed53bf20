package special

import "math"

// sharp is integrate without moments where some a_j are large: h then has edges
// about as wide as narrow on a hump that is far wider. Panels on either side of the
// mode, the first of that width and each twice as wide as the one before, see what is
// close to it; further away an edge takes h from near its maximum to far below, and
// halving the panel finds it. It also returns how many panels it looked at.
func (c *Cone) sharp(mode, narrow float64) (logZ float64, looked int) {
	u, width := c.climb(mode, narrow)
	top := c.at(u)
	if top-top != 0 || math.IsNaN(width) {
		if math.IsInf(top, -1) {
			return top, 0
		}
		return math.NaN(), 0
	}
	// The result is top + log(total). A total that is nearer than the rounding of top changes nothing, and below that
	// the halvings would follow the rounding of h.
	rounding := 0x1p-50 * math.Abs(top)
	p := panels{cone: c, u: u, top: top, budget: mostPanels, within: max(1e-14, rounding) * width}
	var total float64
	for _, side := range [...]float64{-1, 1} {
		near := 0.0
		for far := width; near < coneReach; near, far = far, 2*far {
			total += p.integral(min(side*near, side*far), max(side*near, side*far), mostHalvings)
			if !(c.at(u+float64(side*far))-top > coneTail) {
				break
			}
			p.within = max(p.within, max(1e-15, float64(0.1*rounding))*total)
		}
	}
	return top + Log(total) - logSqrt2Pi, mostPanels - p.budget
}

// climb improves the mode u, which Newton's iteration found to about nine digits, to
// the given distance or to rounding, which it returns: the search goes to whichever
// side is higher, by twice the distance after each success and by half of it after
// each failure.
func (c *Cone) climb(u, narrow float64) (mode, width float64) {
	width = max(narrow, 0x1p-51*max(1, math.Abs(u)))
	h := c.at(u)
	step := max(width, 1e-9*(1+math.Abs(u)))
	for range 400 {
		if up := c.at(u + step); up > h {
			u, h, step = u+step, up, 2*step
		} else if down := c.at(u - step); down > h {
			u, h, step = u-step, down, 2*step
		} else if step /= 2; !(step >= width) {
			break
		}
	}
	return u, width
}

const (
	mostPanels   = 4000 // rounding of h may be all that is left to halve for
	mostHalvings = 60
)

// panels integrates e^{h(u+t) − top} over t by the rules of Gauss with 7 points and of
// Kronrod with 15, halving panels on which the two differ.
type panels struct {
	cone   *Cone
	u, top float64
	budget int     // panels that may still be looked at
	within float64 // the difference that a panel may have
}

// integral returns the integral from lo to hi.
func (p *panels) integral(lo, hi float64, halvings int) float64 {
	p.budget--
	mid, half := float64(0.5*(lo+hi)), 0.5*(hi-lo)
	var gauss, kronrod float64
	for i, x := range kronrodNodes {
		f := p.at(mid + float64(half*x))
		if x > 0 {
			f += p.at(mid - float64(half*x))
		}
		kronrod += float64(kronrodWeights[i] * f)
		if i%2 == 1 {
			gauss += float64(gaussWeights[i/2] * f)
		}
	}
	if !(half*math.Abs(kronrod-gauss) > p.within) || p.budget <= 0 || halvings == 0 {
		return half * kronrod
	}
	return p.integral(lo, mid, halvings-1) + p.integral(mid, hi, halvings-1)
}

func (p *panels) at(t float64) float64 {
	return Exp(min(p.cone.at(p.u+t)-p.top, coneRound))
}

// The nodes x ≥ 0 of Kronrod's rule on (−1, 1) and the weights of both rules; every
// second node is one of Gauss's. Source: R. Piessens et al., "QUADPACK" (1983), QK15.
var (
	kronrodNodes = [...]float64{
		0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
		0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
		0.586087235467691130294144838258730, 0.405845151377397166906606412076961,
		0.207784955007898467600689403773245, 0,
	}
	kronrodWeights = [...]float64{
		0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
		0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
		0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
		0.204432940075298892414161999234649, 0.209482141084727828012999174891714,
	}
	gaussWeights = [...]float64{
		0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
		0.381830050505118944950369775488975, 0.417959183673469387755102040816327,
	}
)
