/* Everything that is compiled once per instruction set; the file that includes this says
 * LEVEL, its name, and WIDTH, how many floats its vectors hold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"
#if HAVE_X86_LEVELS
#include <immintrin.h>
#endif
#include "vectors.h"
#include "turning.h"
#include "product.h"
#include "cells.h"
#include "blocks.h"
#include "recurrence.h"
#include "gathering.h"
#include "pooling.h"
#include "scoring.h"
#include "abreast.h"
#include "attending.h"
#include "projecting.h"
#include "moving.h"
#include "drawing.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define QUOTE_(a) #a
#define QUOTE(a) QUOTE_(a)

const struct level JOIN(level_, LEVEL) = {
    .name = QUOTE(LEVEL_NAME),
    .width = WIDTH,
    .forward = forward,
    .backward = backward,
    .gather = gather,
    .attend = attend,
    .project = project,
    .move = move,
    .drop = drop,
    .pool = pool,
    .pool_back = pool_back,
    .pool_context = pool_context,
    .pool_context_back = pool_context_back,
};
