module github.com/bmkl/bmkl/bench

go 1.26.0

require github.com/bmkl/bmkl v0.0.0
