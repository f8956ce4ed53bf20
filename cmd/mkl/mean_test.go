package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
)

// TestMeanAlone writes the means of a whole prediction, and no other column.
func TestMeanAlone(t *testing.T) {
	files := map[string]string{"h.csv": dwellings(60)}
	for _, f := range []struct{ model, flags string }{
		{"a", "-target price -as dear=none -as owner=none -as sold=none -as index=none"},
		{"c", "-target dear -as price=none -as owner=none -as sold=none -as index=none"},
	} {
		status, _, stderr := command(t, files, "", strings.Fields("fit h.csv "+f.flags+" -model mgp -o "+f.model)...)
		require.Equal(t, console.StatusOK, status, stderr)
		files = nil
	}
	_, whole, _ := command(t, nil, "", "predict", "a", "h.csv", "-id", "index")
	status, alone, stderr := command(t, nil, "", "predict", "a", "h.csv", "-id", "index", "-mean")
	require.Equal(t, console.StatusOK, status, stderr)
	var want []string
	for line := range strings.Lines(whole) {
		want = append(want, strings.Join(strings.SplitN(strings.TrimSpace(line), ",", 4)[:2], ","))
	}
	assert.Equal(t, "index,mean", want[0])
	assert.Equal(t, want, strings.Split(strings.TrimSpace(alone), "\n"))

	status, _, stderr = command(t, nil, "", "predict", "a", "h.csv", "-mean", "-views")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "-mean excludes -views")
	status, _, stderr = command(t, nil, "", "predict", "c", "h.csv", "-mean")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "-mean is for models that predict numbers of samples")
}
