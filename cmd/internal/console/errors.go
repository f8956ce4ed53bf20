package console

import (
	"errors"
	"fmt"
	"io/fs"
)

// inputError is a mistake in the command line or in the data.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// Input marks an error as one that whoever called the command can mend, a mistake in
// the command line or in the data: the exit status is then [StatusInput]. No error
// stays none.
func Input(err error) error {
	if err == nil {
		return nil
	}
	return &inputError{err}
}

// mendable reports whether another command line or other data can mend the error. An error of writing a file, such as a full
// disk, is not mendable.
func mendable(err error) bool {
	var bad *inputError
	var file *fs.PathError
	return errors.As(err, &bad) && !(errors.As(err, &file) && file.Op == "write")
}

// Inputf is [Input] of [fmt.Errorf].
func Inputf(format string, args ...any) error { return Input(fmt.Errorf(format, args...)) }
