/* One float at a time: for hidden sizes below four, and where there are no vectors. */
#define SET scalar
#define SET_NAME scalar
#define WIDTH 1
#include "kernels.h"
