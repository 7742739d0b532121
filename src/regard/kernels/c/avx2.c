/* Vectors of eight floats: x86-64 processors since about 2013. */
#include "native.h"
#if HAVE_X86_SETS
#pragma GCC target("avx2,fma,bmi,bmi2")
#define SET avx2
#define SET_NAME avx2
#define WIDTH 8
#include "kernels.h"
#endif
