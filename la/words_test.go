package la

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// armFiles are the files of arm64's assembly, whose hand-encoded instructions these
// tests decode. They read the text, so they run on every architecture.
func armFiles(t *testing.T) []string {
	var files []string
	for _, pattern := range []string{"*_arm64.s", "*_arm64.h"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		files = append(files, found...)
	}
	return files
}

// armInstructions are encoding diagrams of the Arm Architecture Reference Manual
// (DDI 0487, C4.1 "A64 instruction set encoding"), most significant bit first:
// bits that are fixed, and a letter for each bit of a field. Fields are
//
//	d n m  registers; M is the top bit of m
//	Q z    128 instead of 64 bits; doubles instead of singles
//	H L    index of the element of Vm
//
// In the text, T is the arrangement of a whole register, E the element's size and
// W the arrangement of the narrower side of a conversion.
var armInstructions = []struct{ diagram, text string }{
	// Advanced SIMD three same.
	{"0Q00 1110 0z1m mmmm 1101 01nn nnnd dddd", "fadd vd.T, vn.T, vm.T"},
	{"0Q00 1110 1z1m mmmm 1101 01nn nnnd dddd", "fsub vd.T, vn.T, vm.T"},
	{"0Q10 1110 1z1m mmmm 1101 01nn nnnd dddd", "fabd vd.T, vn.T, vm.T"},
	{"0Q10 1110 0z1m mmmm 1101 11nn nnnd dddd", "fmul vd.T, vn.T, vm.T"},
	{"0Q00 1110 0z1m mmmm 1111 01nn nnnd dddd", "fmax vd.T, vn.T, vm.T"},
	{"0Q00 1110 1z1m mmmm 1111 01nn nnnd dddd", "fmin vd.T, vn.T, vm.T"},
	// Advanced SIMD vector × indexed element.
	{"0Q00 1111 1zLM mmmm 0001 H0nn nnnd dddd", "fmla vd.T, vn.T, vm.E[i]"},
	{"0Q00 1111 1zLM mmmm 0101 H0nn nnnd dddd", "fmls vd.T, vn.T, vm.E[i]"},
	{"0Q00 1111 1zLM mmmm 1001 H0nn nnnd dddd", "fmul vd.T, vn.T, vm.E[i]"},
	// Advanced SIMD scalar pairwise.
	{"0111 1110 0z11 0000 1101 10nn nnnd dddd", "faddp Ed, vn.2E"},
	// Advanced SIMD two-register miscellaneous.
	{"0Q00 1110 0110 0001 0111 10nn nnnd dddd", "fcvtlQ vd.2d, vn.W"},
	{"0Q10 1110 1z10 0001 1111 10nn nnnd dddd", "fsqrt vd.T, vn.T"},
	{"0Q10 1110 1z10 0000 1111 10nn nnnd dddd", "fneg vd.T, vn.T"},
}

// decodeArm returns the assembly text of one instruction, "" if it is not in
// armInstructions.
func decodeArm(word uint32) string {
	for _, in := range armInstructions {
		if field, ok := matchDiagram(in.diagram, word); ok {
			return spell(in.text, field)
		}
	}
	return ""
}

// matchDiagram reports whether word fits the diagram, and its fields.
func matchDiagram(diagram string, word uint32) (map[byte]uint32, bool) {
	field := map[byte]uint32{}
	for _, c := range []byte(strings.ReplaceAll(diagram, " ", "")) {
		bit := word >> 31
		word <<= 1
		switch {
		case c != '0' && c != '1':
			field[c] = field[c]<<1 | bit
		case uint32(c-'0') != bit:
			return nil, false
		}
	}
	return field, true
}

// spell fills the fields of an instruction into its text; "" for a reserved
// encoding.
func spell(text string, f map[byte]uint32) string {
	size, index := "s", f['H']<<1|f['L']
	arrangement := []string{"2s", "4s"}[f['Q']]
	if f['z'] == 1 {
		size, index, arrangement = "d", f['H'], "2d"
		if f['L'] == 1 || f['Q'] == 0 && strings.Contains(text, ".T") {
			return ""
		}
	}
	return strings.NewReplacer(
		"vd", fmt.Sprint("v", f['d']), "vn", fmt.Sprint("v", f['n']), "vm", fmt.Sprint("v", f['M']<<4|f['m']),
		".T", "."+arrangement, ".E[i]", fmt.Sprintf(".%s[%d]", size, index),
		"Ed", fmt.Sprint(size, f['d']), ".2E", ".2"+size,
		"Q", []string{"", "2"}[f['Q']], ".W", []string{".2s", ".4s"}[f['Q']],
	).Replace(text)
}

