package console

import (
	"bytes"
	"regexp"

	"github.com/alecthomas/kong"
)

var (
	flagColumn = regexp.MustCompile(`(?m)^( +(?:-\w, )?)--(\S+  )`) // in a list of flags, before its text
	flagsInUse = regexp.MustCompile(`--([a-z[])`)
)

// printHelp prints the parser's help with one dash before flags, as the guide does. The texts beside the flags keep their column.
func printHelp(o kong.HelpOptions, k *kong.Context) error {
	var text bytes.Buffer
	stdout := k.Stdout
	k.Stdout = &text
	err := kong.DefaultHelpPrinter(o, k)
	k.Stdout = stdout
	if err != nil {
		return err
	}
	one := flagsInUse.ReplaceAll(flagColumn.ReplaceAll(text.Bytes(), []byte("$1-$2 ")), []byte("-$1"))
	_, err = stdout.Write(one)
	return err
}
