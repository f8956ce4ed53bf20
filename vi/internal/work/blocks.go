package work

// PredictRows is the number of kernel columns taken through a triangular solve
// at a time.
const PredictRows = 256

// PassRows is the number of rows of a task. It does not depend on the workers,
// nor do the sums.
const PassRows = 32
