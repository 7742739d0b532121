/* Dropout: a share of the numbers becomes zero; nn/dropout.py says which.
 *
 * What is drawn for a number depends on the seed and on where it stands, and on nothing drawn
 * before (Philox with ten rounds: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2,
 * 3"). So any thread can draw for any part, and the way back draws the same again. */

/* A counter gives four words. Sixteen counters make a group of numbers, which takes their first
 * words, then their second ones and so on: vectors are stored as they come. */
#define COUNTERS 16
#define GROUP (4 * COUNTERS)

/* Groups that make a task. */
#define DRAWN_GROUPS 64

/* Words of 32 bits stand in the lower halves of lanes of 64, where they are multiplied. What
 * the upper halves hold does not matter. */
#if WIDTH == 1
#define SIDE 1
typedef uint64_t wide;
typedef uint32_t narrow;
#define NARROWED(x) ((narrow)(x))
#else
#define SIDE (WIDTH / 2)
typedef uint64_t wide __attribute__((vector_size(8 * SIDE)));
typedef uint32_t narrow __attribute__((vector_size(4 * SIDE), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 9
#define NARROWED(x) __builtin_convertvector(x, narrow)
#else /* GCC 8, as on RHEL 8, has no such builtin */
INLINE narrow narrowed(wide x)
{
    narrow y;
    for (int lane = 0; lane < SIDE; lane++)
        y[lane] = (uint32_t)x[lane];
    return y;
}
#define NARROWED(x) narrowed(x)
#endif
#endif

/* Compilers do not find this instruction by themselves. */
#if HAVE_X86_SETS && WIDTH == 16
INLINE wide times(wide x, wide y) { return (wide)_mm512_mul_epu32((__m512i)x, (__m512i)y); }
#elif HAVE_X86_SETS && WIDTH == 8
INLINE wide times(wide x, wide y) { return (wide)_mm256_mul_epu32((__m256i)x, (__m256i)y); }
#else
INLINE wide times(wide x, wide y) { return (x & 0xFFFFFFFF) * y; }
#endif

INLINE wide everywhere(uint64_t x) { return x + (wide){0}; }

/* The words of some counters that follow each other. */
INLINE void draw_words(uint64_t seed, wide counter, uint32_t *drawn)
{
    wide word[4] = {counter, counter >> 32, everywhere(0), everywhere(0)};
    wide first_key = everywhere(seed), second_key = everywhere(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const wide first = times(word[0], everywhere(0xD2511F53));
        const wide second = times(word[2], everywhere(0xCD9E8D57));
        word[0] = (second >> 32) ^ word[1] ^ first_key;
        word[1] = second;
        word[2] = (first >> 32) ^ word[3] ^ second_key;
        word[3] = first;
        first_key += 0x9E3779B9;
        second_key += 0xBB67AE85;
    }
    for (int n = 0; n < 4; n++)
        *(narrow *)(drawn + n * COUNTERS) = NARROWED(word[n]);
}

INLINE void draw_group(uint64_t seed, int64_t group, uint32_t *drawn)
{
    static const uint64_t places[] = {0, 1, 2, 3, 4, 5, 6, 7};
    wide counter;
    memcpy(&counter, places, sizeof counter);
    counter += (uint64_t)group * COUNTERS;
    for (int side = 0; side < COUNTERS; side += SIDE)
        draw_words(seed, counter + side, drawn + side);
}

static void drop_group(const struct drop_job *job, int64_t group)
{
    uint32_t drawn[GROUP];
    draw_group((uint64_t)job->seed, group, drawn);
    const uint32_t threshold = (uint32_t)job->threshold;
    const int64_t first = group * GROUP, left = job->count - first;
    const float *restrict values = job->values + first, scale = job->scale;
    float *restrict kept = job->kept + first;
    if (left >= GROUP)
        for (int64_t n = 0; n < GROUP; n++)
            kept[n] = drawn[n] < threshold ? 0.0f : values[n] * scale;
    else
        for (int64_t n = 0; n < left; n++)
            kept[n] = drawn[n] < threshold ? 0.0f : values[n] * scale;
}

static int drop(struct drop_job *job)
{
    const int64_t count = (job->count + GROUP - 1) / GROUP;
    for (int64_t first; (first = take_task(&job->next_task) * DRAWN_GROUPS) < count;) {
        const int64_t end = count - first < DRAWN_GROUPS ? count : first + DRAWN_GROUPS;
        for (int64_t group = first; group < end; group++)
            drop_group(job, group);
    }
    return DONE;
}
