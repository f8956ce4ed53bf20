package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/mkl/internal/evaluation"
	"github.com/bmkl/bmkl/cmd/mkl/internal/exploration"
	"github.com/bmkl/bmkl/cmd/mkl/internal/provenance"
	"github.com/bmkl/bmkl/cmd/mkl/internal/ranking"
	"github.com/bmkl/bmkl/cmd/mkl/internal/report"
	"github.com/bmkl/bmkl/cmd/mkl/internal/serving"
)

// schemas are the schemas of what commands print with -json, by the command, and of errors. They are made of the types that the
// commands print. A test that runs a command with -json validates what it prints: see [command].
var schemas = func() map[string]*jsonschema.Schema {
	number := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "number"}, {Type: "string", Enum: []any{"NaN", "Infinity", "-Infinity"}},
	}}
	opt := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[console.Number]():     number,
		reflect.TypeFor[console.Figures]():    {Types: []string{"null", "object"}, AdditionalProperties: number},
		reflect.TypeFor[exploration.Kind]():   {Type: "string", Enum: anyOf(exploration.Kinds)},
		reflect.TypeFor[console.Code]():       {Type: "string", Enum: anyOf(console.Codes)},
		reflect.TypeFor[serving.Code]():       {Type: "string", Enum: anyOf(serving.Codes)},
		reflect.TypeFor[ranking.Comparison](): {Type: "object", Ref: "#/$defs/comparison"}, // which holds others
	}}
	of := func(t reflect.Type) *jsonschema.Schema {
		s, err := jsonschema.ForType(t, opt)
		if err != nil {
			panic(err)
		}
		return s
	}
	comparison := func(s *jsonschema.Schema) *jsonschema.Schema {
		t := reflect.TypeFor[ranking.Comparison]()
		s.Defs = map[string]*jsonschema.Schema{"comparison": of(reflect.StructOf(slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return !f.IsExported() })))}
		return s
	}
	cells := &jsonschema.Schema{Types: []string{"null", "string", "number"}}
	rows := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object", AdditionalProperties: cells}}
	all := map[string]*jsonschema.Schema{
		"explore":   of(reflect.TypeFor[exploration.Report]()),
		"fit":       of(reflect.TypeFor[report.Report]()),
		"cv":        comparison(&jsonschema.Schema{Ref: "#/$defs/comparison"}),
		"predict":   rows,
		"complete":  rows.CloneSchemas(),
		"transform": rows.CloneSchemas(),
		"evaluate":  of(reflect.TypeFor[evaluation.Evaluation]()),
		"compare":   comparison(&jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Ref: "#/$defs/comparison"}}),
		"inspect":   of(reflect.TypeFor[inspection]()),
		"demo":      of(reflect.TypeFor[report.Report]()),
		"version":   of(reflect.TypeFor[provenance.Version]()),
		"error":     titled("the last line of standard error of a command with -json that ends with an error", of(reflect.TypeFor[console.Failure]())),
		"failure":   titled("an answer of mkl serve whose HTTP status is not 200", of(reflect.TypeFor[serving.Failure]())),
	}
	for name, s := range all {
		s.Schema = "https://json-schema.org/draft/2020-12/schema"
		s.Title = cmp.Or(s.Title, "mkl "+name+" -json")
	}
	return all
}()

// titled gives a schema a title.
func titled(title string, s *jsonschema.Schema) *jsonschema.Schema {
	s.Title = title
	return s
}

// anyOf are the values that a text may have.
func anyOf[T any](values []T) (all []any) {
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// validate checks the output of a command line with -json against the schema of the command.
func validate(t *testing.T, args []string, stdout string) {
	t.Helper()
	if stdout == "" || !slices.ContainsFunc(args, func(a string) bool { return a == "-json" || a == "--json" }) {
		return
	}
	s := schemas[args[0]]
	require.NotNil(t, s, "no schema of mkl %s -json", args[0])
	r, err := s.Resolve(nil)
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal([]byte(stdout), &value), "%v", args)
	require.NoError(t, r.Validate(value), "%v", args)
}

// TestSchemas compares the files of docs/schema with the types. With -update it writes them instead.
func TestSchemas(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "schema")
	there := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		there[strings.TrimSuffix(filepath.Base(file), ".json")] = true
	}
	for name, s := range schemas {
		text, err := json.MarshalIndent(s, "", "  ")
		require.NoError(t, err)
		text = append(text, '\n')
		file := filepath.Join(folder, name+".json")
		delete(there, name)
		if *update {
			require.NoError(t, os.MkdirAll(folder, 0o777))
			require.NoError(t, os.WriteFile(file, text, 0o666))
			continue
		}
		was, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(text), strings.ReplaceAll(string(was), "\r\n", "\n"), "%s is stale: (cd cmd && go test ./mkl -run TestSchemas -update)", file)
	}
	assert.Empty(t, there, "schemas of no command")
}
