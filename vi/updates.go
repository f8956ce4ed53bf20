package vi

// update is one step of a sweep.
type update struct {
	name string
	step func() error
}

// sweep makes the updates in their order.
func sweep(updates []update, done func(string)) error {
	for _, u := range updates {
		if err := u.step(); err != nil {
			return err
		}
		if done != nil {
			done(u.name)
		}
	}
	return nil
}
