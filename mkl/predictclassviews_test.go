package mkl

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/bmkl/bmkl/la"
	"github.com/bmkl/bmkl/mkl/kernel"
)

// oddsAgainstOthers returns the log odds of each class against the mean of the others.
func oddsAgainstOthers(probability []float64) []float64 {
	out := make([]float64, len(probability))
	for c := range out {
		for d, p := range probability {
			if d == c {
				out[c] += math.Log(p)
			} else {
				out[c] -= math.Log(p) / float64(len(out)-1)
			}
		}
	}
	return out
}

// atMost replaces the classes above the last of K by the last.
func atMost(class []int, K int) []int {
	out := make([]int, len(class))
	for i, c := range class {
		out[i] = min(c, K-1)
	}
	return out
}

// assertAddsUp checks that the constant and the views of each class are the log odds of the probabilities.
func assertAddsUp(t *testing.T, parts *ClassViewParts[int], probability [][]float64, tolerance float64) {
	t.Helper()
	for i, p := range probability {
		for c, want := range oddsAgainstOthers(p) {
			sum := parts.Constant[c][i]
			for v := range parts.Views {
				sum += parts.Mean[c][v][i]
			}
			assert.InDelta(t, want, sum, tolerance, "sample %d, class %d", i, parts.Classes[c])
		}
	}
}

// The parts of Gaussian process classifiers follow from kernels written out here and the inverse of K + S⁻¹, and add up to the log odds
// of the probabilities.
func TestClassPredictViewsDense(t *testing.T) {
	all, class, _ := threeViews(30, 5)
	far, _, _ := threeViews(4, 6)
	for i := range all {
		all[i].Kernel = kernel.RBF{Width: 1.5}
	}
	rbf := func(a, b []float64) float64 {
		var d float64
		for i := range a {
			d += (a[i] - b[i]) * (a[i] - b[i])
		}
		return math.Exp(-d / (2 * 1.5 * 1.5))
	}
	ctx := context.Background()
	for _, C := range []int{2, 3} {
		m, err := MultiGPClassifier[int]{}.Fit(ctx, all, atMost(class, C))
		require.NoError(t, err)
		parts, err := m.PredictViews(ctx, PredictOptions{}, matricesOf(far)...)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b", "noise"}, parts.Views)
		_, probability, err := m.Predict(matricesOf(far)...)
		require.NoError(t, err)
		assertAddsUp(t, parts, probability, 1e-8)

		n, V := 30, len(all)
		for i := range probability {
			mean, variance := rows(len(m.posteriors), V), rows(len(m.posteriors), V) // of u_o
			for o, p := range m.posteriors {
				s := p.State()
				b := la.NewMatrix[float64](n, n)
				k, whole, sum, own := rows(V, n), make([]float64, n), 0.0, 0.0
				for j := range n {
					for l := range n {
						for v := range all {
							b.Set(j, l, b.At(j, l)+rbf(all[v].X.Row(j), all[v].X.Row(l))/s.Gamma[v])
						}
					}
					b.Set(j, j, b.At(j, j)+1/s.Sites[j])
					for v := range all {
						k[v][j] = rbf(all[v].X.Row(j), far[v].X.Row(i)) / s.Gamma[v]
						whole[j] += k[v][j]
					}
				}
				for v := range all {
					sum += la.Dot(k[v], s.Alpha)
					own += 1 / s.Gamma[v]
				}
				z := sum / math.Sqrt(1+own-la.Dot(whole, solve(b, whole)))
				above := 0.5 * math.Erfc(-z/math.Sqrt2)
				factor := m.Sharpness() * math.Log(above/(1-above)) / sum
				for v := range all {
					mean[o][v] = factor * la.Dot(k[v], s.Alpha)
					variance[o][v] = factor * factor * (1/s.Gamma[v] - la.Dot(k[v], solve(b, k[v])))
				}
			}
			for c := range C {
				for v := range V {
					want, square := mean[0][v]*float64(2*c-1), variance[0][v]
					if C > 2 {
						want, square = mean[c][v], variance[c][v]
						for d := range C {
							if d != c {
								want -= mean[d][v] / float64(C-1)
								square += variance[d][v] / float64((C-1)*(C-1))
							}
						}
					}
					assert.InDelta(t, want, parts.Mean[c][v][i], 1e-6)
					assert.InDelta(t, math.Sqrt(square), parts.SD[c][v][i], 1e-6)
				}
			}
		}
	}
}

