/* Vectors of WIDTH floats, with GCC's vector extensions: one source for every instruction set.
 *
 * Rows whose length is no multiple of WIDTH are handled without masks: the last vector starts
 * WIDTH before the end and overlaps the one before it, so the same lanes are computed twice
 * and to the same bits. A row must therefore have at least WIDTH floats.
 */
#define INLINE static inline __attribute__((always_inline))

#if WIDTH == 1
typedef float vector;
typedef float loose_vector;
INLINE vector choose(int condition, vector yes, vector no) { return condition ? yes : no; }
#define LANE(x, lane) (x)
#else
typedef float vector __attribute__((vector_size(4 * WIDTH)));
typedef int32_t lanes __attribute__((vector_size(4 * WIDTH)));
typedef float loose_vector __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
#define LANE(x, lane) (x)[lane]

INLINE vector choose(lanes condition, vector yes, vector no)
{
    return (vector)((condition & (lanes)yes) | (~condition & (lanes)no));
}
#endif

INLINE vector load(const float *from) { return *(const loose_vector *)from; }
INLINE void store(float *to, vector x) { *(loose_vector *)to = x; }
INLINE vector splat(float x) { return x - (vector){0}; }

INLINE float sum_lanes(vector x)
{
    float sum = 0;
    for (int lane = 0; lane < WIDTH; lane++)
        sum += LANE(x, lane);
    return sum;
}

/* The lesser and the greater of two: the second where one is NaN, so that NaN passes through
 * and shows, as it does in PyTorch. Compilers do not find these instructions by themselves. */
#if HAVE_X86_SETS && WIDTH == 16
INLINE vector lesser(vector x, vector y) { return (vector)_mm512_min_ps((__m512)x, (__m512)y); }
INLINE vector greater(vector x, vector y) { return (vector)_mm512_max_ps((__m512)x, (__m512)y); }
#elif HAVE_X86_SETS && WIDTH == 8
INLINE vector lesser(vector x, vector y) { return (vector)_mm256_min_ps((__m256)x, (__m256)y); }
INLINE vector greater(vector x, vector y) { return (vector)_mm256_max_ps((__m256)x, (__m256)y); }
#else
INLINE vector lesser(vector x, vector y) { return choose(x < y, x, y); }
INLINE vector greater(vector x, vector y) { return choose(x > y, x, y); }
#endif

INLINE vector clamp(vector x, float limit)
{
    return greater(splat(-limit), lesser(splat(limit), x));
}

/* Unrolled, so that arrays of vectors are registers. */
#define EVERY(i, count) _Pragma("GCC unroll 16") for (int i = 0; i < (count); i++)

/* The functions below take several vectors, a constant number, side by side: each operation has to
 * wait for the one before it, and meanwhile those of the other vectors begin. The numbers come from
 * scripts/fit_curves.py. */
#define MOST_VECTORS 8

/* x = 2^x, for x from -126 to 126: a polynomial of the part after the point, whose relative error
 * is 9e-8 before rounding, times a power with a whole exponent. */
INLINE void raise_two(int count, vector *x)
{
#if WIDTH == 1
    EVERY(i, count)
        x[i] = exp2f(x[i]);
#else
    vector whole[MOST_VECTORS], power[MOST_VECTORS];
    lanes exponent[MOST_VECTORS];
    EVERY(i, count) {
#if HAVE_X86_SETS && WIDTH == 16
        whole[i] = (vector)_mm512_roundscale_ps((__m512)x[i], _MM_FROUND_TO_NEAREST_INT);
        (void)exponent;
#else
        /* 1.5 * 2^23, so that the last bits are the whole part. */
        const vector shifted = x[i] + 12582912.0f;
        whole[i] = shifted - 12582912.0f;
        exponent[i] = ((lanes)shifted << 23) + 0x3f800000;
#endif
    }
    EVERY(i, count)
        x[i] -= whole[i];
    EVERY(i, count)
        power[i] = 1.326472719e-03f * x[i] + 9.671512640e-03f;
    EVERY(i, count)
        power[i] = power[i] * x[i] + 5.550733743e-02f;
    EVERY(i, count)
        power[i] = power[i] * x[i] + 2.402224209e-01f;
    EVERY(i, count)
        power[i] = power[i] * x[i] + 6.931469776e-01f;
    EVERY(i, count) {
        power[i] = power[i] * x[i] + 1.0f;
#if HAVE_X86_SETS && WIDTH == 16
        x[i] = (vector)_mm512_scalef_ps((__m512)power[i], (__m512)whole[i]);
#else
        x[i] = power[i] * (vector)exponent[i];
#endif
    }
#endif
}

/* x = 1 + exp(-x), one over the sigmoid; so limited that two can be multiplied. */
INLINE void invert_sigmoids(int count, vector *x)
{
    EVERY(i, count)
        x[i] = clamp(x[i], 40.0f) * -1.442695041f;
    raise_two(count, x);
    EVERY(i, count)
        x[i] += 1.0f;
}

/* x = tanh(x), as x P(x^2) / Q(x^2), fitted to the least relative error on [-7.9, 7.9], where tanh
 * reaches one to single precision; rounding included the error is below 4e-7. */
INLINE void take_tanh(int count, vector *x)
{
    vector y[MOST_VECTORS], p[MOST_VECTORS], q[MOST_VECTORS];
    EVERY(i, count) {
        x[i] = clamp(x[i], 7.9f);
        y[i] = x[i] * x[i];
    }
    EVERY(i, count) {
        p[i] = 1.542795511e-08f * y[i] + 2.202323269e-05f;
        q[i] = 8.598772964e-07f * y[i] + 3.423649329e-04f;
    }
    EVERY(i, count) {
        p[i] = p[i] * y[i] + 3.578991282e-03f;
        q[i] = q[i] * y[i] + 2.619223513e-02f;
    }
    EVERY(i, count) {
        p[i] = p[i] * y[i] + 1.345061995e-01f;
        q[i] = q[i] * y[i] + 4.678394795e-01f;
    }
    EVERY(i, count) {
        p[i] = p[i] * y[i] + 9.999999943e-01f;
        q[i] = q[i] * y[i] + 1.0f;
    }
    EVERY(i, count)
        x[i] = x[i] * p[i] / q[i];
}

INLINE vector tanh_of(vector x)
{
    take_tanh(1, &x);
    return x;
}

INLINE vector sigmoid_of(vector x)
{
    invert_sigmoids(1, &x);
    return 1.0f / x;
}

/* The sigmoids of the first half of x and of the second. Division is the slowest operation there
 * is: two sigmoids share one. */
INLINE void take_sigmoids(int half, vector *x)
{
    vector both[MOST_VECTORS / 2];
    invert_sigmoids(2 * half, x);
    EVERY(i, half)
        both[i] = 1.0f / (x[i] * x[half + i]);
    EVERY(i, half) {
        const vector first = x[half + i] * both[i];
        x[half + i] = x[i] * both[i];
        x[i] = first;
    }
}
