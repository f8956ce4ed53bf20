// Package memory finds how much memory a computation may take.
package memory

import (
	"fmt"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/shirou/gopsutil/v4/mem"
)

// Size is a number of bytes; its text is like "8GiB", "500 MB" or "1e9".
type Size uint64

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a size such as 8GiB or 500MB", text)
	}
	*s = Size(n)
	return nil
}

func (s Size) String() string { return humanize.IBytes(uint64(s)) }

// Available returns the memory that can be had without pressing others out: what
// the system says is available, or what is left below the limit of this
// process's control groups if that is less. It is 0 if nobody says.
func Available() Size {
	n := uint64(math.MaxUint64)
	if vm, err := mem.VirtualMemory(); err == nil && vm.Available > 0 {
		n = vm.Available
	}
	if left, ok := groupLeft("/"); ok {
		n = min(n, left)
	}
	if n == math.MaxUint64 {
		return 0
	}
	return Size(n)
}

// Limit returns how much memory a computation may take, asked for by a flag -memory: the size in it, or else what
// [Available] returns. It also names whose limit this is, for the end of a sentence. A limit of 0 means no limit.
func Limit(flag Size) (limit Size, whose string) {
	if flag > 0 {
		return flag, "-memory allows"
	}
	return Available(), "the machine has available (-memory overrides)"
}

// collectAt is the growth of the heap, in percent, after which the garbage collector runs during a fit. Most of the heap is a few large
// matrices without pointers, which the collector need not read. So it can run often at little cost.
const collectAt = 25

// Keep makes the garbage collector of a fit keep little garbage, unless GOGC says how much there may be. It also keeps the process within the
// size of a flag -memory, as far as live memory allows. Keep returns a function that restores the collector's settings of before. Without
// the flag there is no limit: fits must not depend on what other processes leave. A limit that GOMEMLIMIT has set lower stays.
func Keep(flag Size) (restore func()) {
	before, percent := debug.SetMemoryLimit(-1), -1
	if flag > 0 && flag < Size(before) {
		debug.SetMemoryLimit(int64(flag))
	}
	if os.Getenv("GOGC") == "" {
		percent = debug.SetGCPercent(collectAt)
	}
	return func() {
		debug.SetMemoryLimit(before)
		if percent >= 0 {
			debug.SetGCPercent(percent)
		}
	}
}

// Error says that a computation needs more memory than it may take.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// Refuse returns an [*Error] if what needs more bytes than [Limit]. The hint, if not nil, is called with the limit and
// ends the message.
func Refuse(flag Size, what string, need float64, hint func(limit float64) string) error {
	limit, whose := Limit(flag)
	if limit == 0 || need <= float64(limit) {
		return nil
	}
	more := ""
	if hint != nil {
		more = hint(float64(limit))
	}
	return &Error{fmt.Sprintf("%s needs about %v of memory, more than the %v that %s%s", what, Size(min(need, math.MaxInt64)), limit, whose, more)}
}

// groupLeft returns what the control groups (version 2) of this process leave
// it: in each group from its own upwards the limit, less what is used and could
// not be reclaimed. root is "/" but in tests.
func groupLeft(root string) (left uint64, ok bool) {
	self, err := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0, false
	}
	group := ""
	for line := range strings.Lines(string(self)) {
		if g, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			group = g
		}
	}
	if group == "" {
		return 0, false
	}
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		dir := path.Join(root, "sys/fs/cgroup", group)
		limit, found := number(dir, "memory.max", "")
		used, found2 := number(dir, "memory.current", "")
		if found && found2 {
			cache, _ := number(dir, "memory.stat", "inactive_file ")
			used -= min(used, cache)
			here := limit - min(limit, used)
			if !ok || here < left {
				left, ok = here, true
			}
		}
		if group == "/" {
			return left, ok
		}
	}
}

// number reads the number behind key at the start of a line of a file.
func number(dir, file, key string) (uint64, bool) {
	text, err := os.ReadFile(path.Join(dir, file))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if s, found := strings.CutPrefix(line, key); found {
			n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
