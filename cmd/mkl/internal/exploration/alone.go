package exploration

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/internal/measure"
	cells "github.com/bmkl/bmkl/cmd/internal/table"
)

// Target describes the column to predict.
type Target struct {
	Column
	Task    string   `json:"task"`
	Rows    int      `json:"rows"` // that predictions are measured on
	Parts   int      `json:"parts"`
	Classes []Level  `json:"classes,omitempty"`
	Events  *Events  `json:"events,omitempty"`
	Order   *float64 `json:"order,omitempty"` // as Alone.Explains, of the place of a row in the file

	values []float64 // by row, NaN where nothing is; of classes their places
}

// Alone is how well a column alone predicts the target in rows that were left out.
type Alone struct {
	// Explains is a share. For numbers it is the share of the variance that predictions explain. For classes it is the share
	// that predictions save of the log loss of the frequencies. It is below 0 where the mean or the frequencies predict better.
	Explains float64 `json:"explains"`

	Accuracy *float64 `json:"accuracy,omitempty"`         // of classes: share of the rows whose most probable class is the true one
	Gaps     *float64 `json:"gaps_explain,omitempty"`     // as Explains, of knowing only where the cells are empty
	Rank     *float64 `json:"rank_correlation,omitempty"` // Spearman's, of numbers with numbers or two classes

	repeats string // how the column is the target itself; empty if it is not
}

const (
	parts      = 5
	mostLevels = 50     // numbers with more values are divided into bins of equal size
	mostBins   = 64     // bins at most
	eachBin    = 8      // rows of a bin at least
	giveAway   = 0.98   // share of the variance that gives a target of numbers away
	classAway  = 0.9    // share of the log loss that gives classes away
	equalUnits = 1e-6   // share of the variance that a straight line may leave of a column that is the target in other units
	sameOrder  = 0.9999 // rank correlation of a column in the order of the target
	leftRows   = 20     // fewer rows with a target are not divided
	orderTells = 0.2    // share explained by the place of a row that is reported
	gapsTell   = 0.1    // share explained by gaps that is reported
	mostClass  = 100    // classes that are kept apart; the rarer ones count as one
)

// strengths are the weights, in rows, of the mean of all rows in the mean of a bin. The rows left out choose one.
var strengths = []float64{1, 10}

// predictor measures what columns predict of a target.
type predictor struct {
	rows    []int     // of the table, with a target
	part    []int     // by row: the part in which it is left out
	y       []float64 // by row; of classes their places
	classes int       // 0 of numbers
	ranks   []float64 // of y
}

// newPredictor divides the rows with a target into parts. It returns nil if there are too few or all targets are the same.
func newPredictor(t *target, sample []int) *predictor {
	p := &predictor{}
	for _, i := range sample {
		if v := t.y[i]; v == v {
			p.rows, p.y = append(p.rows, i), append(p.y, v)
		}
	}
	if t.classes != nil {
		p.classes = pool(p.y)
	}
	if n := len(p.rows); n < leftRows || slices.Max(p.y) == slices.Min(p.y) || math.IsInf(slices.Max(p.y)-slices.Min(p.y), 0) {
		return nil
	}
	if p.classes == 0 { // shares do not depend on the unit, and squares do not overflow
		mean, sd := measure.MeanSD(p.y)
		if sd == 0 || math.IsInf(sd, 0) {
			return nil
		}
		for i := range p.y {
			p.y[i] = (p.y[i] - mean) / sd
		}
	}
	p.part = make([]int, len(p.rows))
	for k, i := range rand.New(rand.NewPCG(5, 6)).Perm(len(p.rows)) {
		p.part[i] = k % parts
	}
	p.ranks = ranks(p.y)
	return p
}

// pool numbers the classes anew, the rarest beyond mostClass alike, and returns their number.
func pool(y []float64) (classes int) {
	count := map[float64]int{}
	for _, c := range y {
		count[c]++
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b float64) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	kept := all[:min(len(all), mostClass)]
	slices.Sort(kept) // the second of two classes stays the second
	at := map[float64]float64{}
	for k, c := range kept {
		at[c] = float64(k)
	}
	for i, c := range y {
		to, ok := at[c]
		if !ok {
			to = mostClass
		}
		y[i] = to
	}
	return min(len(all), mostClass+1)
}

