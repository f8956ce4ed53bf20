//go:build lean

package table

// large are the formats that a program built with the tag lean refuses by name.
var large = []signature{
	{is: starts("PAR1"), not: "a Parquet file, which this build of the program does not read: pandas.read_parquet makes CSV"},
	{is: starts("ARROW1", "\xff\xff\xff\xff"), not: "an Arrow file, which this build of the program does not read: pandas.read_feather makes CSV"},
}
