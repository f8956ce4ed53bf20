package la

// packPanels packs rows i0 ≤ i < i1 and terms k0 ≤ p < k1 of op(A) into panels of r rows, term by
// term: element (i, p) goes to dst[(i-i0)/r*r*k + (p-k0)*r + (i-i0)%r], k = k1-k0. The last panel is
// filled up with zeros. t is the operation op.
func packPanels[T Float](kt *kernels[T], r int, t Trans, a Matrix[T], i0, i1, k0, k1 int, dst []T) {
	k := k1 - k0
	if full := (i1 - i0) / r; bool(t) && full > 0 {
		const most = 32 // rows in one call
		for p := 0; p < k; p += most {
			kt.gather(r, full, min(most, k-p), &a.Data[(k0+p)*a.Stride+i0], a.Stride, &dst[p*r], r*k)
		}
		i0, dst = i0+full*r, dst[full*r*k:]
	}
	for ; i0 < i1; i0 += r {
		d := dst[:r*k]
		dst = dst[r*k:]
		rows := min(r, i1-i0)
		if rows < r {
			clear(d)
		}
		switch {
		case bool(t):
			for p := range k {
				o := (k0+p)*a.Stride + i0
				copy(d[p*r:][:rows], a.Data[o:][:rows])
			}
		case rows == r:
			kt.pack(r, k, &a.Data[i0*a.Stride+k0], a.Stride, &d[0], r)
		case rows >= kt.mr: // mr rows at a time; some rows may be packed twice
			for i := 0; i < rows; i += kt.mr {
				i := min(i, rows-kt.mr)
				kt.pack(kt.mr, k, &a.Data[(i0+i)*a.Stride+k0], a.Stride, &d[i], r)
			}
		default:
			for i := range rows {
				o := (i0+i)*a.Stride + k0
				for p, v := range a.Data[o:][:k] {
					d[p*r+i] = v
				}
			}
		}
	}
}
