//go:build !lean

package main

// network are the commands that talk to other programs. Programs built with the tag lean do without them.
type network struct {
	Serve serveCmd `cmd:"" help:"Answer requests for predictions over HTTP."`
}
