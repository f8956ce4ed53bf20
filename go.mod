module github.com/bmkl/bmkl

go 1.26
