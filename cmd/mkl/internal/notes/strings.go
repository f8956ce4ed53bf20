package notes

import (
	"cmp"
	"strings"

	"github.com/bmkl/bmkl/mkl/sequence"
)

// Strings names, for an input of the model, the column of strings and the kernel.
type Strings struct {
	Set    int `json:"set"` // of Notes.Strings, counted from 0
	Kernel int `json:"kernel"`
}

// StringView is what the model calls the view of one kernel on the strings of the command's view called name.
func StringView(name string, k sequence.Kernel) string {
	return strings.TrimSpace(name + " " + k.String())
}

// AddStrings adds the inputs of a view of strings: one for each kernel of the set.
func (n *Notes) AddStrings(v View, set *sequence.Set) {
	n.Strings = append(n.Strings, set)
	for k := range set.Kernels {
		v.Strings = &Strings{len(n.Strings) - 1, k}
		n.Views = append(n.Views, v)
	}
}

// kernelOf is the kernel of strings that an input is, nil if the input is made of features.
func (n *Notes) kernelOf(v View) sequence.Kernel {
	if v.Strings == nil {
		return nil
	}
	return n.Strings[v.Strings.Set].Kernels[v.Strings.Kernel]
}

// badStrings reports whether a note names strings or kernels that are not there.
func (n *Notes) badStrings(v View) bool {
	s := v.Strings
	return s != nil && (s.Set < 0 || s.Set >= len(n.Strings) || n.Strings[s.Set] == nil ||
		s.Kernel < 0 || s.Kernel >= len(n.Strings[s.Set].Kernels) || len(v.Columns) != 1)
}

// Names is what the command calls a model's view and kernel. A kernel of strings has the name of the command's view
// and the kernel's notation; other names stay.
func (n *Notes) Names(view, kernel string) (string, string) {
	for _, v := range n.Views {
		k := n.kernelOf(v)
		if k == nil {
			continue
		}
		if member, ok := strings.CutSuffix(view, StringView(v.Name, k)); ok {
			return member + cmp.Or(v.Name, k.String()), k.String()
		}
	}
	return view, kernel
}
