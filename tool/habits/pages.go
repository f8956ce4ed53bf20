package habits

import (
	"errors"
	"io/fs"
	"regexp"
)

// cited is a page of docs in a comment, perhaps with the number of a section. The path in an address of the web does not count.
var cited = regexp.MustCompile(`(?:^|[^\w/.-])(docs/[\w/-]+(?:\.\w+)?)(?:,\s+section\s+([0-9]+))?`)

// Pages finds comments of Go files that name a page or folder below docs that does not exist, or a section whose number no
// heading of the page has.
func (t *Tree) Pages(repository fs.FS) ([]string, error) {
	r := report{fset: t.Fset}
	for _, p := range t.Packages {
		for _, f := range append(p.Files, p.Tests...) {
			for _, group := range f.Comments {
				for _, c := range cited.FindAllStringSubmatch(group.Text(), -1) {
					page, section := c[1], c[2]
					_, err := fs.Stat(repository, page)
					switch {
					case errors.Is(err, fs.ErrNotExist):
						r.add(group.Pos(), "the comment names %s, which does not exist", page)
						continue
					case err != nil:
						return nil, err
					case section == "":
						continue
					}
					text, err := fs.ReadFile(repository, page)
					if err != nil {
						return nil, err
					}
					if !regexp.MustCompile(`(?m)^#+ ` + section + `\.`).Match(text) {
						r.add(group.Pos(), "the comment names section %s of %s, which has none of that number", section, page)
					}
				}
			}
		}
	}
	return r.lines(), nil
}
