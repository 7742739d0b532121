/* Vectors of four floats: what every x86-64 and every 64-bit ARM has. */
#define LEVEL base
#if defined(__x86_64__)
#define LEVEL_NAME sse2
#elif defined(__aarch64__)
#define LEVEL_NAME neon
#else
#define LEVEL_NAME generic
#endif
#define WIDTH 4
#include "level.h"
