package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/internal/testkit"
)

func TestHelpCommand(t *testing.T) {
	testkit.NotShort(t)
	for _, c := range []struct{ args, same, want string }{
		{"help", "-help", "Compare models and kernels by cross-validation."},
		{"help fit", "fit -h", "Usage: mkl fit <data> [<more> ...] [flags]"},
	} {
		status, stdout, stderr := command(t, nil, "", strings.Fields(c.args)...)
		assert.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, stdout, c.want)
		_, same, _ := command(t, nil, "", strings.Fields(c.same)...)
		assert.Equal(t, stdout, same)
	}
	status, _, stderr := command(t, nil, "", "help", "frobnicate")
	assert.Equal(t, console.StatusInput, status)
	assert.Equal(t, "mkl: unexpected argument frobnicate\n", stderr)
}

func TestVersion(t *testing.T) {
	status, stdout, stderr := command(t, nil, "", "version")
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Regexp(t, `^mkl \S+, go\S+, \w+/\w+, \w+\n`, stdout)
	status, stdout, stderr = command(t, nil, "", "version", "-json")
	require.Equal(t, console.StatusOK, status, stderr)
	var v provenance.Version
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	assert.NotEmpty(t, v.Go)
}

func TestComplete(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{""}, "complete completion cv compare compile demo evaluate explore export fit help inspect plan plot predict report serve sum transform version"},
		{[]string{"co"}, "compare compile complete completion"},
		{[]string{"fit", "d.csv", "-mo"}, "-model"},
		{[]string{"fit", "d.csv", "-model", ""}, "auto bmkl factors landmarks mgp pairs probit spikeslab"},
		{[]string{"fit", "d.csv", "--model", "m"}, "mgp"},
		{[]string{"fit", "d.csv", "-plain", "-me"}, "-memory -method"},
		{[]string{"cv", "-no-"}, "-no-baselines -no-stratify"},
		{[]string{"completion", ""}, "bash fish zsh"},
		{[]string{"fit", "-o", ""}, ""},
		{[]string{"fit", "d.cs"}, ""},
		{nil, ""},
	} {
		status, stdout, stderr := command(t, nil, "", append([]string{"words", "--"}, c.words...)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.ElementsMatch(t, strings.Fields(c.want), strings.Fields(stdout), "%q", c.words)
	}
}

// The script works in a real shell, where there is one: the test runs itself as mkl.
func TestBashCompletion(t *testing.T) {
	testkit.NotShort(t)
	const asked = "MKL_TEST_COMPLETE"
	if os.Getenv(asked) != "" {
		os.Exit(program().Run(t.Context(), strings.Split(os.Getenv(asked), "\n"), nil, os.Stdout, os.Stderr))
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	status, script, stderr := command(t, nil, "", "completion", "bash")
	require.Equal(t, console.StatusOK, status, stderr)
	script += `
mkl() { (IFS=$'\n'; MKL_TEST_COMPLETE="$*" "$PROGRAM" -test.run='^TestBashCompletion$'); }
COMP_WORDS=(mkl fit d.csv -model m); COMP_CWORD=4; _mkl; echo "${COMPREPLY[@]}"
COMP_WORDS=(mkl c); COMP_CWORD=1; _mkl; echo "${COMPREPLY[@]}"
COMP_WORDS=(mkl completion ""); COMP_CWORD=2; _mkl; echo "${COMPREPLY[@]}"
`
	shell := exec.Command(bash, "-c", script)
	shell.Env = append(os.Environ(), "PROGRAM="+program)
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "mgp\ncompare compile complete completion cv\nbash fish zsh\n", string(out))
	for _, other := range []string{"zsh", "fish"} {
		_, script, _ := command(t, nil, "", "completion", other)
		assert.Contains(t, script, "mkl words -- ")
	}
}

// -q leaves results and errors.
func TestQuiet(t *testing.T) {
	files := map[string]string{"d.csv": line()}
	args := strings.Fields("fit d.csv -target y -model bmkl -kernels rbf(width={1,2}) -sweeps 3")
	status, loud, stderr := command(t, files, "", args...)
	require.Equal(t, console.StatusOK, status)
	assert.Contains(t, stderr, "task: regression")
	assert.Contains(t, stderr, "warning")
	for _, quiet := range [][]string{append(args, "-q"), append([]string{"-quiet"}, args...)} {
		status, stdout, stderr := command(t, nil, "", quiet...)
		require.Equal(t, console.StatusOK, status)
		assert.Equal(t, loud, stdout)
		assert.Empty(t, stderr)
	}
	status, _, stderr = command(t, nil, "", "fit", "none.csv", "-target", "y", "-q")
	assert.Equal(t, console.StatusInput, status)
	assert.True(t, strings.HasPrefix(stderr, "mkl: open none.csv: "), stderr)
}

// -o - writes to standard output, and - reads a model from standard input.
func TestStandardOutput(t *testing.T) {
	fit := strings.Fields("fit d.csv -target y -model bmkl -kernels rbf -sweeps 9 -samples -o")
	status, report, _ := command(t, map[string]string{"d.csv": line()}, "", append(fit, "m.mkl")...)
	require.Equal(t, console.StatusOK, status)
	assert.Contains(t, report, "  row ", "-samples lists them")
	file, err := os.ReadFile("m.mkl")
	require.NoError(t, err)
	status, model, stderr := command(t, nil, "", append(fit, "-")...)
	require.Equal(t, console.StatusOK, status, stderr)
	assert.Equal(t, string(file), model)
	assert.Contains(t, stderr, strings.TrimSuffix(report, "\nmodel: m.mkl\n"))
	assert.NoFileExists(t, "-")

	_, want, _ := command(t, nil, "", "predict", "m.mkl", "d.csv")
	for _, args := range []string{"predict - d.csv", "predict - d.csv -o -"} {
		status, got, stderr := command(t, nil, model, strings.Fields(args)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Equal(t, want, got)
	}
	for _, output := range []string{"", " -o -"} {
		status, page, stderr := command(t, nil, "", strings.Fields("report m.mkl -data d.csv"+output)...)
		require.Equal(t, console.StatusOK, status, stderr)
		assert.Contains(t, page, "</html>")
	}
	assert.NoFileExists(t, "-")
	status, inspected, _ := command(t, nil, model, "inspect", "-")
	require.Equal(t, console.StatusOK, status)
	assert.NotContains(t, inspected, "  row ")
	status, _, stderr = command(t, nil, model, "predict", "-", "-")
	assert.Equal(t, console.StatusInput, status)
	assert.Contains(t, stderr, "- is both the model and the data")
}

// Predictions as JSON equal the predictions as CSV; a row that cannot be predicted has null.
func TestPredictJSON(t *testing.T) {
	status, _, stderr := command(t, map[string]string{"d.csv": line()}, "", strings.Fields("fit d.csv -target y -view x -model mgp -missing refuse -o m")...)
	require.Equal(t, console.StatusOK, status, stderr)
	const data = "id,x\n7,1.5\n8,\n"
	status, stdout, _ := command(t, nil, data, "predict", "m", "-", "-id", "id", "-json")
	require.Equal(t, console.StatusOK, status)
	var got []map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &got))
	require.Len(t, got, 2)
	assert.Equal(t, "7", got[0]["id"], "an id is text")
	assert.Nil(t, got[1]["mean"])
	assert.Contains(t, got[1], "mean")
	_, csv, _ := command(t, nil, data, "predict", "m", "-")
	assert.Equal(t, strings.Split(strings.Split(csv, "\n")[1], ",")[0], number(got[0]["mean"].(float64)))
}
