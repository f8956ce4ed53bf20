// Package spec reads the language in which views and kernels are named on the command
// line, finds the columns of a view and builds its kernels. Of kernels the language is
//
//	kernels = kernel { "," kernel }
//	kernel  = name [ "(" [ setting { "," setting } ] ")" ]
//	setting = name [ "=" value ]
//	value   = choice | vector | word | number
//	choice  = range | "{" value { "," value } "}"
//	range   = number ".." number [ "by" number ]
//	vector  = "[" number { "," number } "]"
//	number  = decimal | decimal "^" decimal
//
// A name without a value is switched on: center means center=yes. A choice
// stands for one kernel each: rbf(width={1,2}) is two kernels,
// rbf(width=2^-10..2^10) is twenty-one. A range between two powers of one base
// steps through the exponents, any other range through the numbers.
package spec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxKernels is the most kernels one specification may stand for.
const MaxKernels = 4096

// Kernel is one kernel: a name and its settings, in the order given.
type Kernel struct {
	Name     string
	Settings []Setting
}

// Yes is the word that a setting without a value has.
const Yes = "yes"

// Setting is one name=value of a kernel.
type Setting struct {
	Name  string
	Value Value
	At    int // byte offset in the specification, for messages
}

// Value is a number, a vector of numbers, or a word.
type Value struct {
	Numbers []float64 // one for a number, any for a vector, none for a word
	Vector  bool
	Text    string // the text of a word, or of a number as it was written
}