// TestDecoderAgreesWithAnAssembler holds the decoder to words that GNU binutils
// 2.40 made from the text beside them.
func TestDecoderAgreesWithAnAssembler(t *testing.T) {
	for _, in := range []struct {
		word uint32
		text string
	}{
		{0x4e7dd623, "fadd v3.2d, v17.2d, v29.2d"},
		{0x4e28d41f, "fadd v31.4s, v0.4s, v8.4s"},
		{0x4ee4d441, "fsub v1.2d, v2.2d, v4.2d"},
		{0x0eb4d649, "fsub v9.2s, v18.2s, v20.2s"},
		{0x6ef1d6a0, "fabd v0.2d, v21.2d, v17.2d"},
		{0x6e30ddfe, "fmul v30.4s, v15.4s, v16.4s"},
		{0x4e75f7e0, "fmax v0.2d, v31.2d, v21.2d"},
		{0x4ea5f555, "fmin v21.4s, v10.4s, v5.4s"},
		{0x4fde1377, "fmla v23.2d, v27.2d, v30.d[0]"},
		{0x4fde1b56, "fmla v22.2d, v26.2d, v30.d[1]"},
		{0x4f911335, "fmla v21.4s, v25.4s, v17.s[0]"},
		{0x4fbd1314, "fmla v20.4s, v24.4s, v29.s[1]"},
		{0x4f8e5993, "fmls v19.4s, v12.4s, v14.s[2]"},
		{0x4fbf9b8d, "fmul v13.4s, v28.4s, v31.s[3]"},
		{0x7e70da65, "faddp d5, v19.2d"},
		{0x7e30d8b3, "faddp s19, v5.2s"},
		{0x0e6179ac, "fcvtl v12.2d, v13.2s"},
		{0x4e6179ee, "fcvtl2 v14.2d, v15.4s"},
		{0x0e7dd623, ""}, // fadd of one double: reserved
		{0x4ffe1377, ""}, // element 2 of doubles: reserved
		{0xd503201f, ""}, // nop: not in the table
	} {
		assert.Equal(t, in.text, decodeArm(in.word), "%08x", in.word)
	}
}

var (
	wordMacro  = regexp.MustCompile(`^#define (\w+)\(([\w, ]+)\) WORD \$\((.*)\) // (.+)$`)
	plainWord  = regexp.MustCompile(`^\tWORD +\$(0x[0-9a-f]{8}) +// (.+)$`)
	directive  = regexp.MustCompile(`\b(WORD|DWORD|BYTE)\b`)
	identifier = regexp.MustCompile(`\b[a-z]\b`)
	register   = regexp.MustCompile(`\b[vsd][a-z]\b`)
)

// TestEveryWordIsWhatItsCommentSays decodes each WORD of the arm64 assembly:
// either one instruction with its text behind it, or the body of a macro, tried
// with every register in every place.
func TestEveryWordIsWhatItsCommentSays(t *testing.T) {
	words := 0
	for _, file := range armFiles(t) {
		words += testWords(t, file)
	}
	assert.Positive(t, words, "no WORD found: have the files moved?")
}

// testWords decodes the words of a file and returns their number.
func testWords(t *testing.T, file string) (words int) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for i, line := range strings.Split(strings.ReplaceAll(string(text), "\r", ""), "\n") {
		code, _, _ := strings.Cut(line, "//")
		if !directive.MatchString(code) {
			continue
		}
		words++
		where := fmt.Sprintf("%s:%d", file, i+1)
		if m := plainWord.FindStringSubmatch(line); m != nil {
			assert.Equal(t, m[2], decodeArm(evalWord(t, m[1], nil)), where)
		} else if m := wordMacro.FindStringSubmatch(line); m != nil {
			testWordMacro(t, where, strings.Split(m[2], ", "), m[3], m[4])
		} else {
			assert.Fail(t, "neither a macro of one WORD nor a WORD with its decoded form", where)
		}
	}
	return words
}

// testWordMacro gives each parameter every register number, the others 0, 21 and 31.
func testWordMacro(t *testing.T, where string, params []string, expr, text string) {
	for _, p := range params {
		for reg := range 32 {
			for _, other := range []int{0, 21, 31} {
				arg := map[string]int{}
				for _, q := range params {
					arg[q] = other
				}
				arg[p] = reg
				want := register.ReplaceAllStringFunc(text, func(s string) string {
					return s[:1] + strconv.Itoa(arg[s[1:]])
				})
				require.Equal(t, want, decodeArm(evalWord(t, expr, arg)), "%s %v", where, arg)
			}
		}
	}
}

// evalWord evaluates the assembler's constant expression with the arguments of
// its macro; the two languages' operators rank alike.
func evalWord(t *testing.T, expr string, arg map[string]int) uint32 {
	expr = identifier.ReplaceAllStringFunc(expr, func(s string) string { return strconv.Itoa(arg[s]) })
	v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expr)
	require.NoError(t, err, expr)
	word, exact := constant.Uint64Val(v.Value)
	require.True(t, exact && word>>32 == 0, expr)
	return uint32(word)
}

// TestReservedRegistersAreLeftAlone keeps the assembly away from R18 (the
// platform's), R27 (the assembler's), R28 (the goroutine's) and R29 (the frame's).
func TestReservedRegistersAreLeftAlone(t *testing.T) {
	reserved := regexp.MustCompile(`\b(R18|R18_PLATFORM|R27|R28|R29|g)\b`)
	for _, file := range armFiles(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Empty(t, reserved.FindAllString(string(text), -1), file)
	}
}
