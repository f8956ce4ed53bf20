package main

import (
	"fmt"
	"strings"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// completionCmd is mkl completion.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Scripts by which shells complete a command line: each asks mkl words for the words that can
// stand next, and offers files where no word can stand.
var completionScripts = map[string]string{
	"bash": `_mkl() {
  local IFS=$'\n'
  COMPREPLY=($(mkl words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _mkl mkl
`,
	"zsh": `#compdef mkl
_mkl() {
  local -a next
  next=("${(@f)$(mkl words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $next[1] ]]; then compadd -- $next; else _files; fi
}
compdef _mkl mkl
`,
	"fish": `complete -c mkl -a '(mkl words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

// Run prints the script of a shell.
func (c *completionCmd) Run(e *console.Env) error {
	_, err := fmt.Fprint(e.Stdout, completionScripts[c.Shell])
	return err
}

// wordsCmd is mkl words, which the scripts of mkl completion call.
type wordsCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"What was typed after mkl; the last is to be completed."`
}

// Run prints the words that can stand in place of the last, one a line.
func (c *wordsCmd) Run(e *console.Env) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if next := e.Complete(words); len(next) > 0 {
		_, err := fmt.Fprintln(e.Stdout, strings.Join(next, "\n"))
		return err
	}
	return nil
}
