package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// The part of CycloneDX 1.6 that the bill of materials uses. It says neither when nor by
// whom it was written, so that the same modules have the same bytes.
type (
	bill struct {
		Schema       string       `json:"$schema"`
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version,omitempty"`
		Licenses   []licence  `json:"licenses"`
		PURL       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	licence struct {
		Expression string `json:"expression"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// writeBill writes the bill of materials of the command.
func (s *supply) writeBill(w io.Writer) error {
	refs := map[string]string{command: "pkg:golang/" + command}
	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{component{
			Type: "application", Ref: refs[command], Name: command, PURL: refs[command], Licenses: []licence{{"Apache-2.0"}},
		}},
	}
	for _, m := range s.modules {
		if m.use != inCommand {
			continue
		}
		refs[m.path] = "pkg:golang/" + m.path + "@" + strings.ReplaceAll(m.version, "+", "%2B")
		b.Components = append(b.Components, component{
			Type: "library", Ref: refs[m.path], Name: m.path, Version: m.version, PURL: refs[m.path],
			Licenses:   []licence{{strings.Join(m.licences, " AND ")}},
			Properties: []property{{"go:sum", m.sum}},
		})
	}
	for _, c := range append([]component{b.Metadata.Component}, b.Components...) {
		d := dependency{Ref: c.Ref, DependsOn: []string{}}
		for _, path := range s.needs[c.Name] {
			d.DependsOn = append(d.DependsOn, refs[path])
		}
		slices.Sort(d.DependsOn)
		b.Dependencies = append(b.Dependencies, d)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(b)
}
