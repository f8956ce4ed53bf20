module github.com/bmkl/bmkl/tool

go 1.26.0

require (
	github.com/bmkl/bmkl v0.0.0
	github.com/cpuguy83/go-md2man/v2 v2.0.7
	github.com/itchyny/gojq v0.12.19
	github.com/stretchr/testify v1.12.1
	github.com/yuin/goldmark v1.8.7
	golang.org/x/mod v0.42.0
)

require (
	github.com/itchyny/timefmt-go v0.1.9 // indirect
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/bmkl/bmkl => ../
