// Command hostile tries to break the readers of data files: small files of every format are
// changed, and what is left of them is read. Whatever comes of it must be an error or a table
// whose columns are as long as it says, by memory in proportion to the file.
//
//	go run ./cmd/attack -for 8h
//
// It is to files of data what tool/attack is to data and to files of models.
package main

import "github.com/bmkl/bmkl/internal/testkit/siege"

func main() { siege.Main(attacks()) }
