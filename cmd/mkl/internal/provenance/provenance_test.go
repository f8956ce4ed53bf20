package provenance

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCommandLine(t *testing.T) {
	assert.Equal(t, "mkl fit d.csv -target o", CommandLine([]string{"fit", "d.csv", "-om.mkl", "-target", "o"}))
	assert.Equal(t, `'it'\''s'`, shellWord("it's"))
	assert.Equal(t, "''", shellWord(""))
}

func TestNewVersion(t *testing.T) {
	v := newVersion(&debug.BuildInfo{
		Main: debug.Module{Version: "v1.2.3"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
		},
	})
	assert.True(t, strings.HasPrefix(v.String(), "mkl v1.2.3, go"), v)
	assert.True(t, strings.HasSuffix(v.String(), "\nrevision abc of 2026-01-02T03:04:05Z, with changes"), v)
	assert.Equal(t, "unknown", newVersion(nil).Version)
}
