package vi

import "fmt"

// KernelError reports a kernel that a fit cannot use. A caller that knows the kernels by other names than their numbers
// can name the kernel in its own words.
type KernelError struct {
	Kernel int    // counted from 0
	Reason string // what is wrong with it, beginning with the place
}

// NewKernelError returns the error of a kernel, with a reason as of [fmt.Sprintf].
func NewKernelError(kernel int, reason string, args ...any) *KernelError {
	return &KernelError{Kernel: kernel, Reason: fmt.Sprintf(reason, args...)}
}

// Error implements error.
func (e *KernelError) Error() string { return fmt.Sprintf("vi: kernel %d: %s", e.Kernel, e.Reason) }
