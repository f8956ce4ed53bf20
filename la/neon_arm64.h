// The assembler lacks some vector instructions; the macros here give their
// encodings. Operands are register numbers in the assembler's order, the
// destination last, and a test decodes every one of them.

#define VFADDD(m, n, d) WORD $(0x4e60d400 | (m)<<16 | (n)<<5 | (d)) // fadd vd.2d, vn.2d, vm.2d
#define VFSUBD(m, n, d) WORD $(0x4ee0d400 | (m)<<16 | (n)<<5 | (d)) // fsub vd.2d, vn.2d, vm.2d
#define VFMULD(m, n, d) WORD $(0x6e60dc00 | (m)<<16 | (n)<<5 | (d)) // fmul vd.2d, vn.2d, vm.2d
#define VFMIND(m, n, d) WORD $(0x4ee0f400 | (m)<<16 | (n)<<5 | (d)) // fmin vd.2d, vn.2d, vm.2d
#define VFMAXD(m, n, d) WORD $(0x4e60f400 | (m)<<16 | (n)<<5 | (d)) // fmax vd.2d, vn.2d, vm.2d
#define VFABDD(m, n, d) WORD $(0x6ee0d400 | (m)<<16 | (n)<<5 | (d)) // fabd vd.2d, vn.2d, vm.2d
#define VFABDS(m, n, d) WORD $(0x6ea0d400 | (m)<<16 | (n)<<5 | (d)) // fabd vd.4s, vn.4s, vm.4s
#define VFADDPD(n, d) WORD $(0x7e70d800 | (n)<<5 | (d)) // faddp dd, vn.2d
#define VFMULD0(m, n, d) WORD $(0x4fc09000 | (m)<<16 | (n)<<5 | (d)) // fmul vd.2d, vn.2d, vm.d[0]
#define VFMULD1(m, n, d) WORD $(0x4fc09800 | (m)<<16 | (n)<<5 | (d)) // fmul vd.2d, vn.2d, vm.d[1]
#define VFMLAD0(m, n, d) WORD $(0x4fc01000 | (m)<<16 | (n)<<5 | (d)) // fmla vd.2d, vn.2d, vm.d[0]
#define VFMLAD1(m, n, d) WORD $(0x4fc01800 | (m)<<16 | (n)<<5 | (d)) // fmla vd.2d, vn.2d, vm.d[1]
#define VFMLSD0(m, n, d) WORD $(0x4fc05000 | (m)<<16 | (n)<<5 | (d)) // fmls vd.2d, vn.2d, vm.d[0]
#define VFMLSD1(m, n, d) WORD $(0x4fc05800 | (m)<<16 | (n)<<5 | (d)) // fmls vd.2d, vn.2d, vm.d[1]

#define VFADDS(m, n, d) WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d)) // fadd vd.4s, vn.4s, vm.4s
#define VFSUBS(m, n, d) WORD $(0x4ea0d400 | (m)<<16 | (n)<<5 | (d)) // fsub vd.4s, vn.4s, vm.4s
#define VFMULS(m, n, d) WORD $(0x6e20dc00 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.4s
#define VFMINS(m, n, d) WORD $(0x4ea0f400 | (m)<<16 | (n)<<5 | (d)) // fmin vd.4s, vn.4s, vm.4s
#define VFMAXS(m, n, d) WORD $(0x4e20f400 | (m)<<16 | (n)<<5 | (d)) // fmax vd.4s, vn.4s, vm.4s
#define VFADDPS(n, d) WORD $(0x7e30d800 | (n)<<5 | (d)) // faddp sd, vn.2s
#define VFMULS0(m, n, d) WORD $(0x4f809000 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.s[0]
#define VFMULS1(m, n, d) WORD $(0x4fa09000 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.s[1]
#define VFMULS2(m, n, d) WORD $(0x4f809800 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.s[2]
#define VFMULS3(m, n, d) WORD $(0x4fa09800 | (m)<<16 | (n)<<5 | (d)) // fmul vd.4s, vn.4s, vm.s[3]
#define VFMLAS0(m, n, d) WORD $(0x4f801000 | (m)<<16 | (n)<<5 | (d)) // fmla vd.4s, vn.4s, vm.s[0]
#define VFMLAS1(m, n, d) WORD $(0x4fa01000 | (m)<<16 | (n)<<5 | (d)) // fmla vd.4s, vn.4s, vm.s[1]
#define VFMLAS2(m, n, d) WORD $(0x4f801800 | (m)<<16 | (n)<<5 | (d)) // fmla vd.4s, vn.4s, vm.s[2]
#define VFMLAS3(m, n, d) WORD $(0x4fa01800 | (m)<<16 | (n)<<5 | (d)) // fmla vd.4s, vn.4s, vm.s[3]
#define VFMLSS0(m, n, d) WORD $(0x4f805000 | (m)<<16 | (n)<<5 | (d)) // fmls vd.4s, vn.4s, vm.s[0]
#define VFMLSS1(m, n, d) WORD $(0x4fa05000 | (m)<<16 | (n)<<5 | (d)) // fmls vd.4s, vn.4s, vm.s[1]
#define VFMLSS2(m, n, d) WORD $(0x4f805800 | (m)<<16 | (n)<<5 | (d)) // fmls vd.4s, vn.4s, vm.s[2]
#define VFMLSS3(m, n, d) WORD $(0x4fa05800 | (m)<<16 | (n)<<5 | (d)) // fmls vd.4s, vn.4s, vm.s[3]

#define VFSQRTD(n, d) WORD $(0x6ee1f800 | (n)<<5 | (d)) // fsqrt vd.2d, vn.2d
#define VFSQRTS(n, d) WORD $(0x6ea1f800 | (n)<<5 | (d)) // fsqrt vd.4s, vn.4s
#define VFNEGD(n, d) WORD $(0x6ee0f800 | (n)<<5 | (d)) // fneg vd.2d, vn.2d
#define VFNEGS(n, d) WORD $(0x6ea0f800 | (n)<<5 | (d)) // fneg vd.4s, vn.4s

#define VFCVTL(n, d) WORD $(0x0e617800 | (n)<<5 | (d)) // fcvtl vd.2d, vn.2s
#define VFCVTL2(n, d) WORD $(0x4e617800 | (n)<<5 | (d)) // fcvtl2 vd.2d, vn.4s

// ZERO4 clears four registers.
#define ZERO4(a, b, c, d) \
	VMOVI $0, a.B16; \
	VMOVI $0, b.B16; \
	VMOVI $0, c.B16; \
	VMOVI $0, d.B16

// ZERO24 clears the tile of the product kernels.
#define ZERO24 \
	ZERO4(V0, V1, V2, V3); \
	ZERO4(V4, V5, V6, V7); \
	ZERO4(V8, V9, V10, V11); \
	ZERO4(V12, V13, V14, V15); \
	ZERO4(V16, V17, V18, V19); \
	ZERO4(V20, V21, V22, V23)
