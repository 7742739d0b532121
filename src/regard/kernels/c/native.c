/* What Python calls: the choice of a version, and the small jobs that need none.
 *
 * The library is loaded with ctypes, which lets other Python threads run during a call. It
 * includes no header of Python's, so one build serves every version of it. */
#include <string.h>

#include "native.h"

static const struct instruction_set *const sets[] = {
    &instructions_scalar,
    &instructions_base,
#if HAVE_X86_SETS
    &instructions_avx2,
    &instructions_avx512,
#endif
};

int64_t regard_interface(void) { return INTERFACE; }

int64_t regard_instructions_count(void) { return sizeof sets / sizeof *sets; }

const char *regard_instructions_name(int64_t set) { return sets[set]->name; }

int64_t regard_instructions_width(int64_t set) { return sets[set]->width; }

/* Whether this processor has the instructions of a set. */
int regard_instructions_works(int64_t set)
{
#if HAVE_X86_SETS
    __builtin_cpu_init();
    if (sets[set] == &instructions_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi2");
    if (sets[set] == &instructions_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("bmi2");
#endif
    return set < regard_instructions_count();
}

int regard_forward(int64_t set, struct recurrence_job *job) { return sets[set]->forward(job); }

int regard_backward(int64_t set, struct recurrence_job *job) { return sets[set]->backward(job); }

int regard_gather(int64_t set, struct gather_job *job) { return sets[set]->gather(job); }

int regard_attend(int64_t set, struct attend_job *job) { return sets[set]->attend(job); }

int regard_project(int64_t set, struct project_job *job) { return sets[set]->project(job); }

int regard_move(int64_t set, struct move_job *job) { return sets[set]->move(job); }

int regard_drop(int64_t set, struct drop_job *job) { return sets[set]->drop(job); }

int regard_pool(int64_t set, struct pool_job *job) { return sets[set]->pool(job); }

int regard_pool_back(int64_t set, struct pool_job *job) { return sets[set]->pool_back(job); }

int regard_pool_context(int64_t set, struct score_job *job)
{
    return sets[set]->pool_context(job);
}

int regard_pool_context_back(int64_t set, struct score_job *job)
{
    return sets[set]->pool_context_back(job);
}

/* What each thread of a team runs; see Library.run in native.py. */
void regard_work(struct call *call)
{
    const int failure = call->kernel(call->set, call->job);
    __atomic_fetch_or(&call->failures, failure, __ATOMIC_RELAXED);
}

/* Add the sums of all shares to those of the first, one after the other. */
int regard_add_shares(float *sums, int64_t share_count, int64_t size)
{
    for (int64_t share = 1; share < share_count; share++)
        for (int64_t at = 0; at < size; at++)
            sums[at] += sums[share * size + at];
    return DONE;
}

/* A wrong index must become an error in Python, not a read from anywhere. */
int regard_check_index(const int64_t *index, int64_t item_count, int64_t distinct_count)
{
    for (int64_t item = 0; item < item_count; item++)
        if (index[item] < 0 || index[item] >= distinct_count)
            return OUT_OF_RANGE;
    return DONE;
}

/* Order the items by the row they read, in one count and one pass; firsts, (distinct + 1),
 * holds zeros before, and afterwards where the items of each row begin. */
int regard_group_items(const int64_t *index, int64_t item_count, int64_t distinct_count,
                       int64_t *item_order, int64_t *firsts)
{
    for (int64_t item = 0; item < item_count; item++)
        firsts[index[item] + 1]++;
    for (int64_t row = 0; row < distinct_count; row++)
        firsts[row + 1] += firsts[row];
    /* Filling moves each beginning to its end, which is the beginning of the next. */
    for (int64_t item = 0; item < item_count; item++)
        item_order[firsts[index[item]]++] = item;
    memmove(firsts + 1, firsts, sizeof *firsts * distinct_count);
    firsts[0] = 0;
    return DONE;
}

/* Find the ids that occur, ascending, and which of them each item is; return how many there are,
 * or -1 where an id is none from 0 to limit - 1. marks, (limit / 64 + 1), holds zeros before;
 * ranks, (limit), holds anything: only what was written is read. */
int64_t regard_find_distinct(const int64_t *ids, int64_t item_count, int64_t limit,
                             uint64_t *marks, int32_t *ranks, int64_t *distinct, int64_t *index)
{
    for (int64_t item = 0; item < item_count; item++) {
        if (ids[item] < 0 || ids[item] >= limit)
            return -1;
        marks[ids[item] / 64] |= (uint64_t)1 << ids[item] % 64;
    }
    int64_t count = 0;
    for (int64_t word = 0; word * 64 < limit; word++)
        for (uint64_t left = marks[word]; left; left &= left - 1) {
            distinct[count] = word * 64 + __builtin_ctzll(left);
            ranks[distinct[count]] = (int32_t)count;
            count++;
        }
    for (int64_t item = 0; item < item_count; item++)
        index[item] = ranks[ids[item]];
    return count;
}
