// Package healing corrects predictions whose variances are too small far from the training samples.
// Every new sample gets a basis point of its own, with an unknown weight; docs/theory/healing.md derives
// what this adds to means and variances.
//
//	healer.go     Healer: predictions of many samples
//	single.go     Single: predictions of one sample at a time, and bounds on how they move
//	whitening.go  Whitening: several targets of a sample as uncorrelated ones
//	kept.go       checks and precisions that posteriors keep for healing
package healing
