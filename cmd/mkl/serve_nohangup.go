//go:build !unix && !lean

package main

import "os"

// notifyReload does nothing: the system has no SIGHUP.
func notifyReload(chan<- os.Signal) {}
