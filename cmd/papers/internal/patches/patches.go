// Package patches cuts pictures into overlapping square patches and puts them
// together again.
package patches

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"github.com/bmkl/bmkl/la"
)

// Picture is a picture of one channel (grey) or three (red, green, blue), whose
// values go from 0 to 255 and may lie beyond.
type Picture struct {
	Width, Height, Channels int
	Pix                     []float64 // row by row, pixel by pixel, channel by channel
}

// New returns a black picture.
func New(width, height, channels int) Picture {
	return Picture{width, height, channels, make([]float64, width*height*channels)}
}

// Clone returns a copy of p.
func (p Picture) Clone() Picture {
	p.Pix = append([]float64(nil), p.Pix...)
	return p
}

// Read reads a PNG file, one channel of a grey picture.
func Read(r io.Reader) (Picture, error) {
	img, err := png.Decode(r)
	if err != nil {
		return Picture{}, err
	}
	b := img.Bounds()
	channels := 3
	switch img.ColorModel() {
	case color.GrayModel, color.Gray16Model:
		channels = 1
	}
	p := New(b.Dx(), b.Dy(), channels)
	i := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			red, green, blue, _ := img.At(x, y).RGBA()
			for _, v := range []uint32{red, green, blue}[:channels] {
				p.Pix[i] = float64(v) / 257
				i++
			}
		}
	}
	return p, nil
}

// Write writes p as a PNG file of 8 bits a channel.
func (p Picture) Write(w io.Writer) error {
	level := func(v float64) uint8 { return uint8(math.Round(min(max(v, 0), 255))) }
	if p.Channels == 1 {
		img := image.NewGray(image.Rect(0, 0, p.Width, p.Height))
		for i, v := range p.Pix {
			img.Pix[i] = level(v)
		}
		return encode(w, img)
	}
	img := image.NewNRGBA(image.Rect(0, 0, p.Width, p.Height))
	for i := range p.Width * p.Height {
		for c := range 3 {
			img.Pix[4*i+c] = level(p.Pix[3*i+c])
		}
		img.Pix[4*i+3] = 255
	}
	return encode(w, img)
}

func encode(w io.Writer, img image.Image) error {
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, img)
}

// PSNR is the peak signal-to-noise ratio of p, with values cut off at 0 and 255, in
// decibels: 10·log₁₀(255²/mean square error).
func PSNR(truth, p Picture) float64 {
	var square float64
	for i, v := range p.Pix {
		d := min(max(v, 0), 255) - truth.Pix[i]
		square += float64(d*d) / float64(len(p.Pix))
	}
	return 10 * math.Log10(255*255/square)
}

// Grid is a picture's partition into all overlapping patches of Size×Size pixels
// whose corners lie Stride apart; the last ones of a row or column touch the edge.
type Grid struct {
	Picture      // its shape
	Size, Stride int
	xs, ys       []int // corners
}

// Cut returns the grid of p.
func Cut(p Picture, size, stride int) (Grid, error) {
	if size < 1 || stride < 1 || stride > size || size > p.Width || size > p.Height {
		return Grid{}, fmt.Errorf("patches of %d×%d at every %d pixels do not cover a picture of %d×%d", size, size, stride, p.Width, p.Height)
	}
	corners := func(n int) (at []int) {
		for x := 0; x < n-size; x += stride {
			at = append(at, x)
		}
		return append(at, n-size)
	}
	return Grid{Picture: p, Size: size, Stride: stride, xs: corners(p.Width), ys: corners(p.Height)}, nil
}

// Dims returns the number of values in a patch and the number of patches.
func (g Grid) Dims() (values, patches int) {
	return g.Size * g.Size * g.Channels, len(g.xs) * len(g.ys)
}

// Each calls do with the places in Pix of a patch's values, for one patch after
// another.
func (g Grid) Each(do func(patch int, at []int)) {
	values, _ := g.Dims()
	at := make([]int, values)
	for j, y := range g.ys {
		for i, x := range g.xs {
			k := 0
			for r := range g.Size {
				first := ((y+r)*g.Width + x) * g.Channels
				for c := range g.Size * g.Channels {
					at[k] = first + c
					k++
				}
			}
			do(j*len(g.xs)+i, at)
		}
	}
}

// Distances returns the distances, in pixels, between the values of a patch.
func (g Grid) Distances() la.Matrix[float64] {
	values, _ := g.Dims()
	d := la.NewMatrix[float64](values, values)
	place := func(i int) (x, y float64) {
		i /= g.Channels
		return float64(i % g.Size), float64(i / g.Size)
	}
	for i := range values {
		x, y := place(i)
		for j := range values {
			u, v := place(j)
			d.Set(i, j, math.Hypot(x-u, y-v))
		}
	}
	return d
}

// Assemble returns the picture whose every value is the mean over the patches that
// it lies in; patch returns the values of one.
func (g Grid) Assemble(patch func(i int, values []float64)) Picture {
	p := New(g.Width, g.Height, g.Channels)
	count := make([]float64, len(p.Pix))
	values, _ := g.Dims()
	v := make([]float64, values)
	g.Each(func(i int, at []int) {
		patch(i, v)
		for k, a := range at {
			p.Pix[a] += v[k]
			count[a]++
		}
	})
	for i, c := range count {
		p.Pix[i] /= c
	}
	return p
}

// Mosaic draws the columns of a dictionary, values × elements in the order given,
// each scaled to the full range, magnified so many times.
func (g Grid) Mosaic(dictionary la.Matrix[float64], order []int, magnify int) Picture {
	across := int(math.Ceil(math.Sqrt(float64(len(order)))))
	down := (len(order) + across - 1) / across
	step := g.Size*magnify + 1
	p := New(across*step+1, down*step+1, g.Channels)
	for k, element := range order {
		x0, y0 := 1+k%across*step, 1+k/across*step
		low, high := math.Inf(1), math.Inf(-1)
		for i := range dictionary.Rows {
			v := dictionary.At(i, element)
			low, high = min(low, v), max(high, v)
		}
		for y := range g.Size * magnify {
			for x := range g.Size * magnify {
				for c := range g.Channels {
					v := dictionary.At((y/magnify*g.Size+x/magnify)*g.Channels+c, element)
					p.Pix[((y0+y)*p.Width+x0+x)*g.Channels+c] = 255 * (v - low) / max(high-low, 1e-300)
				}
			}
		}
	}
	return p
}
