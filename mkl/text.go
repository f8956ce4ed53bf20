package mkl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// checkText reports a text that a file cannot keep as it is.
func checkText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	const longest = 80
	return fmt.Errorf("%q is not UTF-8", text[:min(len(text), longest)])
}

// brief returns a class as text for an error, cut off if it is long: a file may hold
// anything.
func brief(class any) string {
	const longest = 80
	text := fmt.Sprint(class)
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// checkNotes reports notes that a file cannot keep as they are, the first in the order of their keys.
func checkNotes(notes map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(notes)) {
		if err := cmp.Or(checkText(key), checkText(notes[key])); err != nil {
			return fmt.Errorf("mkl: Notes: %w", err)
		}
	}
	return nil
}
