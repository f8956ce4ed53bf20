package mkl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// checkText returns an error for a text that a file cannot keep unchanged.
func checkText(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	const longest = 80
	return fmt.Errorf("%q is not UTF-8", text[:min(len(text), longest)])
}

// brief returns a class as text for an error. It cuts off a long text, because a file may hold
// anything.
func brief(class any) string {
	const longest = 80
	text := fmt.Sprint(class)
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// checkNotes returns an error for notes that a file cannot keep unchanged, the first in the order of their keys.
func checkNotes(notes map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(notes)) {
		if err := cmp.Or(checkText(key), checkText(notes[key])); err != nil {
			return fmt.Errorf("mkl: Notes: %w", err)
		}
	}
	return nil
}