// alone measures a column with the values x, by row of the predictor. If text, the values are codes of levels.
func (p *predictor) alone(x []float64, text bool) *Alone {
	d := newDivision(x, text)
	losses := []loss{p.ofMean()}
	for _, k := range strengths {
		losses = append(losses, p.ofBins(d, k, false))
		if d.knots != nil {
			losses = append(losses, p.ofBins(d, k, true))
		}
	}
	out := &Alone{}
	if !text && p.classes == 0 {
		line, repeats := p.ofLine(x)
		losses = append(losses, line)
		out.repeats = repeats
	}
	out.Explains, out.Accuracy = p.choose(losses)
	if !text && p.classes <= 2 {
		out.Rank = p.rank(x)
	}
	if r := out.Rank; out.repeats == "" && r != nil && math.Abs(*r) >= sameOrder && d.levels > mostLevels {
		out.repeats = "its values are in the order of the target"
	}
	if d.missing >= 0 && d.count > 1 {
		gaps := make([]float64, len(x))
		for i, v := range x {
			if v != v {
				gaps[i] = 1
			}
		}
		g := newDivision(gaps, true)
		explains, _ := p.choose([]loss{losses[0], p.ofBins(g, strengths[0], false)})
		out.Gaps = &explains
	}
	return out
}

// loss is, by part, the loss of predictions from the other parts, and how often their most probable class was right.
type loss struct{ sum, right [parts]float64 }

// choose predicts each part in the way that is best in the other parts, and compares with the mean, which comes first.
func (p *predictor) choose(all []loss) (explains float64, accuracy *float64) {
	var of, mean, right float64
	for part := range parts {
		best, least := 0, math.Inf(1)
		for k, l := range all {
			sum := 0.0
			for other, v := range l.sum {
				if other != part {
					sum += v
				}
			}
			if sum < least {
				best, least = k, sum
			}
		}
		of, mean, right = of+all[best].sum[part], mean+all[0].sum[part], right+all[best].right[part]
	}
	if p.classes > 0 {
		share := right / float64(len(p.rows))
		accuracy = &share
	}
	return 1 - of/mean, accuracy
}

// division divides rows into bins.
type division struct {
	bin     []int // by row
	count   int
	levels  int       // different values
	missing int       // the bin of the rows without a value, −1 without such rows
	x       []float64 // by row
	knots   []float64 // by bin: its mean value; nil of text and of few levels
}

