package vi

// predictRows is the number of kernel columns taken through a triangular solve
// at a time.
const predictRows = 256

// passRows is the number of rows of a task. It does not depend on the workers,
// nor do the sums.
const passRows = 32
