/* Vectors of four floats: what every x86-64 and every 64-bit ARM has. */
#define SET base
#if defined(__x86_64__)
#define SET_NAME sse2
#elif defined(__aarch64__)
#define SET_NAME neon
#else
#define SET_NAME generic
#endif
#define WIDTH 4
#include "kernels.h"
