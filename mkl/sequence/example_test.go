package sequence_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/bmkl/bmkl/mkl"
	"github.com/bmkl/bmkl/mkl/sequence"
)

// Whether a stretch of DNA holds a binding site, learned from eight that do and eight that
// do not, through the kernels' words and alignments; and the same asked of the saved model.
func Example() {
	records, err := sequence.ReadFASTA(strings.NewReader(sites))
	if err != nil {
		log.Fatal(err)
	}
	set := &sequence.Set{Alphabet: sequence.DNA, Kernels: []sequence.Kernel{sequence.Mismatch{K: 5, M: 1}, sequence.LocalAlignment{}}}
	var labels []string
	for _, r := range records {
		set.Strings, labels = append(set.Strings, r.Sequence), append(labels, r.Description)
	}
	views, err := set.Views(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	note, err := json.Marshal(set)
	if err != nil {
		log.Fatal(err)
	}
	model, err := mkl.ProbitClassifier[string]{
		Fitting: mkl.Fitting{Notes: map[string]string{"set": string(note)}},
	}.Fit(context.Background(), views, labels)
	if err != nil {
		log.Fatal(err)
	}
	var file strings.Builder
	if err := model.Save(&file); err != nil {
		log.Fatal(err)
	}

	loaded, err := mkl.LoadAs[*mkl.ProbitClassifierModel[string]](strings.NewReader(file.String()))
	if err != nil {
		log.Fatal(err)
	}
	var kept sequence.Set
	if err := json.Unmarshal([]byte(loaded.Notes()["set"]), &kept); err != nil {
		log.Fatal(err)
	}
	inputs, err := kept.Inputs(context.Background(), []string{"ggtgTGACTCAttgc", "gcatggccttaacgt"})
	if err != nil {
		log.Fatal(err)
	}
	labels, _, err = loaded.Predict(inputs...)
	fmt.Println(labels, err)
	// Output: [bound free] <nil>
}

const sites = `
>1 bound
acgtTGACTCAgga
>2 bound
TGAGTCAccgtata
>3 bound
ggcaatTGACTCAt
>4 bound
ctTGACTCAagcgc
>5 bound
atatgTGAGTCAcg
>6 bound
gTGACTCAtccgat
>7 bound
cgcgaatTGACTCA
>8 bound
ttTGACTCAgctag
>9 free
acgtggcatcagga
>10 free
ggatccaccgtata
>11 free
ggcaatcctaggct
>12 free
ctgcatgcaagcgc
>13 free
atatgccggaatcg
>14 free
gaaccttgtccgat
>15 free
cgcgaatagcgtac
>16 free
ttacggcagctagg
`
