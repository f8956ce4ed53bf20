//go:build !js

package main

// pictures are the commands that draw by a library with fonts of its own. A browser does without them.
type pictures struct {
	Demo demoCmd `cmd:"" help:"Fit the motorcycle data, print what was learned and draw it."`
}
