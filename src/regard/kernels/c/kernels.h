/* Everything that is compiled once per instruction set; the file that includes this says
 * SET, its name, and WIDTH, how many floats its vectors hold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"
#if HAVE_X86_SETS
#include <immintrin.h>
#endif
#include "vectors.h"
#include "product.h"
#include "cells.h"
#include "blocks.h"
#include "recurrence.h"
#include "gather.h"
#include "pooling.h"
#include "scoring.h"
#include "lanes.h"
#include "attention.h"
#include "projection.h"
#include "adam.h"
#include "dropout.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define QUOTE_(a) #a
#define QUOTE(a) QUOTE_(a)

const struct instruction_set JOIN(instructions_, SET) = {
    .name = QUOTE(SET_NAME),
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
