package main

import (
	"github.com/bmkl/bmkl/vi/mgp"
	"github.com/bmkl/bmkl/vi/probit"
)

// studies are all studies, in the order of the table.
var studies = []study{
	{name: "process-targets", about: "Gaussian process, scales known", exact: true, runs: 2000, small: 300, once: processAtKnownScales},
	{name: "process-spanned", about: "Gaussian process by a few samples that span the kernel", exact: true, runs: 2000, small: 300, once: spannedAtKnownScales},
	{name: "process-slices", about: "labels of a process by elliptical slices", exact: true, runs: 500, small: 40, once: slicedLabels},
	{name: "process-ep", about: "labels of a process by expectation propagation", runs: 300, once: labelsAtKnownScales(mgp.SitesEP)},
	{name: "process-bound", about: "labels of a process by bounds", runs: 300, once: labelsAtKnownScales(mgp.SitesBound)},
	{name: "process-grades", about: "grades of a process, cut points learned", runs: 300, once: grades},
	{name: "process-counts", about: "counts of a process that vary less than Poisson counts, precision learned", runs: 300, once: narrowCounts},
	{name: "process-factorised", about: "factorised process, targets", runs: 2000, once: factorised},
	{name: "process-factorised-labels", about: "factorised process, labels", runs: 2000, once: factorisedLabels},
	{name: "process-draws", about: "process with draws of its scales", runs: 100, once: evidenceDraws},
	{name: "process-mode", about: "process at the mode of its scales", runs: 300, once: evidenceMode},
	{name: "layers-gibbs", about: "weighted kernels by Gibbs sampling, targets", exact: true, runs: 300, small: 40, once: sampledLayers(false)},
	{name: "layers-gibbs-labels", about: "weighted kernels by Gibbs sampling, labels", exact: true, runs: 300, small: 40, once: sampledLayers(true)},
	{name: "layers-targets", about: "weighted kernels by mean field, targets", runs: 300, once: regression},
	{name: "layers-labels", about: "weighted kernels by mean field, labels", runs: 300, once: classification},
	{name: "layers-shared", about: "two outputs with common samples", runs: 1000, once: shared},
	{name: "layers-tasks", about: "two tasks with common kernel weights", runs: 1000, once: tasks(false)},
	{name: "layers-task-labels", about: "two tasks of labels with common kernel weights", runs: 1000, once: tasks(true)},
	{name: "probit-gibbs", about: "multinomial probit by Gibbs sampling, learned sum", exact: true, runs: 200, small: 20, once: sampledProbit(probit.RuleWSum, false, 10, 3)},
	{name: "probit-mean-field", about: "multinomial probit by mean field, learned sum", runs: 100, once: variationalProbit(probit.Model{Rule: probit.RuleWSum}, 10, 3)},
	{name: "sparse-gibbs", about: "spike and slab by Gibbs sampling", exact: true, runs: 300, small: 40, once: sampledSparse(false)},
	{name: "sparse-mean-field", about: "spike and slab by mean field", runs: 100, once: variationalSparse(false)},
}
