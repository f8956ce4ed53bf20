package console

import (
	"fmt"
)

// inputError is an error that whoever called the command can mend: exit status 2.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }

func (e *inputError) Unwrap() error { return e.err }

func Input(err error) error {
	if err == nil {
		return nil
	}
	return &inputError{err}
}

func Inputf(format string, args ...any) error { return Input(fmt.Errorf(format, args...)) }
