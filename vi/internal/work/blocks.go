package work

// PredictRows is the number of samples whose kernel columns a prediction takes through
// a triangular solve at a time: as many as a solve packs the triangle for once.
const PredictRows = 960

// PassRows is the number of matrix rows that a task of a pass over the kernels takes.
// As it does not depend on the number of workers, neither does the order of a sum over
// tasks, nor its bits.
const PassRows = 32
