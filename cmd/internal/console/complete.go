package console

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Complete lists what can stand in place of the last word of a command line: commands,
// flags, or the values of a flag before it. There is nothing where only whoever types knows, such as
// for names of files.
func (e *Env) Complete(words []string) (next []string) {
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	node, flag := e.parser.Model.Node, (*kong.Flag)(nil) // flag: the one whose value comes next
	for _, word := range words[:last] {
		switch {
		case flag != nil:
			flag = nil
		case strings.HasPrefix(word, "-"):
			if found := findFlag(node, word); found != nil && !found.IsBool() {
				flag = found
			}
		default:
			if k := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); k >= 0 {
				node = node.Children[k]
			}
		}
	}
	add := func(word string) {
		if strings.HasPrefix(word, words[last]) {
			next = append(next, word)
		}
	}
	switch {
	case flag != nil:
		if flag.Enum != "" {
			for _, value := range flag.EnumSlice() {
				add(value)
			}
		}
	case strings.HasPrefix(words[last], "-"):
		for _, f := range flagsOf(node) {
			add("-" + f.Name)
			if f.Tag.Negatable != "" {
				add("-no-" + f.Name)
			}
		}
	default:
		for _, n := range node.Children {
			if !n.Hidden {
				add(n.Name)
			}
		}
		for _, p := range node.Positional {
			if p.Enum != "" {
				for _, value := range p.EnumSlice() {
					add(value)
				}
			}
		}
	}
	slices.Sort(next)
	return next
}

// flagsOf lists the flags that a command takes.
func flagsOf(node *kong.Node) (all []*kong.Flag) {
	for _, group := range node.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

// findFlag finds the flag of a word that has no value in it.
func findFlag(node *kong.Node, word string) *kong.Flag {
	name := strings.TrimLeft(word, "-")
	for _, f := range flagsOf(node) {
		if f.Name == name || f.Short != 0 && string(f.Short) == name {
			return f
		}
	}
	return nil
}
