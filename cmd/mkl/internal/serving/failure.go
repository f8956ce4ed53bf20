package serving

import "net/http"

// Code names a kind of failure for programs. A later version may add codes. It renames none.
type Code string

// The codes, in the order of docs/guide/errors.md. Each has one HTTP status.
const (
	CodeBody        Code = "body"        // 400: the body is no record and no list of records
	CodeValue       Code = "value"       // 400: a value of a record is wrong
	CodeParameter   Code = "parameter"   // 400: a parameter of the address is wrong or missing
	CodeUnsupported Code = "unsupported" // 400: the model cannot say what the request asks for
	CodeForbidden   Code = "forbidden"   // 403: the request comes from the page of another site
	CodeNotFound    Code = "not-found"   // 404: there is no such model or path
	CodeTooLarge    Code = "too-large"   // 413: the body has too many bytes or records
	CodeInternal    Code = "internal"    // 500: the service failed
	CodeBusy        Code = "busy"        // 503: too many predictions run
	CodeTimeout     Code = "timeout"     // 503: the prediction took too long, or the request was cancelled
)

// Codes lists all codes.
var Codes = []Code{
	CodeBody, CodeValue, CodeParameter, CodeUnsupported, CodeForbidden, CodeNotFound, CodeTooLarge, CodeInternal, CodeBusy, CodeTimeout,
}

// Status returns the HTTP status of an answer with the code.
func (c Code) Status() int {
	switch c {
	case CodeForbidden:
		return http.StatusForbidden
	case CodeNotFound:
		return http.StatusNotFound
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeInternal:
		return http.StatusInternalServerError
	case CodeBusy, CodeTimeout:
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// Failure is the answer to a request that cannot be answered.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"error"`
	Record  int    `json:"record,omitempty"` // counted from 1
	Column  string `json:"column,omitempty"`
}

// Error is the message.
func (f *Failure) Error() string { return f.Message }
