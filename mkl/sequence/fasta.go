package sequence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Record is an entry of a FASTA file.
type Record struct {
	ID          string // the first word after the >
	Description string // the rest of that line
	Sequence    string // the letters of all lines, unchanged, without white space
}

// ReadFASTA reads all entries of a FASTA file. It skips empty lines and lines that begin with a
// semicolon. Errors name the line.
func ReadFASTA(r io.Reader) ([]Record, error) {
	in := bufio.NewReader(r)
	var records []Record
	var letters strings.Builder
	finish := func() {
		if len(records) > 0 {
			records[len(records)-1].Sequence = letters.String()
			letters.Reset()
		}
	}
	for number := 1; ; number++ {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("sequence: FASTA line %d: %w", number, err)
		}
		switch text := strings.TrimSpace(line); {
		case text == "" || text[0] == ';':
		case text[0] == '>':
			finish()
			words := strings.Fields(text[1:])
			if len(words) == 0 {
				return nil, fmt.Errorf("sequence: FASTA line %d: the entry has no name", number)
			}
			_, rest, _ := strings.Cut(text, words[0])
			records = append(records, Record{ID: words[0], Description: strings.TrimSpace(rest)})
		case len(records) == 0:
			return nil, fmt.Errorf("sequence: FASTA line %d: letters before the first line that begins with >", number)
		default:
			for _, word := range strings.Fields(text) {
				letters.WriteString(word)
			}
		}
		if err != nil {
			finish()
			return records, nil
		}
	}
}
