package main

import (
	"github.com/bmkl/bmkl/cmd/internal/console"
	"github.com/bmkl/bmkl/cmd/papers/internal/archambeau2010"
	"github.com/bmkl/bmkl/cmd/papers/internal/costello2014"
	"github.com/bmkl/bmkl/cmd/papers/internal/damoulas2010"
	"github.com/bmkl/bmkl/cmd/papers/internal/gonen2012"
	"github.com/bmkl/bmkl/cmd/papers/internal/titsias2011"
)

// experiments are the commands, in the order of the help. To add one, write a struct with its flags and
// a method Run(*console.Env) error in the package of its paper, and give it a line here.
type experiments struct {
	Motorcycle       gonen2012.Motorcycle      `cmd:"" help:"Section 5.1 of Gönen (2012): which kernels and samples a sparse regression keeps."`
	MGPFlowers102    archambeau2010.Flowers102 `cmd:"" name:"mgp-flowers102" help:"Figure 1 of Archambeau and Bach (2010): Oxford flowers of 102 classes, one against the rest."`
	MGPToy           archambeau2010.Toy        `cmd:"" name:"mgp-toy" help:"Table 1 and Figure 2 of Archambeau and Bach (2010): regression on ten Laplacian kernels."`
	Flowers17        gonen2012.Flowers17       `cmd:"" name:"flowers17" help:"Section 5.2 of Gönen (2012): Oxford flowers of 17 classes, with the authors' distance matrices."`
	Flowers102       gonen2012.Flowers102      `cmd:"" name:"flowers102" help:"Section 5.2 of Gönen (2012): Oxford flowers of 102 classes, with the authors' distance matrices."`
	Flowers17Derived gonen2012.Derived         `cmd:"" name:"flowers17-derived" help:"Flowers17 from word counts of our own."`
	Boston           titsias2011.Boston        `cmd:"" help:"Section 4 of Titsias and Lázaro-Gredilla (2011): paired and standard mean field against Gibbs sampling."`
	ProbitToy        damoulas2010.Toy          `cmd:"" name:"probit-toy" help:"Section 1.4.1 of Damoulas and Girolami (2010): Gibbs sampling and the variational approximation on two artificial sets."`
	Proteinfold      gonen2012.Proteinfold     `cmd:"" name:"proteinfold" help:"Protein folds of 27 classes from 12 representations."`
	MultitaskToy     titsias2011.Toy           `cmd:"" name:"multitask-toy" help:"Table 2 of Titsias and Lázaro-Gredilla (2011): twelve related tasks with gaps, against a Gaussian process for each."`
	MtmklFlowers102  titsias2011.Flowers102    `cmd:"" name:"mtmkl-flowers102" help:"Table 3 of Titsias and Lázaro-Gredilla (2011): Oxford flowers of 102 classes as related tasks, with the authors' distance matrices."`
	Calibration      calibration               `cmd:"" help:"Whether predicted probabilities come true on held-out thirds of data sets."`
	Drugs            costello2014.Drugs        `cmd:"" help:"Drug response simulated in the shape of the DREAM 7 challenge (Costello et al. 2014): tasks that share kernel weights."`
	DrugTargets      gonen2012.DrugTargets     `cmd:"" name:"drug-targets" help:"Drug–target interactions of Yamanishi et al. (2008) by the factorisation of Gönen (2012)."`
	Denoise          titsias2011.Denoise       `cmd:"" name:"denoise" help:"Table 4 of Titsias and Lázaro-Gredilla (2011): a noisy picture restored by a sparse dictionary."`
	Inpaint          titsias2011.Inpaint       `cmd:"" name:"inpaint" help:"Inpainting of Titsias and Lázaro-Gredilla (2011): a colour picture whose values are mostly missing."`
	Movielens        titsias2011.Movielens     `cmd:"" name:"movielens" help:"Ratings of Titsias and Lázaro-Gredilla (2011), with the MovieLens files."`
	UCI              damoulas2010.UCI          `cmd:"" name:"uci" help:"Seven UCI data sets by the multinomial probit machine: ten-fold cross-validation."`
	Mfeat            damoulas2010.Mfeat        `cmd:"" name:"mfeat" help:"Handwritten numerals from four feature spaces: single machines, their combinations, combined kernels."`
	VBKC             damoulas2010.Proteinfold  `cmd:"" name:"proteinfold-vbkc" help:"Protein folds by the multinomial probit machine: single and growing sets of sources."`
	Homology         damoulas2010.Homology     `cmd:"" name:"remote-homology" help:"Table 1.10 of Damoulas and Girolami (2010): remote homologues of protein families by kernels on sequences."`

	Help  helpCmd       `cmd:"" help:"List the experiments, or describe one."`
	Quiet console.Quiet `short:"q" help:"Print results and errors only: no notes, warnings or progress."`
}
