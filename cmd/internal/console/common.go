package console

// JSONFlag is the flag -json.
type JSONFlag struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// WorkersFlag is the flag -workers.
type WorkersFlag struct {
	Workers int `help:"Largest number of goroutines at work; 0 means one for each processor."`
}
