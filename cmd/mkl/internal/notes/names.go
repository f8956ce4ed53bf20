package notes

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/internal/encode"
	"github.com/bmkl/bmkl/mkl"
)

// Quoted is how messages call a view.
func Quoted(view string) string {
	if view == "" {
		return "of the model"
	}
	return strconv.Quote(view)
}

// String says where the columns of the view were, the first eight by name.
func (v View) String() string {
	const most = 8
	from := strings.Join(v.Columns[:min(most, len(v.Columns))], ", ")
	if len(v.Columns) > most {
		from += fmt.Sprintf(", … %d in all", len(v.Columns))
	}
	if v.File {
		from = "a file of its own with " + console.Plural(len(v.Columns), "column")
	}
	if v.Name != "" {
		from = v.Name + " = " + from
	}
	return from
}

// seenColumns is how package mkl writes which columns of a view a kernel sees, counted from 1.
var seenColumns = regexp.MustCompile(` of (#\d+(?:,#\d+)*)`)

// NameColumns replaces the numbers of features by their names, in the name of a view or a kernel or in a sentence.
// Where there are several views, the one is meant whose name stands before the numbers, or else before earlier
// numbers.
func (n *Notes) NameColumns(text string) string {
	var b strings.Builder
	var last []string // the features of the view
	done := 0
	for _, at := range seenColumns.FindAllStringSubmatchIndex(text, -1) {
		head := strings.TrimSuffix(text[:at[0]], " of ranks")
		if features := n.featuresBefore(head); features != nil {
			last = features
		}
		if last == nil {
			continue
		}
		var names []string
		for number := range strings.SplitSeq(text[at[2]:at[3]], ",") {
			k, err := strconv.Atoi(number[1:])
			if err != nil || k < 1 || k > len(last) {
				break
			}
			name := last[k-1]
			if _, err := strconv.Atoi(name); err == nil { // a file without names
				name = "#" + name
			}
			names = append(names, name)
		}
		if len(names) == strings.Count(text[at[2]:at[3]], "#") {
			b.WriteString(text[done:at[2]] + strings.Join(names, ", "))
			done = at[3]
		}
	}
	return b.String() + text[done:]
}

// featuresBefore returns the features of the view that a text ends with, or of all views where a pool takes their columns as one table.
func (n *Notes) featuresBefore(text string) (all []string) {
	if v := n.viewBefore(text); v != nil {
		return encode.Features(v.Features())
	}
	if strings.HasSuffix(text, mkl.AllColumns) {
		for i := range n.Views {
			all = append(all, encode.Features(n.Views[i].Features())...)
		}
	}
	return all
}

// viewBefore is the view of features whose name a text ends with, the longest if there are several, or the only
// view; nil if the text ends with no name.
func (n *Notes) viewBefore(text string) (found *View) {
	if len(n.Views) == 1 {
		return &n.Views[0]
	}
	for i := range n.Views {
		v := &n.Views[i]
		if v.Strings == nil && strings.HasSuffix(text, v.Name) && (found == nil || len(v.Name) > len(found.Name)) {
			found = v
		}
	}
	return found
}

// ViewOf returns the name of the command's view that a model's view belongs to. A kernel that needs no columns
// belongs to no view and goes by its own name.
func (n *Notes) ViewOf(view, kernel string) string {
	names := n.ViewNames()
	switch {
	case slices.Contains(names, view):
		return view
	case len(names) == 1:
		return n.Views[0].Name
	}
	whole := ""
	for _, name := range names { // some columns of a view belong to the view
		if strings.HasPrefix(view, name+" of ") && len(name) > len(whole) {
			whole = name
		}
	}
	return cmp.Or(whole, view, kernel)
}
