/* One float at a time: for hidden sizes below four, and where there are no vectors. */
#define LEVEL scalar
#define LEVEL_NAME scalar
#define WIDTH 1
#include "level.h"
