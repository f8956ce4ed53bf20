// Package dataset is a data set on its way from files to what an estimator learns from. Each step is a type, whose
// values are complete, and a function that makes the next:
//
//	Flags    which files and columns, as the command line names them
//	Opened   the files are open, the columns of targets and views found     Open
//	Table    the cells are read                                             Opened.Read
//	Samples  rows with gaps are dropped, cells have become features         Table.Samples
//	         the features and kernels as package mkl takes them             KernelViews
//	Targets  the targets as package mkl takes them                          Table.TargetsAs
//
// New files for a model that is fitted take a shorter way: its notes say which columns it needs (FindInputs) and how
// their cells become features (Inputs.Features).
package dataset
