package habits

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Dialect are phrases that a reader must decode: a pronoun where a noun should stand, or a passive without
// anybody who acts. Name the noun, and let the verb say what the code does.
var Dialect = []string{
	"those of", "that of", "of which", "is none", "are none", "the like", "by the data", "tells", "is told", "are told",
	"as it is", "in place of that", "in place of those", "what it came to", "what it comes to", "has what", "by the clock",
}

var dialect = regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(strings.Join(Dialect, "|"), " ", `\s+`) + `)\b`)

// Phrases finds the phrases of Dialect in the manuals but those below docs/lab, and in the comments of all Go files.
// The findings are grouped by folder.
func (t *Tree) Phrases(repository fs.FS) (map[string][]string, error) {
	found := map[string][]string{}
	err := fs.WalkDir(repository, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			name := entry.Name()
			if file == "docs/lab" || name == "testdata" || file != "." && strings.ContainsRune("._", rune(name[0])) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(file) != ".md" || path.Dir(file) != "." && !strings.HasPrefix(file, "docs/"):
			return nil
		}
		text, err := fs.ReadFile(repository, file)
		if err != nil {
			return err
		}
		phrases(unfenced(string(newProse(text).source)), func(line int, phrase string) {
			found[path.Dir(file)] = append(found[path.Dir(file)], fmt.Sprintf("%s:%d: %q", file, line, phrase))
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range t.Packages {
		for _, f := range slices.Concat(p.Files, p.Tests) {
			for _, group := range f.Comments {
				at := t.Fset.Position(group.Pos())
				phrases(commented(group), func(line int, phrase string) {
					found[p.Path] = append(found[p.Path], fmt.Sprintf("%s:%d: %q", at.Filename, at.Line+line-1, phrase))
				})
			}
		}
	}
	return found, nil
}

// phrases calls add for each phrase of Dialect in a text, with the line where it begins.
func phrases(text string, add func(line int, phrase string)) {
	for _, at := range dialect.FindAllStringIndex(text, -1) {
		add(1+strings.Count(text[:at[0]], "\n"), strings.Join(strings.Fields(text[at[0]:at[1]]), " "))
	}
}

// unfenced empties the lines of fenced code.
func unfenced(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fenced != fence { // inside, or the opening fence
			line = "\n"
		}
		fenced = fenced != fence
		b.WriteString(line)
	}
	return b.String()
}

// commented is the text of comments, line by line, without their marks.
func commented(group *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range group.List {
		b.WriteString(strings.TrimPrefix(c.Text, "//"))
		b.WriteByte('\n')
	}
	return b.String()
}

// Limits says how many phrases of Dialect the folders may have: by a folder, or by x/... for the folder x and all
// below it. As for floors the longest name counts. A folder without a limit may have none.
type Limits map[string]int

// ParseLimits reads lines of a folder and a number; what follows # is a comment.
func ParseLimits(text string) (Limits, error) {
	l := Limits{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("habits: %q is not a folder and a number", line)
		}
		n, err := strconv.Atoi(fields[1])
		if err == nil && n < 0 {
			err = errors.New("negative")
		}
		if err != nil {
			return nil, fmt.Errorf("habits: the limit of %s: %w", fields[0], err)
		}
		l[fields[0]] = n
	}
	return l, nil
}

// String writes limits for ParseLimits.
func (l Limits) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l)) {
		fmt.Fprintf(&b, "%s %d\n", name, l[name])
	}
	return b.String()
}

// room is the name of the limit that holds for a folder; the folder's own name if there is no limit.
func (l Limits) room(folder string) string {
	if _, ok := l[folder]; ok {
		return folder
	}
	best := ""
	for name := range l {
		if x, ok := strings.CutSuffix(name, "/..."); ok && strings.HasPrefix(folder+"/", x+"/") && len(name) > len(best) {
			best = name
		}
	}
	return cmp.Or(best, folder)
}

// Check compares findings by folder with the limits. It returns all findings where a limit is exceeded, and the
// limits lowered to what was found: a limit may only fall.
func (l Limits) Check(found map[string][]string) (tooMany []string, lowered Limits) {
	counts := map[string]int{}
	for folder, lines := range found {
		counts[l.room(folder)] += len(lines)
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		room := l.room(folder)
		if counts[room] > l[room] {
			tooMany = append(tooMany, fmt.Sprintf("%s: %d phrases of the dialect, at most %d may be there", room, counts[room], l[room]))
			tooMany = append(tooMany, found[folder]...)
		}
	}
	lowered = Limits{}
	for name, n := range l {
		lowered[name] = min(n, counts[name])
	}
	return tooMany, lowered
}
