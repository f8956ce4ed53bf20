package la

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	headerOfStub = regexp.MustCompile(`(?m)^#include "((?:tile|strip)_\w+\.h)"$`)
	nameInStub   = regexp.MustCompile(`(?m)^#define (\w+) ·(\w+)$`)
	funcComment  = regexp.MustCompile(`(?m)^(?:// func .*\n)+`)
	textLine     = regexp.MustCompile(`(?m)^TEXT (\w+)\(SB\), NOSPLIT, \$0-(\d+)$`)
	argument     = regexp.MustCompile(`\b(\w+\+\d+)\(FP\)`)
)

// TestHeadersFindTheirArguments compares the tiles and strips of all architectures with
// their declarations in Go. go vet does so for assembly, but not inside of headers, where
// routines are that float64 and float32 share.
func TestHeadersFindTheirArguments(t *testing.T) {
	frames := stubFrames(t)
	checked := 0
	for _, stub := range architectureFiles(t, ".s") {
		text := readText(t, stub)
		include := headerOfStub.FindStringSubmatch(text)
		if include == nil {
			continue
		}
		names := map[string]string{}
		for _, m := range nameInStub.FindAllStringSubmatch(text, -1) {
			names[m[1]] = m[2]
		}
		// What follows the comment of a function, up to the next one, is all its own.
		for _, routine := range funcComment.Split(readText(t, include[1]), -1)[1:] {
			for _, m := range textLine.FindAllStringSubmatch(routine, -1) {
				name, ok := names[m[1]]
				if !ok {
					continue // of an inner routine, that only the header's others jump to
				}
				where := fmt.Sprintf("%s in %s", name, include[1])
				require.Contains(t, frames, name, where)
				assert.Equal(t, fmt.Sprint(frames[name].size), m[2], where)
				for _, use := range argument.FindAllStringSubmatch(routine, -1) {
					assert.Contains(t, frames[name].places, use[1], where)
				}
				delete(names, m[1])
				checked++
			}
		}
		assert.Empty(t, names, "%s: names of which %s has no routine", stub, include[1])
	}
	assert.Positive(t, checked, "no header found: have the files moved?")
}

// architectureFiles returns the files of amd64 and arm64 whose names end in suffix.
func architectureFiles(t *testing.T, suffix string) []string {
	var files []string
	for _, architecture := range []string{"amd64", "arm64"} {
		found, err := filepath.Glob("*_" + architecture + suffix)
		require.NoError(t, err)
		files = append(files, found...)
	}
	return files
}

func readText(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r", "")
}

// frame says where a routine finds its arguments and results: at places such as ldc+40.
type frame struct {
	size   int
	places map[string]bool
}

// stubFrames returns the frames of the functions without a body.
func stubFrames(t *testing.T) map[string]frame {
	frames := map[string]frame{}
	for _, file := range architectureFiles(t, ".go") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body == nil {
				frames[f.Name.Name] = frameOf(f.Type)
			}
		}
	}
	return frames
}

// frameOf lays out numbers and pointers as the assembler's calling convention does.
func frameOf(f *ast.FuncType) frame {
	fr := frame{places: map[string]bool{}}
	add := func(field *ast.Field, name string) {
		size := 8
		switch id, _ := field.Type.(*ast.Ident); {
		case id != nil && id.Name == "bool":
			size = 1
		case id != nil && id.Name == "float32":
			size = 4
		}
		fr.size = roundUp(fr.size, size)
		fr.places[fmt.Sprintf("%s+%d", name, fr.size)] = true
		fr.size += size
	}
	for _, field := range f.Params.List {
		for _, name := range field.Names {
			add(field, name.Name)
		}
	}
	if f.Results != nil {
		fr.size = roundUp(fr.size, 8)
		for _, field := range f.Results.List {
			add(field, "ret")
		}
	}
	return fr
}
