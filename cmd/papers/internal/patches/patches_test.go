package patches

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
)

func ramp(width, height, channels int) Picture {
	p := New(width, height, channels)
	for i := range p.Pix {
		p.Pix[i] = float64(i * 7 % 256)
	}
	return p
}

func TestPictureRoundTrip(t *testing.T) {
	for _, channels := range []int{1, 3} {
		p := ramp(9, 5, channels)
		var b bytes.Buffer
		require.NoError(t, p.Write(&b))
		q, err := Read(&b)
		require.NoError(t, err)
		assert.Equal(t, p, q)
	}
	_, err := Read(bytes.NewReader([]byte("no picture")))
	assert.Error(t, err)
}

func TestAssembleUndoesCut(t *testing.T) {
	for _, stride := range []int{1, 2, 3, 4} {
		p := ramp(11, 9, 3)
		g, err := Cut(p, 4, stride)
		require.NoError(t, err)
		values, n := g.Dims()
		assert.Equal(t, 48, values)
		cut := make([][]float64, n)
		g.Each(func(i int, at []int) {
			for _, a := range at {
				cut[i] = append(cut[i], p.Pix[a])
			}
		})
		q := g.Assemble(func(i int, v []float64) { copy(v, cut[i]) })
		assert.InDeltaSlice(t, p.Pix, q.Pix, 1e-12)
	}
	_, err := Cut(New(3, 9, 1), 4, 1)
	assert.EqualError(t, err, "patches of 4×4 at every 1 pixels do not cover a picture of 3×9")
	g, err := Cut(New(256, 256, 1), 8, 1)
	require.NoError(t, err)
	_, n := g.Dims()
	assert.Equal(t, 62001, n)
}

func TestPSNR(t *testing.T) {
	p := New(2, 1, 1)
	p.Pix[0], p.Pix[1] = 100, 250
	q := p.Clone()
	q.Pix[0], q.Pix[1] = 110, 300 // cut off at 255
	assert.InDelta(t, 10*math.Log10(255*255/((100+25)/2.0)), PSNR(p, q), 1e-12)
}

func TestMosaic(t *testing.T) {
	g, err := Cut(New(4, 4, 1), 2, 1)
	require.NoError(t, err)
	d := la.MatrixOf(4, 3, []float64{0, 5, 1, 1, 5, 2, 2, 5, 3, 4, 5, 5})
	m := g.Mosaic(d, []int{2, 0}, 1)
	assert.Equal(t, []int{7, 4}, []int{m.Width, m.Height})
	assert.Equal(t, 255*0.25, m.Pix[1*7+2])
	assert.Equal(t, 255.0, m.Pix[2*7+5])
}
