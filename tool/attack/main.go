// Command attack tries to break package mkl: it fits every estimator to hostile data,
// reads forged files, and asks models and predictors for hostile samples. Whatever
// comes of it must be an error or a model that holds its promises.
//
//	go run ./tool/attack -for 8h
//
// A finding is printed with its attack and its seed; -only and -seed repeat it. At the
// end, or when it is interrupted, stands the table of docs/guide/trust.md.
package main

import "github.com/bmkl/bmkl/internal/testkit/siege"

func main() { siege.Main(attacks()) }
