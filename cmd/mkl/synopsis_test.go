package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/mkl/internal/model"
)

// The lines around a synopsis. tool/habits knows them too.
const (
	synopsisBegin = "<!-- generated: (cd cmd && go test ./mkl -run TestCommandPages -update) -->\n"
	synopsisEnd   = "<!-- end of the generated part -->\n"
)

// widestLine is how long a line of a list of flags may be.
const widestLine = 130

// TestCommandPages compares the synopsis of every command's page with the flags that the program declares. With
// -update it writes the pages instead.
func TestCommandPages(t *testing.T) {
	parser, err := kong.New(new(commands), kong.Name("mkl"), kong.Vars(model.Vars()))
	require.NoError(t, err)
	folder := filepath.Join("..", "..", "docs", "guide", "command")
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	require.NoError(t, err)
	stale := map[string]bool{} // pages without a command
	for _, page := range pages {
		stale[filepath.Base(page)] = true
	}
	index, err := os.ReadFile(filepath.Join(folder, "..", "command.md"))
	require.NoError(t, err)
	var fit *kong.Node
	for _, node := range parser.Model.Children {
		if node.Name == "fit" {
			fit = node
		}
	}
	require.NotNil(t, fit)
	for _, node := range parser.Model.Children {
		if node.Hidden {
			continue
		}
		name := node.Name + ".md"
		delete(stale, name)
		assert.True(t, strings.Contains(string(index), "](command/"+name+")"), "docs/guide/command.md has no link to command/%s", name)
		file := filepath.Join(folder, name)
		text, err := os.ReadFile(file)
		if *update && os.IsNotExist(err) {
			text, err = []byte("# mkl "+node.Name+"\n\n## Synopsis\n\n"+synopsisBegin+synopsisEnd), nil
		}
		require.NoError(t, err, "%s: -update writes it", name)
		page := strings.ReplaceAll(string(text), "\r\n", "\n")
		head, rest, begins := strings.Cut(page, synopsisBegin)
		was, tail, ends := strings.Cut(rest, synopsisEnd)
		require.True(t, begins && ends, "%s has no generated part between\n%sand\n%s", name, synopsisBegin, synopsisEnd)
		want := synopsis(node, fit)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(head+synopsisBegin+want+synopsisEnd+tail), 0o666))
			continue
		}
		assert.Equal(t, want, was, "%s is stale: run the command in the page's comment", name)
	}
	assert.Empty(t, slices.Sorted(maps.Keys(stale)), "pages of no command")
}

// synopsis is the usage of a command and a table of its flags. Flags that mean what they mean for mkl fit are
// named without a description.
func synopsis(node, fit *kong.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n\nUsage: `mkl %s", node.Help, node.Name)
	for _, p := range node.Positional {
		name := strings.ToUpper(p.Name)
		if p.IsSlice() {
			name += " …"
		}
		if !p.Required {
			name = "[" + name + "]"
		}
		b.WriteString(" " + name)
	}
	flags := slices.DeleteFunc(slices.Clone(node.Flags), func(f *kong.Flag) bool { return f.Hidden || f.Name == "help" })
	for _, f := range flags {
		if f.Required {
			b.WriteString(" " + regexp.MustCompile(`, -\w+`).ReplaceAllString(written(f), ""))
		}
	}
	if len(flags) > 0 {
		b.WriteString(" [FLAGS]")
	}
	b.WriteString("`\n\n")
	for _, p := range node.Positional {
		fmt.Fprintf(&b, "- `%s`: %s\n", strings.ToUpper(p.Name), p.Help)
	}
	if len(node.Positional) > 0 {
		b.WriteString("\n")
	}
	var as []string // flags of fit
	group, rows := "", 0
	for _, f := range flags {
		if node != fit && slices.ContainsFunc(fit.Flags, func(other *kong.Flag) bool { return other.Name == f.Name && other.Help == f.Help }) {
			as = append(as, "`-"+f.Name+"`")
			continue
		}
		if title := titleOf(f); rows == 0 || title != group {
			if title != "" {
				fmt.Fprintf(&b, "\n**%s**\n", title)
			}
			if rows > 0 || title != "" {
				b.WriteString("\n")
			}
			b.WriteString("| flag | default | |\n| --- | --- | --- |\n")
			group = title
		}
		rows++
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", written(f), standard(f), strings.ReplaceAll(brief(f), "|", `\|`))
	}
	if rows > 0 {
		b.WriteString("\n")
	}
	if as != nil {
		line := "As for [mkl fit](fit.md):"
		for i, name := range as {
			end := ","
			if i == len(as)-1 {
				end = "."
			}
			if len(line)+1+len(name)+len(end) > widestLine {
				b.WriteString(line + "\n")
				line = name + end
				continue
			}
			line += " " + name + end
		}
		b.WriteString(line + "\n\n")
	}
	fmt.Fprintf(&b, "`mkl help %s` prints the flags in full.\n", node.Name)
	return b.String()
}

func titleOf(f *kong.Flag) string {
	if f.Group == nil {
		return ""
	}
	return f.Group.Title
}

// written is a flag as one writes it.
func written(f *kong.Flag) string {
	out := "-" + f.Name
	switch {
	case f.IsBool() && f.Tag.Negatable != "":
		out = "-[no-]" + f.Name
	case f.IsBool():
	case f.PlaceHolder != "":
		out += " " + f.PlaceHolder
	case f.Enum != "":
		out += " WORD"
	default:
		out += " " + strings.ToUpper(f.Target.Kind().String())
		out = strings.NewReplacer(" UINT64", " N", " INT64", " DURATION", " INT", " N", " FLOAT64", " NUMBER", " STRING", " TEXT").Replace(out)
	}
	if f.Short != 0 {
		out = fmt.Sprintf("-%c, %s", f.Short, out)
	}
	return out
}

// standard is what a flag is where it is not given.
func standard(f *kong.Flag) string {
	if !f.HasDefault || f.Default == "" || f.IsBool() {
		return ""
	}
	return "`" + f.Default + "`"
}

// brief is the first sentence of a flag's help, up to a list or an example, with the words that it may be.
func brief(f *kong.Flag) string {
	help := f.Help
	if f.HasDefault { // which has a column of its own
		help = strings.Replace(help, " ("+f.Default+")", "", 1)
	}
	depth := 0
	for i, r := range help {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case '.', ':':
			if depth == 0 && strings.HasPrefix(help[i+1:], " ") {
				help = help[:i]
			}
		}
		if len(help) == i {
			break
		}
	}
	help = strings.TrimSuffix(help, ".")
	if f.Enum != "" {
		var words []string
		for _, word := range f.EnumSlice() {
			words = append(words, "`"+word+"`")
		}
		help += ": " + strings.Join(words, ", ")
	}
	return help
}

func TestBrief(t *testing.T) {
	for _, c := range []struct{ help, standard, enum, want string }{
		{"Rows of the table.", "", "", "Rows of the table"},
		{"Rows (of 1.5: all). More follows.", "", "", "Rows (of 1.5: all)"},
		{"What to learn: a or b.", "", "a,b", "What to learn: `a`, `b`"},
		{"Number of parts (5); each is left out.", "5", "", "Number of parts; each is left out"},
	} {
		f := &kong.Flag{Value: &kong.Value{Help: c.help, Default: c.standard, HasDefault: c.standard != "", Enum: c.enum, Tag: &kong.Tag{}}}
		f.Value.Flag = f
		assert.Equal(t, c.want, brief(f), strconv.Quote(c.help))
	}
}
