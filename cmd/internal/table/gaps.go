package table

import "github.com/bmkl/bmkl/internal/encode"

// gaps are the texts of a source that stand for an empty cell beside what [Missing] says.
type gaps struct{ blanks encode.Blanks }

// leave sets the texts.
func (g *gaps) leave(texts []string) { g.blanks = encode.NewBlanks(texts) }
