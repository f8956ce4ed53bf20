package splits

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.csv")
	write := func(text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o666)) }
	write("age,grade,train1,size,train2\n3,1,0,0.5,1\n4,2,1,0.25,1\n")
	got, err := Read(name, "grade")
	require.NoError(t, err)
	assert.Equal(t, &Table{
		Targets: map[string][]float64{"grade": {1, 2}},
		X:       [][]float64{{3, 0.5}, {4, 0.25}},
		Train:   [][]bool{{false, true}, {true, true}},
	}, got)
	x, rows := got.Part(0, true)
	assert.Equal(t, []int{1}, rows)
	assert.Equal(t, got.X[1], x.Row(0))
	_, err = Read(name, "time")
	assert.EqualError(t, err, "there is no column time")
	write("age,grade\n3,x\n")
	_, err = Read(name, "grade")
	assert.ErrorContains(t, err, "row 1, column grade")
}