// The parts of least-squares members follow from the inverse of K and the formula of the head, written out here. The pool's parts are means over
// both members, also after it was saved.
func TestPoolOfClassesPredictViews(t *testing.T) {
	views, class, _ := threeViews(40, 1)
	at, _, _ := threeViews(5, 2)
	x := matricesOf(at)
	ctx := context.Background()
	for _, C := range []int{2, 3} {
		some := atMost(class, C)
		m := fitClasses(t, AutoClassifier[int]{part: true}, views, some)
		parts, err := m.PredictViews(ctx, PredictOptions{}, x...)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b", "noise"}, parts.Views)
		_, err = m.PredictViews(ctx, PredictOptions{}, x[0])
		assert.ErrorContains(t, err, "1 input matrices where the model needs 3")

		var mean, square [3][3][5]float64 // of class, view and sample
		for k, d := range m.members {     // of two classes; TestClassPredictViewsDense has their formula
			own, err := d.PredictViews(ctx, PredictOptions{}, x...)
			require.NoError(t, err)
			for c := range C {
				for v, name := range own.Views {
					require.Equal(t, parts.Views[v], name)
					for i, f := range own.Mean[c][v] {
						mean[c][v][i] += m.weights[k] * f
						square[c][v][i] += m.weights[k] * (f*f + math.Pow(own.SD[c][v][i], 2))
					}
				}
			}
		}
		for k, d := range m.indicators {
			share := m.weights[len(m.members)+k]
			p, err := d.PredictClasses(ctx, PredictOptions{}, x...)
			require.NoError(t, err)
			own, err := d.logOddsMoments(ctx, PredictOptions{}, x)
			require.NoError(t, err)
			assertAddsUp(t, partsOf(own, m.Classes()), p.Probability, 1e-9)

			K, _ := gramOf(t, &d.onViews, d.weight, matricesOf(views))
			for i := range K.Rows {
				for j := range K.Cols {
					K.Set(i, j, K.At(i, j)+1)
				}
				K.Set(i, i, K.At(i, i)+d.process.Noise)
			}
			whole, self := gramOf(t, &d.onViews, d.weight, x)
			y := newIndicators(C, index(m.Classes(), some))
			var sum float64 // of s_c
			for _, pi := range d.head.Shares {
				sum += math.Sqrt(pi * (1 - pi))
			}
			for v := range views {
				weight := make([]float64, len(d.weight))
				for j, of := range d.design.Views {
					if of.Input == v {
						weight[j] = d.weight[j]
					}
				}
				cross, prior := gramOf(t, &d.onViews, weight, x)
				for i := range x[0].Rows {
					row := whole.Row(i)
					if v == 0 {
						for j := range row {
							row[j]++
						}
					}
					noisy := 1 + self[i] - la.Dot(row, solve(K, row)) + d.process.Noise
					damp := 1 / math.Sqrt(1+math.Exp(d.head.Damping)*noisy/d.head.Variance)
					solved := solve(K, cross.Row(i))
					variance := max(prior[i]-la.Dot(cross.Row(i), solved), 0)
					for c, pi := range d.head.Shares {
						slope := damp * math.Exp(d.head.Slope) * math.Sqrt(pi*(1-pi)) * float64(C) / sum
						of := la.Dot(y.Row(min(c, y.Rows-1)), solved)
						if C == 2 {
							of *= float64(2*c - 1)
						}
						slope *= float64(C) / float64(C-1) // Σ_c s_c·f_c is 0
						mean[c][v][i] += share * slope * of
						square[c][v][i] += share * slope * slope * (variance + of*of)
					}
				}
			}
		}
		for c := range C {
			for v := range views {
				for i := range x[0].Rows {
					assert.InDelta(t, mean[c][v][i], parts.Mean[c][v][i], 1e-6, "class %d, view %d, sample %d", c, v, i)
					sd := math.Sqrt(max(square[c][v][i]-mean[c][v][i]*mean[c][v][i], 0))
					assert.InDelta(t, sd, parts.SD[c][v][i], 1e-5, "class %d, view %d, sample %d", c, v, i)
				}
			}
		}
		loaded := requireFile(t, m, LoadAs[*AutoClassifierModel[int]], 1<<30)
		again, err := loaded.PredictViews(ctx, PredictOptions{}, x...)
		require.NoError(t, err)
		assert.Equal(t, parts, again)
	}
}

// A pool of one view has both kinds of members. Its parts are of their mixture, and add up to the mean of the members' log odds.
func TestPoolOfBothKindsPredictsViews(t *testing.T) {
	views, class, _ := threeViews(40, 3)
	at, _, _ := threeViews(4, 4)
	ctx := context.Background()
	m := fitClasses(t, AutoClassifier[int]{Climb: Climb{MaxSteps: 4}}, views[:1], class)
	require.NotEmpty(t, m.members)
	require.NotEmpty(t, m.indicators)
	parts, err := m.PredictViews(ctx, PredictOptions{}, at[0].X)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, parts.Views)
	for c := range parts.Classes {
		for i := range 4 {
			var mean, square, sum float64
			for k, w := range m.weights {
				one, err := m.models[k].(classViewer).logOddsMoments(ctx, PredictOptions{}, []Features{at[0].X})
				require.NoError(t, err)
				mean += w * one[c].mean[0][i]
				square += w * (one[c].variance[0][i] + one[c].mean[0][i]*one[c].mean[0][i])
				p, err := m.member(k).PredictClasses(ctx, PredictOptions{}, at[0].X)
				require.NoError(t, err)
				sum += w * oddsAgainstOthers(p.Probability[i])[c]
			}
			assert.InDelta(t, mean, parts.Mean[c][0][i], 1e-10)
			assert.InDelta(t, square-mean*mean, math.Pow(parts.SD[c][0][i], 2), 1e-9)
			assert.InDelta(t, sum, parts.Constant[c][i]+parts.Mean[c][0][i], 1e-7)
		}
	}
}

// The factor of the log odds follows its series about the mean 0, and is continuous there.
func TestOddsFactor(t *testing.T) {
	for _, z := range []float64{0, 1e-9, 0.99e-4, 1.01e-4, 0.1, -0.99e-4, -1.01e-4, -0.1} {
		t.Run(fmt.Sprint(z), func(t *testing.T) {
			for _, sd := range []float64{1e-4, 3, 1e4} {
				above, below := 0.5*math.Erfc(-z/math.Sqrt2), 0.5*math.Erfc(z/math.Sqrt2)
				got := oddsFactor(z*sd, sd*sd, math.Log(above), math.Log(below))
				want := math.Sqrt(8/math.Pi) / sd * (1 + (4-math.Pi)/(6*math.Pi)*z*z) // up to z⁴
				assert.InEpsilon(t, want, got, 1e-9+math.Pow(z, 4))
				assert.Positive(t, got)
			}
		})
	}
}
