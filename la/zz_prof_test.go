package la
import ("testing";"fmt";"math/rand/v2";"os";"time")
func TestProf(t *testing.T) {
	op := os.Getenv("OP"); n := 64
	fmt.Sscan(os.Getenv("N"), &n)
	a := symmetric(lower(spd[float64](rand.New(rand.NewPCG(1, uint64(n))), n)))
	w := &Workspace{Workers: 1}
	c := a.Clone()
	for s := time.Now(); time.Since(s) < 3*time.Second; {
		c.CopyFrom(a)
		Cholesky(w, c)
		if op == "inv" { CholeskyInv(w, c) }
	}
}
