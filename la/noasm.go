//go:build purego || !(amd64 || arm64)

package la

// machineSets returns the instruction sets with assembly: none in this build.
func machineSets() []*instructionSet { return nil }
