module github.com/bmkl/bmkl/bench

go 1.26.0

require (
	github.com/bmkl/bmkl v0.0.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

require (
	github.com/klauspost/cpuid/v2 v2.4.2
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0
)

replace github.com/bmkl/bmkl => ../
