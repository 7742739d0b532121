/* Vectors of sixteen floats and twice the registers: x86-64 servers since about 2017. */
#include "native.h"
#if HAVE_X86_SETS
#pragma GCC target("avx2,fma,bmi,bmi2,avx512f,avx512vl,avx512dq,avx512bw")
#define SET avx512
#define SET_NAME avx512
#define WIDTH 16
#include "kernels.h"
#endif
