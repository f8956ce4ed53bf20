package provenance

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/bmkl/bmkl/la"
)

// Version is what the program was built from, and what it runs on.
type Version struct {
	Version      string `json:"version"`            // of the module, (devel) if it was built in a clone
	Revision     string `json:"revision,omitempty"` // of the clone
	Modified     bool   `json:"modified,omitempty"` // the clone had changes that were not committed
	Time         string `json:"time,omitempty"`     // of the revision
	Go           string `json:"go"`
	Platform     string `json:"platform"`
	Instructions string `json:"instructions"` // the instruction set of linear algebra
}

// Build is the version of this program.
func Build() Version {
	info, _ := debug.ReadBuildInfo()
	return newVersion(info)
}

// newVersion reads what the linker wrote into the program: nil if that is nothing.
func newVersion(info *debug.BuildInfo) Version {
	set, _ := la.InstructionSet() // console has checked the error
	v := Version{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Instructions: set}
	if info == nil {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		case "vcs.time":
			v.Time = s.Value
		}
	}
	return v
}

// Program says what was built, wherever it runs.
func (v Version) Program() string {
	text := fmt.Sprintf("mkl %s, %s", v.Version, v.Go)
	if v.Revision != "" {
		text += ", revision " + v.Revision
	}
	return text
}

// String is the version in a line or two.
func (v Version) String() string {
	text := fmt.Sprintf("mkl %s, %s, %s, %s", v.Version, v.Go, v.Platform, v.Instructions)
	if v.Revision != "" {
		text += "\nrevision " + v.Revision
		if v.Time != "" {
			text += " of " + v.Time
		}
		if v.Modified {
			text += ", with changes"
		}
	}
	return text
}
