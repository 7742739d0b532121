/* Vectors of eight floats: x86-64 processors since about 2013. */
#include "native.h"
#if HAVE_X86_LEVELS
#pragma GCC target("avx2,fma,bmi,bmi2")
#define LEVEL avx2
#define LEVEL_NAME avx2
#define WIDTH 8
#include "level.h"
#endif
