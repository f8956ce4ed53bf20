package mkl

// Story says in three sentences, each a line, what was tried, what was kept and why.
func (p *pool) Story() string { return p.story() }
