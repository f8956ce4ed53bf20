package sums

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/stat"
)

// addStream adds a table or a file of sums that can be read only once. It adds the rows of a table when it has read the
// end, because the hash of all bytes shows whether the sums hold the table already.
func (a *Adder) addStream(path string, r io.Reader, show func(rows int)) error {
	b := bufio.NewReaderSize(a.env.Reader(r), 1<<16)
	head, err := b.Peek(headBytes)
	switch {
	case len(head) == 0 && err == io.EOF:
		return console.Inputf("%s is empty: did what should write it fail?", path)
	case err != nil && err != io.EOF:
		return err
	case mkl.BeginsSums(head):
		s, err := read(path, b)
		if err != nil {
			return err
		}
		return a.merge(s)
	}
	p, sums, err := a.sumStream(b, show)
	switch {
	case errors.Is(err, console.ErrNoRows):
		fmt.Fprintf(a.env.Stderr, "mkl: warning: %s has no rows: nothing is added\n", path)
		return nil
	case err != nil:
		return err
	}
	if there, err := a.Sums.hold(p); there || err != nil {
		return err
	}
	if err := a.Sums.Sums.Add(p, sums); err != nil {
		return console.Inputf("%s: %w", path, err)
	}
	a.Added, a.changed = a.Added+1, true
	return nil
}

// sumStream sums a table and identifies it by its bytes.
func (a *Adder) sumStream(r io.Reader, show func(rows int)) (p mkl.SumsPart, sums *stat.Statistic, err error) {
	h := &hashed{r: r, hash: sha256.New()}
	env := *a.env
	env.Stdin = h
	t, err := openTable(&env, a.columns, a.Sums.Plan, console.Standard)
	if err != nil {
		return p, nil, err
	}
	defer t.Files.Close()
	b, err := newBuilder(a.Sums.Plan, a.workers)
	if err != nil {
		return p, nil, err
	}
	rows := &adding{Adder: a, part: &mkl.OpenPart{Sums: &stat.Statistic{}}, builder: b}
	if err := rows.addAll(t, show); err != nil {
		return p, nil, err
	}
	if _, err := io.Copy(io.Discard, h); err != nil { // what follows the table, which belongs to the bytes of a file too
		return p, nil, err
	}
	p = mkl.SumsPart{Name: a.Part, Bytes: h.n, SHA256: hex.EncodeToString(h.hash.Sum(nil))}
	if p.Name == "" {
		p.Name = nameOf(p.SHA256)
	}
	return p, rows.part.Sums, nil
}

// hashed hashes and counts the bytes that are read.
type hashed struct {
	r    io.Reader
	hash hash.Hash
	n    int64
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.hash.Write(p[:n])
	h.n += int64(n)
	return n, err
}
