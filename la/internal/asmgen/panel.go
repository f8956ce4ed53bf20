package main

// A panelOp is one of the routines that advance chains over panels. panel.go of package la has the
// contract.
type panelOp struct {
	name string // last part but one of the routines' names
	turn string // what a turn does, for comments
}

var panelOps = []panelOp{
	{"PanelMul", "y = fma(a, x, y)"},
	{"PanelSqDist", "t = x - a; y = fma(t, t, y)"},
	{"PanelAbsDist", "y = y + |x - a|"},
}

// partsOps are the routines that compute an element for each element of a panel, with what a turn does.
var partsOps = []panelOp{
	{"PanelAddProducts", "y = y + a*x"},
	{"PanelSqParts", "t = x - a; y = t*t"},
	{"PanelAbsParts", "y = |x - a|"},
}

// partsBytes is the number of bytes of the arguments of a partsEntry.
const partsBytes = 32

// partsSignature returns the declaration of a partsEntry.
func (p pair) partsSignature() string { return "(k int, a, x, y *" + p.arithmetic + ")" }

// panelRows is the number of rows of a panel, PanelRows in package la.
const panelRows = 64

// panelBytes is the number of bytes of the arguments of a panelEntry.
const panelBytes = 41

// panelSignature returns the declaration of a panelEntry.
func (p pair) panelSignature() string {
	return "(panels, k int, a, x, y *" + p.arithmetic + ", add bool)"
}
