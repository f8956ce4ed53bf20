//go:build unix && !lean

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyReload relays the signal that asks to load all model files again.
func notifyReload(to chan<- os.Signal) { signal.Notify(to, syscall.SIGHUP) }
