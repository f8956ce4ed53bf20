package gonum

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/testlapack"

	"github.com/bmkl/bmkl/internal/testkit"
)

// TestLAPACK runs gonum's own suite for LAPACK, on la's BLAS. The matrices of the suite are small, so la
// is used for all sizes.
func TestLAPACK(t *testing.T) {
	testkit.NotShort(t)
	was := blas64.Implementation()
	blas64.Use(BLAS{eager: true})
	t.Cleanup(func() { blas64.Use(was) })
	for _, c := range []lapackTest{
		suite(testlapack.DbdsqrTest), suite(testlapack.DhseqrTest), suite(testlapack.DgebakTest), suite(testlapack.DgebalTest),
		suite(testlapack.Dgebd2Test), suite(testlapack.DgebrdTest), suite(testlapack.DgeconTest), suite(testlapack.DgeevTest),
		suite(testlapack.Dgehd2Test), suite(testlapack.DgehrdTest), suite(testlapack.DgelqfTest), suite(testlapack.Dgelq2Test),
		suite(testlapack.Dgeql2Test), suite(testlapack.DgelsTest), suite(testlapack.Dgerq2Test), suite(testlapack.Dgesc2Test),
		suite(testlapack.Dgeqp3Test), suite(testlapack.Dgeqr2Test), suite(testlapack.DgeqrfTest), suite(testlapack.DgerqfTest),
		suite(testlapack.DgesvTest), suite(testlapack.Dgetc2Test), suite(testlapack.DgetriTest), suite(testlapack.Dgetf2Test),
		suite(testlapack.DgetrfTest), suite(testlapack.DgetrsTest), suite(testlapack.DgghrdTest), suite(testlapack.Dggsvd3Test),
		suite(testlapack.Dggsvp3Test), suite(testlapack.DgtsvTest), suite(testlapack.DlabrdTest), suite(testlapack.Dlacn2Test),
		suite(testlapack.DlacpyTest), suite(testlapack.Dlae2Test), suite(testlapack.Dlaev2Test), suite(testlapack.DlaexcTest),
		suite(testlapack.Dlag2Test), suite(testlapack.Dlags2Test), suite(testlapack.DlagtmTest), suite(testlapack.DlahqrTest),
		suite(testlapack.Dlahr2Test), suite(testlapack.Dlaln2Test), suite(testlapack.DlangbTest), suite(testlapack.DlangeTest),
		suite(testlapack.DlangtTest), suite(testlapack.DlanhsTest), suite(testlapack.Dlapy2Test), suite(testlapack.DlapllTest),
		suite(testlapack.DlapmrTest), suite(testlapack.DlapmtTest), suite(testlapack.Dlas2Test), suite(testlapack.DlasclTest),
		suite(testlapack.DlasetTest), suite(testlapack.DlasrtTest), suite(testlapack.DlassqTest), suite(testlapack.DlaswpTest),
		suite(testlapack.Dlasy2Test), suite(testlapack.DlansbTest), suite(testlapack.DlanstTest), suite(testlapack.DlansyTest),
		suite(testlapack.DlantbTest), suite(testlapack.DlantrTest), suite(testlapack.Dlanv2Test), suite(testlapack.Dlaqr04Test),
		suite(testlapack.Dlaqp2Test), suite(testlapack.DlaqpsTest), suite(testlapack.Dlaqr1Test), suite(testlapack.Dlaqr23Test),
		suite(testlapack.Dlaqr5Test), suite(testlapack.DlarfTest), suite(testlapack.DlarfbTest), suite(testlapack.DlarfgTest),
		suite(testlapack.DlarftTest), suite(testlapack.DlarfxTest), suite(testlapack.DlartgTest), suite(testlapack.Dlasq1Test),
		suite(testlapack.Dlasq2Test), suite(testlapack.DlasrTest), suite(testlapack.Dlasv2Test), suite(testlapack.DlatbsTest),
		suite(testlapack.DlatrdTest), suite(testlapack.DlatrsTest), suite(testlapack.Dlauu2Test), suite(testlapack.DlauumTest),
		suite(testlapack.Dorg2rTest), suite(testlapack.DorgbrTest), suite(testlapack.DorghrTest), suite(testlapack.Dorg2lTest),
		suite(testlapack.Dorgl2Test), suite(testlapack.DorglqTest), suite(testlapack.DorgqlTest), suite(testlapack.DorgqrTest),
		suite(testlapack.Dorgr2Test), suite(testlapack.DorgtrTest), suite(testlapack.DormbrTest), suite(testlapack.DormhrTest),
		suite(testlapack.Dorml2Test), suite(testlapack.DormlqTest), suite(testlapack.DormqrTest), suite(testlapack.Dormr2Test),
		suite(testlapack.Dorm2rTest), suite(testlapack.DpbconTest), suite(testlapack.Dpbtf2Test), suite(testlapack.DpbtrfTest),
		suite(testlapack.DpbtrsTest), suite(testlapack.DpoconTest), suite(testlapack.Dpotf2Test), suite(testlapack.DpotrfTest),
		suite(testlapack.DpotriTest), suite(testlapack.DpotrsTest), suite(testlapack.Dpstf2Test), suite(testlapack.DpstrfTest),
		suite(testlapack.DpttrfTest), suite(testlapack.DpttrsTest), suite(testlapack.DptsvTest), suite(testlapack.DptconTest),
		suite(testlapack.DrsclTest), suite(testlapack.DsteqrTest), suite(testlapack.DsterfTest), suite(testlapack.DsyevTest),
		suite(testlapack.Dsytd2Test), suite(testlapack.DsytrdTest), suite(testlapack.DtgsjaTest), suite(testlapack.DtbtrsTest),
		suite(testlapack.DtrconTest), suite(testlapack.Dtrevc3Test), suite(testlapack.DtrexcTest), suite(testlapack.Dtrti2Test),
		suite(testlapack.DtrtriTest), suite(testlapack.DtrtrsTest), suite(testlapack.IladlcTest), suite(testlapack.IladlrTest),
		{"DgesvdTest", func(t *testing.T) { testlapack.DgesvdTest(t, LAPACK{eager: true}, 1e-13) }},
	} {
		t.Run(strings.TrimSuffix(c.name, "Test"), c.run)
	}
}

// lapackTest is a test of gonum's suite.
type lapackTest struct {
	name string
	run  func(t *testing.T)
}

// suite returns a test of gonum's suite for routines in I, under the name of its function.
func suite[I any](test func(t *testing.T, routines I)) lapackTest {
	name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return lapackTest{
		name: name[strings.LastIndexByte(name, '.')+1:],
		run:  func(t *testing.T) { test(t, any(LAPACK{eager: true}).(I)) },
	}
}
