module github.com/bmkl/bmkl/mkl/tune

go 1.26.0

require (
	github.com/bmkl/bmkl v0.0.0
	github.com/stretchr/testify v1.12.1
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.48.0 // indirect
)

replace github.com/bmkl/bmkl => ../../
