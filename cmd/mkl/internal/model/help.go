package model

import (
	"fmt"
	"strings"
)

// Help describes the tasks and the models, for the help of mkl fit.
func Help() string {
	var b strings.Builder
	b.WriteString("You only have to name the target: mkl fit houses.csv -target price -o houses.mkl\n\nTasks:\n\n")
	for _, t := range tasksHelp {
		fmt.Fprintf(&b, "  %-12s %s\n", t.name, t.help)
	}
	b.WriteString("\nModels:\n\n")
	for _, m := range modelsHelp {
		fmt.Fprintf(&b, "  %-12s %s\n", m.name, m.help)
	}
	return b.String()
}

// tasksHelp describes the values of -task.
var tasksHelp = []struct{ name, help string }{
	{Regression, "numbers: one target, or several targets that are learned one by one"},
	{Binary, "one of two classes"},
	{Multiclass, "one of several classes"},
	{CountsTask, "counts 0, 1, 2, …, whose predictions are never below 0"},
	{Survival, "times until an event; some may be censored, such as later than the end of a study"},
	{OrdinalTask, "grades: classes in order, which are numbers, or text in the order of -grades"},
	{Multioutput, "several numbers that share the weights of the kernels"},
	{"shared", "several numbers that depend on different views"},
	{"tasks", "several numbers, each known for rows of its own"},
	{"multitask", "several numbers that are sparse combinations of a few functions"},
	{"multilabel", "several columns of 0 and 1, or no and yes"},
	{"tasklabels", "the same, each known for rows of its own"},
	{FactorsTask, "a table with gaps, whose columns are combinations of a few factors"},
	{PairsTask, "numbers for pairs of a row and a column, by -rows and -columns"},
	{PairLabels, "labels of such pairs: yes or no"},
}

// modelsHelp describes the values of -model.
var modelsHelp = []struct{ name, help string }{
	{Auto, "a pool of Gaussian processes, with kernels chosen for the data: regression, binary, multiclass"},
	{BMKL, "weights of samples and of kernels: every task but counts, survival, ordinal, factors, pairs and pairlabels"},
	{"mgp", "a sum of Gaussian processes, one for each kernel: regression of one target, binary, multiclass, counts, survival, ordinal"},
	{"probit", "a multinomial probit machine, one model of all classes: binary, multiclass"},
	{LandmarksModel, "the model of mgp, approximated for any number of rows: regression of one target, binary, multiclass"},
	{"spikeslab", "a sparse linear function, without kernels: regression of one target"},
	{"factors", "sparse factor analysis: factors"},
	{"pairs", "matrix factorisation with kernels: pairs, pairlabels"},
}
