package sequence

import (
	"fmt"
	"strconv"
	"strings"
)

// Names returns the names of the kernels in [Parse].
func Names() []string {
	return []string{"spectrum", "mismatch", "subsequence", "oligomer", "alignment", "la", "pairwise"}
}

// Parse reads a kernel in the notation of its String. Every setting may be left
// out: spectrum(k=3), mismatch(k=5,m=1), subsequence(k=3,decay=0.5), oligomer(k=1,longest=50),
// alignment(open=11,extend=1), la(beta=0.5,open=12,extend=2,sum), pairwise.
func Parse(text string) (Kernel, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), "(")
	if rest != "" {
		inner, ok := strings.CutSuffix(rest, ")")
		if !ok {
			return nil, fmt.Errorf("sequence: %q: the parenthesis is not closed", text)
		}
		rest = inner
	}
	var p settings
	if err := p.read(rest); err != nil {
		return nil, fmt.Errorf("sequence: %q: %w", text, err)
	}
	var k Kernel
	switch name {
	case "spectrum":
		k = Spectrum{K: p.whole("k")}
	case "mismatch":
		k = Mismatch{K: p.whole("k"), M: p.whole("m")}
	case "subsequence":
		k = Subsequence{K: p.whole("k"), Decay: p.number("decay")}
	case "oligomer":
		k = Oligomer{K: p.whole("k"), Longest: p.whole("longest")}
	case "alignment":
		k = Alignment{Gaps: p.gaps()}
	case "la":
		k = LocalAlignment{Beta: p.number("beta"), Gaps: p.gaps(), Sum: p.flag("sum")}
	case "pairwise":
		k = Pairwise{Gaps: p.gaps()}
	default:
		return nil, fmt.Errorf("sequence: %q: the kernel is none of %s", text, strings.Join(Names(), ", "))
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("sequence: %q: %w", text, err)
	}
	return k, nil
}

// settings are the settings in a kernel's parentheses. Reading a setting removes
// it.
type settings struct {
	given map[string]string
	err   error
}

func (p *settings) read(text string) error {
	p.given = map[string]string{}
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if _, ok := p.given[name]; ok {
			return fmt.Errorf("%s is given twice", name)
		}
		p.given[name] = value
	}
	return nil
}

func (p *settings) take(name string) (string, bool) {
	value, ok := p.given[name]
	delete(p.given, name)
	return value, ok
}

func (p *settings) whole(name string) int {
	value, ok := p.take(name)
	if !ok {
		return 0
	}
	v, err := strconv.Atoi(value)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s is %q, not a whole number", name, value)
	}
	return v
}

func (p *settings) number(name string) float64 {
	value, ok := p.take(name)
	if !ok {
		return 0
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s is %q, not a number", name, value)
	}
	return v
}

func (p *settings) flag(name string) bool {
	value, ok := p.take(name)
	if value != "" && p.err == nil {
		p.err = fmt.Errorf("%s takes no value", name)
	}
	return ok
}

func (p *settings) gaps() Gaps { return Gaps{Open: p.whole("open"), Extend: p.whole("extend")} }

// finish returns an error for a setting that is wrong, or that the kernel does not have.
func (p *settings) finish() error {
	if p.err != nil {
		return p.err
	}
	for name := range p.given {
		return fmt.Errorf("there is no setting %q", name)
	}
	return nil
}
