package main

// defaultSigmaG is the default of -sigma-g.
const defaultSigmaG = 0.1
