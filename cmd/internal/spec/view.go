package spec

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// View is one view of the samples: which columns, and which kernels on them.
//
//	view    = [ name "=" ] columns [ ":" kernels ] | [ name "=" ] part "*" part { "*" part }
//	part    = columns ":" kernel
//	columns = item { "," item }
//	item    = pattern | pattern ".." pattern | "#" position [ ".." "#" position ] | "@" file
//
// In a pattern, * stands for any run of characters and ? for one. Positions
// count from 1. "@file" takes every column of another file, whose rows belong
// to the same samples. Names with one of ,:=*?#@." or spaces in them are quoted
// with " or '.
type View struct {
	Name    string
	Columns []Item
	Kernels []Kernel // none if the kernels were left out

	// Parts are the factors of a product of kernels, each a view with columns of its own and one kernel; nil of other views. The
	// Columns of a product are the columns of all factors.
	Parts []View
}

// Item selects columns.
type Item struct {
	File     string // every column of another file
	From, To Bound  // To equals From if the item is not a range
}

// Bound is one end of an item: a position counted from 1, a name, or a pattern.
type Bound struct {
	Position int
	Name     string
	Pattern  bool
}

// ParseView reads a view.
func ParseView(s string) (View, error) {
	var v View
	p := &parser{src: s}
	if name, ok := p.viewName(); ok {
		v.Name = name
	}
	var err error
	if v.Columns, err = p.items(); err != nil {
		return v, err
	}
	if p.eof() {
		return v, nil
	}
	if !p.take(":") {
		return v, p.errorf("expected , or : after a column")
	}
	if v.Parts, err = p.parts(v.Columns); v.Parts != nil || err != nil {
		for _, part := range v.Parts[min(1, len(v.Parts)):] {
			v.Columns = append(v.Columns, part.Columns...)
		}
		return v, err
	}
	kernels, err := Parse(s[p.pos:])
	if e, ok := err.(*Error); ok {
		e.Spec, e.At = s, e.At+p.pos
	}
	if err != nil {
		return v, err
	}
	for i := range kernels {
		for j := range kernels[i].Settings {
			kernels[i].Settings[j].At += p.pos
		}
	}
	v.Kernels = kernels
	return v, nil
}

// parts reads the factors of a product, from the kernel of the first factor on, whose columns are given. It reads nothing if no * follows
// this kernel.
func (p *parser) parts(first []Item) (parts []View, err error) {
	start := p.pos
	columns := first
	for {
		kernels, err := p.kernel(MaxKernels)
		more := err == nil && p.take("*")
		switch {
		case len(parts) == 0 && !more:
			p.pos = start
			return nil, nil
		case err != nil:
			return parts, err
		case len(kernels) != 1:
			return parts, p.errorf("a factor of a product has one kernel")
		}
		parts = append(parts, View{Columns: columns, Kernels: kernels})
		if !more {
			if p.space(); !p.eof() {
				return parts, p.errorf("expected * between the factors of a product")
			}
			return parts, nil
		}
		if columns, err = p.items(); err != nil {
			return parts, err
		}
		if !p.take(":") {
			return parts, p.errorf("expected : and a kernel after the columns of a factor")
		}
	}
}

// ParseColumns reads columns alone.
func ParseColumns(s string) ([]Item, error) {
	p := &parser{src: s}
	items, err := p.items()
	if err == nil && !p.eof() {
		err = p.errorf("expected a comma between columns")
	}
	return items, err
}

// viewName takes "name=" if the view starts so.
func (p *parser) viewName() (string, bool) {
	i := strings.IndexAny(p.src, `=:,"'@#`)
	if i < 0 || p.src[i] != '=' {
		return "", false
	}
	p.pos = i + 1
	return strings.TrimSpace(p.src[:i]), true
}

func (p *parser) items() ([]Item, error) {
	var all []Item
	for {
		it, err := p.item()
		if err != nil {
			return nil, err
		}
		all = append(all, it)
		if !p.take(",") {
			p.space()
			return all, nil
		}
	}
}

func (p *parser) item() (Item, error) {
	if p.take("@") {
		file, _, err := p.text(",:")
		return Item{File: file}, err
	}
	from, err := p.bound()
	if err != nil {
		return Item{}, err
	}
	it := Item{From: from, To: from}
	if p.take("..") {
		if it.To, err = p.bound(); err != nil {
			return Item{}, err
		}
		if it.From.Pattern || it.To.Pattern {
			return Item{}, p.errorf("a range of columns runs between two names or positions, not patterns")
		}
	}
	return it, nil
}

func (p *parser) bound() (Bound, error) {
	if p.take("#") {
		p.space()
		start := p.pos
		for !p.eof() && '0' <= p.src[p.pos] && p.src[p.pos] <= '9' {
			p.pos++
		}
		n, err := strconv.Atoi(p.src[start:p.pos])
		if err != nil || n < 1 {
			p.pos = start
			return Bound{}, p.errorf("expected a column's position, counted from 1")
		}
		return Bound{Position: n}, nil
	}
	name, quoted, err := p.text(",:=")
	if err != nil {
		return Bound{}, err
	}
	pattern := !quoted && strings.ContainsAny(name, "*?")
	return Bound{Name: name, Pattern: pattern}, nil
}

