// Package costello2014 repeats what can be repeated of J. C. Costello et al., "A community
// effort to assess and improve drug sensitivity prediction algorithms", Nature
// Biotechnology 32 (2014), 1202–1212, without its data.
//
//	drugs.go     drug response simulated in the shape of the DREAM 7 challenge
//	learners.go  the models that are compared on it
package costello2014
