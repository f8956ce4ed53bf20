//go:build !js

package main

// pictures are the commands that draw by a library with fonts of its own. A browser does without them.
type pictures struct {
	Demo demoCmd `cmd:"" help:"Fit the Motorcycle data, show what was found and draw it."`
}