// text reads a quoted text, or one up to a character of stop or to "..".
func (p *parser) text(stop string) (text string, quoted bool, err error) {
	p.space()
	start := p.pos
	if !p.eof() && (p.src[p.pos] == '"' || p.src[p.pos] == '\'') {
		q := p.src[p.pos : p.pos+1]
		end := strings.Index(p.src[p.pos+1:], q)
		if end < 0 {
			return "", true, p.errorf("the quotation mark is not closed")
		}
		p.pos += end + 2
		return p.src[start+1 : p.pos-1], true, nil
	}
	for !p.eof() && !strings.ContainsRune(stop, rune(p.src[p.pos])) &&
		!(strings.Contains(stop, "=") && strings.HasPrefix(p.src[p.pos:], "..")) {
		p.pos++
	}
	text = strings.TrimSpace(p.src[start:p.pos])
	if text == "" {
		return "", false, p.errorf("expected a column")
	}
	return text, false, nil
}

// Names are the items that select columns by their names.
func Names(columns []string) []Item {
	items := make([]Item, len(columns))
	for i, name := range columns {
		items[i] = Item{From: Bound{Name: name}, To: Bound{Name: name}}
	}
	return items
}

// Select returns the positions, counted from 0, of the columns that items name,
// in the order named and each once. Patterns leave out the columns in except;
// naming one of those is an error. Items that name a file are not for Select.
func Select(items []Item, columns []string, except []int) ([]int, error) {
	var all []int
	taken, left := make([]bool, len(columns)), make([]bool, len(columns)) // left out
	for _, j := range except {
		left[j] = true
	}
	add := func(j int) {
		if !taken[j] {
			all, taken[j] = append(all, j), true
		}
	}
	names := index{columns: columns}
	for _, it := range items {
		if it.File != "" {
			return nil, fmt.Errorf("@%s stands where a column is needed", it.File)
		}
		if it.From.Pattern {
			matched := false
			for j, c := range columns {
				if ok, err := path.Match(escape(it.From.Name), c); err == nil && ok {
					matched = true
					if !left[j] {
						add(j)
					}
				}
			}
			if !matched {
				return nil, fmt.Errorf("no column matches %q (%s)", it.From.Name, List(columns))
			}
			continue
		}
		from, err := names.find(it.From)
		if err != nil {
			return nil, err
		}
		to := from
		if it.To != it.From {
			if to, err = names.find(it.To); err != nil {
				return nil, err
			}
		}
		if to < from {
			return nil, fmt.Errorf("the columns %q to %q run backwards", columns[from], columns[to])
		}
		for j := from; j <= to; j++ {
			if left[j] {
				return nil, fmt.Errorf("column %q is a target", columns[j])
			}
			add(j)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no columns are left")
	}
	return all, nil
}

// Named returns the columns, counted as in [Select], that items name by their
// names or positions and not by a pattern.
func Named(items []Item, columns []string) map[int]bool {
	var own []Item
	for _, it := range items {
		if !it.From.Pattern && it.File == "" {
			own = append(own, it)
		}
	}
	named := map[int]bool{}
	if own == nil {
		return named
	}
	found, _ := Select(own, columns, nil) // Select reports the errors where it selects all items
	for _, j := range found {
		named[j] = true
	}
	return named
}

// escape keeps path.Match from giving brackets, slashes and backslashes a
// meaning of their own.
func escape(pattern string) string {
	var b strings.Builder
	for _, r := range pattern {
		if r == '[' || r == ']' || r == '\\' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// index finds columns by name, in one pass over all of them.
type index struct {
	columns []string
	at      map[string]int // the first column of each name; nil before it is needed
	several map[string]bool
}

func (x *index) find(b Bound) (int, error) {
	if b.Position > 0 {
		if b.Position > len(x.columns) {
			return 0, fmt.Errorf("no column #%d (there are %d)", b.Position, len(x.columns))
		}
		return b.Position - 1, nil
	}
	if x.at == nil {
		x.at, x.several = make(map[string]int, len(x.columns)), map[string]bool{}
		for j, name := range x.columns {
			if _, ok := x.at[name]; ok {
				x.several[name] = true
				continue
			}
			x.at[name] = j
		}
	}
	j, ok := x.at[b.Name]
	if !ok {
		return 0, fmt.Errorf("no column %q (%s)", b.Name, List(x.columns))
	}
	if x.several[b.Name] {
		return 0, fmt.Errorf("several columns are called %q: select by position, as in #%d", b.Name, j+1)
	}
	return j, nil
}

// List names the first few of the columns there are.
func List(columns []string) string {
	const most = 8
	if len(columns) == 0 {
		return "there are none"
	}
	if len(columns) <= most {
		return "there are " + strings.Join(columns, ", ")
	}
	return fmt.Sprintf("there are %s, … %d in all", strings.Join(columns[:most], ", "), len(columns))
}