// newDivision divides rows by the values of a column: by its levels if it is text or has few, or else into bins of
// about equal size. Texts that occur once share a bin. The division does not depend on the target.
func newDivision(x []float64, text bool) *division {
	if text {
		x = joinRare(x)
	}
	d := &division{bin: make([]int, len(x)), missing: -1, x: x}
	order := make([]int, 0, len(x))
	for i, v := range x {
		if v == v {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	for k, i := range order {
		if k == 0 || x[i] != x[order[k-1]] {
			d.levels++
		}
	}
	n := len(order)
	size := 1 // rows of a bin
	if !text && d.levels > mostLevels {
		size = max(eachBin, n/min(mostBins, max(2, int(2*math.Cbrt(float64(n))))))
	}
	begin := 0
	for k, i := range order {
		if k > 0 && x[i] != x[order[k-1]] && k-begin >= size {
			d.count, begin = d.count+1, k
		}
		d.bin[i] = d.count
	}
	if n > 0 {
		d.count++
	}
	if size > 1 {
		d.knots = make([]float64, d.count)
		in := make([]float64, d.count)
		for _, i := range order {
			in[d.bin[i]]++
		}
		for _, i := range order {
			d.knots[d.bin[i]] += x[i] / in[d.bin[i]]
		}
	}
	if n < len(x) {
		d.missing = d.count
		for i, v := range x {
			if v != v {
				d.bin[i] = d.missing
			}
		}
		d.count++
	}
	return d
}

// joinRare gives one code, −1, to the levels that are there once.
func joinRare(x []float64) []float64 {
	count := map[float64]int{}
	for _, v := range x {
		count[v]++
	}
	joined := slices.Clone(x)
	for i, v := range x {
		if v == v && count[v] == 1 {
			joined[i] = -1
		}
	}
	return joined
}

// place finds the two bins between whose knots the value of a row lies. It returns the first bin, and the share of the second.
func (d *division) place(i int) (bin int, share float64) {
	b := d.bin[i]
	if b == d.missing || d.knots == nil {
		return b, 0
	}
	if d.x[i] < d.knots[b] {
		b--
	}
	last := d.count - 1
	if d.missing >= 0 {
		last--
	}
	switch {
	case b < 0:
		return 0, 0
	case b >= last:
		return last, 0
	}
	gap := d.knots[b+1] - d.knots[b]
	if math.IsInf(gap, 0) {
		return b, 0
	}
	return b, (d.x[i] - d.knots[b]) / gap
}

// width is how many numbers a prediction has.
func (p *predictor) width() int { return max(1, p.classes) }

// add adds the target of row i to sums of a bin.
func (p *predictor) add(to []float64, i int, by float64) {
	if p.classes > 0 {
		to[int(p.y[i])] += by
		return
	}
	to[0] += float64(by * p.y[i])
}

// ofMean predicts the mean, or the frequencies of the classes, of the other parts.
func (p *predictor) ofMean() loss {
	all := &division{bin: make([]int, len(p.rows)), count: 1, missing: -1}
	return p.ofBins(all, 1, false)
}

// ofBins predicts each part by the means of bins over the other parts. The mean of all rows counts in each bin as strength
// rows do. If between, predictions are interpolated linearly between the knots of bins.
func (p *predictor) ofBins(d *division, strength float64, between bool) (out loss) {
	w := p.width()
	sums, counts := make([][]float64, parts+1), make([][]float64, parts+1) // by part, and last of all
	for f := range sums {
		sums[f], counts[f] = make([]float64, d.count*w), make([]float64, d.count)
	}
	for i, b := range d.bin {
		for _, f := range []int{p.part[i], parts} {
			p.add(sums[f][b*w:(b+1)*w], i, 1)
			counts[f][b]++
		}
	}
	means := make([][]float64, parts)
	for f := range means {
		means[f] = p.means(sums, counts, f, strength)
	}
	guess := make([]float64, w)
	for i := range d.bin {
		f := p.part[i]
		b, share := d.bin[i], 0.0
		if between {
			b, share = d.place(i)
		}
		copy(guess, means[f][b*w:(b+1)*w])
		if share > 0 {
			for c := range guess {
				guess[c] += float64(share * (means[f][(b+1)*w+c] - guess[c]))
			}
		}
		p.lose(&out, i, guess)
	}
	return out
}

// means are the means of the bins over the other parts.
func (p *predictor) means(sums, counts [][]float64, part int, strength float64) []float64 {
	w, bins := p.width(), len(counts[0])
	all, n := make([]float64, w), 0.0
	out := make([]float64, bins*w)
	for b := range bins {
		n += counts[parts][b] - counts[part][b]
		for c := range all {
			out[b*w+c] = sums[parts][b*w+c] - sums[part][b*w+c]
			all[c] += out[b*w+c]
		}
	}
	for c := range all {
		if p.classes > 0 { // half a row for each class, so that none is impossible
			all[c] = (all[c] + 0.5) / (n + 0.5*float64(p.classes))
		} else {
			all[c] /= max(n, 1)
		}
	}
	for b := range bins {
		for c := range all {
			out[b*w+c] = (out[b*w+c] + float64(strength*all[c])) / (counts[parts][b] - counts[part][b] + strength)
		}
	}
	return out
}

// lose adds the loss of a prediction of row i: its squared error, or its log loss.
func (p *predictor) lose(to *loss, i int, guess []float64) {
	f := p.part[i]
	if p.classes == 0 {
		d := p.y[i] - guess[0]
		to.sum[f] += float64(d * d)
		return
	}
	c := int(p.y[i])
	to.sum[f] -= math.Log(guess[c])
	if slices.Max(guess) == guess[c] {
		to.right[f]++
	}
}

// ofLine predicts each part by the straight line of the other parts; what is missing counts as the mean. It also says
// whether the line of all rows is the target.
func (p *predictor) ofLine(x []float64) (out loss, repeats string) {
	present := slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	mean, sd := measure.MeanSD(present)
	var sums [parts + 1][5]float64 // of 1, x, y, x², xy
	z, guess := make([]float64, len(x)), make([]float64, 1)
	for i, v := range x {
		if v == v && sd > 0 && !math.IsInf(sd, 0) {
			z[i] = (v - mean) / sd
		}
		for _, f := range []int{p.part[i], parts} {
			for k, term := range []float64{1, z[i], p.y[i], z[i] * z[i], z[i] * p.y[i]} {
				sums[f][k] += term
			}
		}
	}
	line := func(part int) (a, b float64) {
		var s [5]float64
		for k := range s {
			if s[k] = sums[parts][k]; part < parts {
				s[k] -= sums[part][k]
			}
		}
		n := max(s[0], 1)
		if spread := s[3] - s[1]*s[1]/n; spread > 1e-9*n {
			b = (s[4] - s[1]*s[2]/n) / spread
		}
		return (s[2] - float64(b*s[1])) / n, b
	}
	for part := range parts {
		a, b := line(part)
		for i := range z {
			if p.part[i] == part {
				guess[0] = a + float64(b*z[i])
				p.lose(&out, i, guess)
			}
		}
	}
	a, b := line(parts)
	left, total, n, my := 0.0, 0.0, 0.0, 0.0
	for i, v := range x {
		if v == v {
			n++
			my += p.y[i]
		}
	}
	for i, v := range x {
		if v == v {
			r, dy := p.y[i]-a-float64(b*z[i]), p.y[i]-my/n
			left, total = left+float64(r*r), total+float64(dy*dy)
		}
	}
	if n >= leftRows && 2*n >= float64(len(x)) && left <= equalUnits*total && total > 0 {
		repeats = "it is the target in other units"
	}
	return out, repeats
}

// rank is the rank correlation with the target of the rows that have a value; nil of fewer rows or a constant.
func (p *predictor) rank(x []float64) *float64 {
	var some, y []float64
	for i, v := range x {
		if v == v {
			some, y = append(some, v), append(y, p.y[i])
		}
	}
	if len(some) < leftRows {
		return nil
	}
	r := p.ranks
	if len(some) < len(x) {
		r = ranks(y)
	}
	return correlation(ranks(some), r)
}

// correlation is Pearson's; nil where a variable is constant.
func correlation(a, b []float64) *float64 {
	ma, sa := measure.MeanSD(a)
	mb, sb := measure.MeanSD(b)
	if sa == 0 || sb == 0 {
		return nil
	}
	sum := 0.0
	for i := range a {
		sum += (a[i] - ma) / sa * ((b[i] - mb) / sb) / float64(len(a)-1)
	}
	sum = min(max(sum, -1), 1)
	return &sum
}

// ranks are the places of numbers in their order, the mean place where several are equal.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float64, len(x))
	for k := 0; k < len(order); {
		end := k
		for end < len(order) && x[order[end]] == x[order[k]] {
			end++
		}
		for _, i := range order[k:end] {
			out[i] = float64(k+end-1) / 2
		}
		k = end
	}
	return out
}

// predict measures what each column predicts alone, and finds what gives the target away.
func (r *Report) predict(e *console.Env, t *table, sample []int) error {
	y := t.target
	described, found := y.describe()
	for i := range found {
		found[i].Text = "the target: " + found[i].Text
	}
	r.Findings = append(r.Findings, found...)
	r.Target = &Target{Column: described, Task: y.task, Parts: parts, values: y.y}
	for _, line := range y.doubts() {
		r.add(OfTarget, y.name, "%s", line)
	}
	if r.Target.Events = y.events; y.events != nil {
		r.judgeTimes(y)
		return nil
	}
	if y.classes != nil {
		counts := make([]int, len(y.classes))
		for _, v := range y.y {
			if v == v {
				counts[int(v)]++
			}
		}
		for k, name := range y.classes {
			r.Target.Classes = append(r.Target.Classes, Level{name, counts[k]})
		}
	}
	p := newPredictor(y, sample)
	if p == nil {
		r.add(OfTarget, y.name, "the target is the same in all rows, or there are fewer than %d: nothing can be measured", leftRows)
		return nil
	}
	r.Target.Rows = len(p.rows)
	if 2*len(y.classes) > len(p.rows) {
		r.add(OfTarget, y.name, "%d classes in %d rows: the target seems to name the rows, and nothing is measured", len(y.classes), len(p.rows))
		return nil
	}
	x, place := make([]float64, len(p.rows)), make([]float64, len(p.rows))
	for k, i := range p.rows {
		place[k] = float64(i)
	}
	ordered := p.alone(place, false).Explains
	r.Target.Order = &ordered
	for c, of := range t.columns {
		if err := e.Ctx.Err(); err != nil {
			return err
		}
		if r.Columns[c].Levels == 0 {
			continue
		}
		for k, i := range p.rows {
			x[k] = of.values[i]
		}
		one := p.alone(x, of.typ == cells.Text)
		r.Columns[c].Alone = one
		r.judge(of, one, y)
	}
	if ordered >= orderTells {
		r.add(Order, "", "the place of a row in the file explains %s of the target: neighbours are alike, and rows left out at random flatter a model (mkl cv has -order and -group)", percent(ordered))
	}
	return nil
}

// judge finds whether a column gives the target away.
func (r *Report) judge(c *column, a *Alone, y *target) {
	away, of := giveAway, "of the target's variance"
	if y.classes != nil {
		away, of = classAway, "of the target's log loss"
	}
	switch {
	case a.repeats != "":
		r.add(Leak, c.name, "gives the target away: %s (-as '%s=none' leaves the column out)", a.repeats, c.name)
	case a.Explains >= away:
		r.add(Leak, c.name, "gives the target away, or is known after it: alone it explains %s %s (-as '%s=none' leaves the column out)",
			percent(a.Explains), of, c.name)
	case a.Gaps != nil && *a.Gaps >= gapsTell && 2**a.Gaps >= a.Explains:
		r.add(Emptiness, c.name, "that a cell is empty explains %s %s: is the column filled in after the target is known?", percent(*a.Gaps), of)
	}
}
