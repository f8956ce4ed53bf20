package main

import (
	"bufio"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/bmkl/bmkl/la"
)

// writeTables writes n samples to name.csv and testSamples new ones to name.test.csv.
func writeTables(name string, seed uint64, n int, noise, detail float64) error {
	if err := writeTable(name+".csv", n, generator{rand.New(rand.NewPCG(seed, 2)), noise, detail}); err != nil {
		return err
	}
	return writeTable(name+".test.csv", testSamples, generator{rand.New(rand.NewPCG(seed, 3)), noise, detail})
}

// writeTable writes n samples, the target y last.
func writeTable(file string, n int, g generator) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriter(out)
	for i := range inputs {
		w.WriteString("x" + strconv.Itoa(i) + ",")
	}
	w.WriteString("y\n")
	x := la.NewMatrix[float64](1, inputs)
	var line []byte
	for range n {
		y, _ := g.draw(x)
		line = line[:0]
		for _, v := range append(x.Row(0), y[0]) {
			line = append(strconv.AppendFloat(line, v, 'g', 8, 64), ',')
		}
		line[len(line)-1] = '\n'
		w.Write(line)
	}
	return w.Flush() // it has the first error of all writes
}
