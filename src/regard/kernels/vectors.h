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
#if HAVE_X86_LEVELS && WIDTH == 16
INLINE vector lesser(vector x, vector y) { return (vector)_mm512_min_ps((__m512)x, (__m512)y); }
INLINE vector greater(vector x, vector y) { return (vector)_mm512_max_ps((__m512)x, (__m512)y); }
#elif HAVE_X86_LEVELS && WIDTH == 8
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

/* A fraction whose division is left to the caller, who can share it between two. */
struct fraction {
    vector above, below;
};

/* x P(x^2) / Q(x^2), fitted to the least relative error on [-7.9, 7.9], where tanh reaches one
 * to single precision; rounding included the error is below 4e-7. scripts/fit_tanh.py makes
 * the numbers; those of the sigmoid are the same for x / 2. */
INLINE struct fraction tanh_fraction(vector x)
{
    x = clamp(x, 7.9f);
    vector y = x * x;
    vector p = ((1.542795511e-08f * y + 2.202323269e-05f) * y + 3.578991282e-03f) * y;
    vector q = ((8.598772964e-07f * y + 3.423649329e-04f) * y + 2.619223513e-02f) * y;
    p = (p + 1.345061995e-01f) * y + 9.999999943e-01f;
    q = (q + 4.678394795e-01f) * y + 1.0f;
    return (struct fraction){x * p, q};
}

INLINE struct fraction sigmoid_fraction(vector x) /* without its half */
{
    x = clamp(x, 15.8f);
    vector y = x * x;
    vector p = ((1.506636242e-11f * y + 8.602825271e-08f) * y + 5.592173879e-05f) * y;
    vector q = ((3.358895689e-09f * y + 5.349452077e-06f) * y + 1.637014695e-03f) * y;
    p = (p + 8.406637468e-03f) * y + 2.499999986e-01f;
    q = (q + 1.169598699e-01f) * y + 1.0f;
    return (struct fraction){x * p, q};
}

INLINE vector tanh_of(vector x)
{
    struct fraction f = tanh_fraction(x);
    return f.above / f.below;
}

INLINE vector sigmoid_of(vector x)
{
    struct fraction f = sigmoid_fraction(x);
    return f.above / f.below + 0.5f;
}

/* Division is the slowest operation there is: two sigmoids share one. */
INLINE void two_sigmoids(vector *x, vector *y)
{
    struct fraction f = sigmoid_fraction(*x), g = sigmoid_fraction(*y);
    vector inverse = 1.0f / (f.below * g.below);
    *x = f.above * g.below * inverse + 0.5f;
    *y = g.above * f.below * inverse + 0.5f;
}
