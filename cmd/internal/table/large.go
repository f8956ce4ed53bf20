//go:build !lean

package table

// large are the formats whose readers are large libraries.
var large = []signature{
	{is: starts("PAR1"), whole: newParquet},
	{is: starts(arrowMagic), stream: newArrowFile},
	{is: starts("\xff\xff\xff\xff"), stream: newArrowStream},
}
