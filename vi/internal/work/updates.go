package work

// update is one step of a sweep.
type Update struct {
	Name string
	Step func() error
}

// sweep makes the updates in their order.
func Sweep(updates []Update, done func(string)) error {
	for _, u := range updates {
		if err := u.Step(); err != nil {
			return err
		}
		if done != nil {
			done(u.Name)
		}
	}
	return nil
}
