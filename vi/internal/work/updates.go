package work

// Update is one step of a sweep.
type Update struct {
	Name string
	Step func() error
}

// Sweep makes the updates in their order and calls done, unless that is nil, with the
// name of each after it. It ends at the first error, and between updates where stop says
// so.
func Sweep(stop *Stop, updates []Update, done func(string)) error {
	for _, u := range updates {
		if err := stop.Ended(); err != nil {
			return err
		}
		if err := u.Step(); err != nil {
			return err
		}
		if done != nil {
			done(u.Name)
		}
	}
	return nil
}

// Step returns an update that cannot fail.
func Step(name string, f func()) Update {
	return Update{Name: name, Step: func() error { f(); return nil }}
}