func (v Value) String() string {
	if v.Text != "" {
		return v.Text
	}
	parts := make([]string, len(v.Numbers))
	for i, x := range v.Numbers {
		parts[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	if v.Vector {
		return "[" + strings.Join(parts, ",") + "]"
	}
	return parts[0]
}

func (k Kernel) String() string {
	if len(k.Settings) == 0 {
		return k.Name
	}
	parts := make([]string, len(k.Settings))
	for i, s := range k.Settings {
		parts[i] = s.Name + "=" + s.Value.String()
	}
	return k.Name + "(" + strings.Join(parts, ",") + ")"
}

// Error is a mistake in a specification and where it is.
type Error struct {
	Spec string
	At   int // byte offset in Spec
	Msg  string
}

func (e *Error) Error() string {
	if e.At >= len(e.Spec) {
		return fmt.Sprintf("%q: at the end: %s", e.Spec, e.Msg)
	}
	return fmt.Sprintf("%q: at %q: %s", e.Spec, excerpt(e.Spec[e.At:]), e.Msg)
}

func excerpt(s string) string {
	const most = 12
	for i := range s {
		if i > most {
			return s[:i] + "…"
		}
	}
	return s
}

// Parse reads a specification and returns the kernels it stands for, choices
// multiplied out with the last one running fastest.
func Parse(s string) ([]Kernel, error) {
	p := &parser{src: s}
	var all []Kernel
	for {
		ks, err := p.kernel(MaxKernels - len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, ks...)
		p.space()
		if p.eof() {
			return all, nil
		}
		if !p.take(",") {
			return nil, p.errorf("expected a comma between kernels")
		}
	}
}

type parser struct {
	src string
	pos int
}

func (p *parser) errorf(format string, args ...any) error {
	return &Error{Spec: p.src, At: p.pos, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) eof() bool { return p.pos >= len(p.src) }

func (p *parser) space() {
	for !p.eof() && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t') {
		p.pos++
	}
}

// take skips spaces and then tok, if it comes next.
func (p *parser) take(tok string) bool {
	p.space()
	if strings.HasPrefix(p.src[p.pos:], tok) {
		p.pos += len(tok)
		return true
	}
	return false
}

func (p *parser) word() string {
	p.space()
	start := p.pos
	for !p.eof() {
		c := p.src[p.pos]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && !(p.pos > start && ('0' <= c && c <= '9' || c == '-')) {
			break
		}
		p.pos++
	}
	return p.src[start:p.pos]
}

// kernel reads one kernel and multiplies its choices out, to at most `most`.
func (p *parser) kernel(most int) ([]Kernel, error) {
	name := p.word()
	if name == "" {
		return nil, p.errorf("expected the name of a kernel")
	}
	all := []Kernel{{Name: strings.ToLower(name)}}
	if most < 1 {
		return nil, p.errorf("more than %d kernels", MaxKernels)
	}
	if !p.take("(") {
		return all, nil
	}
	if p.take(")") {
		return all, nil
	}
	for {
		p.space()
		at := p.pos
		key := strings.ToLower(p.word())
		if key == "" {
			return nil, p.errorf("expected a setting such as width=1")
		}
		if slices.ContainsFunc(all[0].Settings, func(s Setting) bool { return s.Name == key }) {
			p.pos = at
			return nil, p.errorf("%s is set twice", key)
		}
		values := []Value{{Text: Yes}}
		if p.take("=") {
			var err error
			if values, err = p.choice(); err != nil {
				return nil, err
			}
		}
		if len(all)*len(values) > most {
			return nil, p.errorf("more than %d kernels", MaxKernels)
		}
		next := make([]Kernel, 0, len(all)*len(values))
		for _, k := range all {
			for _, v := range values {
				next = append(next, Kernel{
					Name:     k.Name,
					Settings: append(slices.Clip(k.Settings), Setting{Name: key, Value: v, At: at}),
				})
			}
		}
		all = next
		if p.take(")") {
			return all, nil
		}
		if !p.take(",") {
			return nil, p.errorf("expected , or ) after %s", key)
		}
	}
}

// choice reads the values of a setting: one value, or the values of a range or a set.
func (p *parser) choice() ([]Value, error) {
	if p.take("{") {
		var all []Value
		for {
			vs, err := p.rangeOrOne()
			if err != nil {
				return nil, err
			}
			if all = append(all, vs...); len(all) > MaxKernels {
				return nil, p.errorf("more than %d values", MaxKernels)
			}
			if p.take("}") {
				return all, nil
			}
			if !p.take(",") {
				return nil, p.errorf("expected , or }")
			}
		}
	}
	return p.rangeOrOne()
}

func (p *parser) rangeOrOne() ([]Value, error) {
	p.space()
	start := p.pos
	if p.take("[") {
		var xs []float64
		for {
			n, err := p.number()
			if err != nil {
				return nil, err
			}
			xs = append(xs, n.value())
			if p.take("]") {
				return []Value{{Numbers: xs, Vector: true}}, nil
			}
			if !p.take(",") {
				return nil, p.errorf("expected , or ]")
			}
		}
	}
	if w := p.word(); w != "" {
		return []Value{{Text: w}}, nil
	}
	from, err := p.number()
	if err != nil {
		return nil, err
	}
	if !p.take("..") {
		return []Value{{Numbers: []float64{from.value()}, Text: p.src[start:p.pos]}}, nil
	}
	to, err := p.number()
	if err != nil {
		return nil, err
	}
	by := 1.0
	if p.take("by") {
		n, err := p.number()
		if err != nil {
			return nil, err
		}
		if by = n.value(); by <= 0 {
			return nil, p.errorf("a range goes up by a positive step, not %g", by)
		}
	}
	return p.expand(from, to, by)
}

// expand lists a range: exponents of one base where both ends are powers.
func (p *parser) expand(from, to number, by float64) ([]Value, error) {
	lo, hi := from.value(), to.value()
	powers := from.power && to.power
	if powers {
		if from.base != to.base {
			return nil, p.errorf("a range of powers needs one base, not %g and %g", from.base, to.base)
		}
		lo, hi = from.exponent, to.exponent
	}
	if lo > hi {
		return nil, p.errorf("the range runs down from %g to %g", lo, hi)
	}
	// The slack admits an end that the step meets up to round-off.
	count := math.Floor((hi-lo)/by+1e-9) + 1
	if count > MaxKernels {
		return nil, p.errorf("more than %d values", MaxKernels)
	}
	values := make([]Value, int(count))
	for i := range values {
		x := lo + float64(float64(i)*by)
		v := Value{Numbers: []float64{x}}
		if powers {
			v.Text = fmt.Sprintf("%g^%g", from.base, x)
			if v.Numbers[0] = math.Pow(from.base, x); !finite(v.Numbers[0]) {
				return nil, p.errorf("%s is not a finite number", v.Text)
			}
		} else {
			v.Text = strconv.FormatFloat(x, 'g', -1, 64)
		}
		values[i] = v
	}
	return values, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// number is a decimal, or base^exponent.
type number struct {
	base, exponent float64
	power          bool
}

func (n number) value() float64 {
	if n.power {
		return math.Pow(n.base, n.exponent)
	}
	return n.base
}

func (p *parser) number() (n number, err error) {
	if n.base, err = p.decimal(); err != nil {
		return n, err
	}
	if p.take("^") {
		n.power = true
		if n.exponent, err = p.decimal(); err != nil {
			return n, err
		}
	}
	if !finite(n.value()) {
		return n, p.errorf("%g^%g is not a finite number", n.base, n.exponent)
	}
	return n, nil
}

// decimal reads a plain decimal number; the dots of a range are not its own.
func (p *parser) decimal() (float64, error) {
	p.space()
	i := p.pos
	digits := func() {
		for i < len(p.src) && '0' <= p.src[i] && p.src[i] <= '9' {
			i++
		}
	}
	sign := func() {
		if i < len(p.src) && (p.src[i] == '-' || p.src[i] == '+') {
			i++
		}
	}
	sign()
	digits()
	if i < len(p.src) && p.src[i] == '.' && !strings.HasPrefix(p.src[i:], "..") {
		i++
		digits()
	}
	if i < len(p.src) && (p.src[i] == 'e' || p.src[i] == 'E') {
		i++
		sign()
		digits()
	}
	x, err := strconv.ParseFloat(p.src[p.pos:i], 64)
	if err != nil || !finite(x) {
		return 0, p.errorf("expected a number")
	}
	p.pos = i
	return x, nil
}
