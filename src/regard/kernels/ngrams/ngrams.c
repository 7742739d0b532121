/* The weighted n-grams of documents, as models/ngrams.py defines them. All memory is Python's. */
#include <math.h>
#include <string.h>

#include "../c/native.h"
#include "ngrams.h"

int64_t regard_ngrams_interface(void) { return NGRAMS_INTERFACE; }

static uint64_t place_of(const struct ngram_table *table, uint64_t key)
{
    return (key * 0x9E3779B97F4A7C15u) >> table->shift;
}

/* The number of a feature, or -1. */
static int32_t feature_of(const struct ngram_table *table, uint64_t key)
{
    const uint64_t last = ((uint64_t)1 << (64 - table->shift)) - 1;
    for (uint64_t at = place_of(table, key);; at = (at + 1) & last) {
        if (table->slots[at].key == key)
            return (int32_t)table->slots[at].feature;
        if (!table->slots[at].key)
            return -1;
    }
}

static int32_t single_of(const struct ngram_table *table, int64_t id)
{
    return id >= 0 && id < table->single_count ? table->singles[id] : -1;
}

/* Enter the keys into slots and singles, which hold zeros and -1. Say whether with each n-gram the
 * table holds those inside it, so that a longer one need not be looked for without them. */
int regard_enter_ngrams(struct ngram_table *table)
{
    const uint64_t last = ((uint64_t)1 << (64 - table->shift)) - 1, mask = (1u << ID_BITS) - 1;
    int64_t feature = 0;
    for (; feature < table->count && table->keys[feature] <= mask; feature++)
        if (table->keys[feature] < (uint64_t)table->single_count)
            table->singles[table->keys[feature]] = (int32_t)feature;
    for (int64_t longer = feature; longer < table->count; longer++) {
        uint64_t at = place_of(table, table->keys[longer]);
        while (table->slots[at].key)
            at = (at + 1) & last;
        table->slots[at] = (struct ngram_slot){table->keys[longer], (uint64_t)longer};
    }
    table->is_closed = 1;
    for (; feature < table->count && table->is_closed; feature++) {
        const uint64_t key = table->keys[feature], head = key >> ID_BITS;
        if (head <= mask)
            table->is_closed = single_of(table, (int64_t)head) >= 0 &&
                               single_of(table, (int64_t)(key & mask)) >= 0;
        else
            table->is_closed = feature_of(table, head) >= 0 &&
                               feature_of(table, key & (((uint64_t)1 << 2 * ID_BITS) - 1)) >= 0;
    }
    return DONE;
}

/* Words that are looked up together: while one waits for memory, others are asked for. */
#define TOGETHER 32

/* Note the features that end at some words of a sentence; the words before are there too. */
static int64_t find_some(const struct ngram_job *job, const int64_t *ids, int64_t first,
                         int64_t count, int32_t *hits)
{
    const struct ngram_table *table = job->table;
    const int64_t ceiling = (int64_t)1 << ID_BITS;
    uint64_t pairs[TOGETHER], triples[TOGETHER];
    int pair_hit[TOGETHER + 1];
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t id = ids[first + i], before = first + i ? ids[first + i - 1] : 0;
        const int32_t single = single_of(table, id);
        if (single >= 0)
            hits[found++] = single;
        const int is_known = id > UNKNOWN_ID && id < ceiling && before > UNKNOWN_ID &&
                             before < ceiling && table->longest > 1;
        const int is_worth = !table->is_closed || (single >= 0 && single_of(table, before) >= 0);
        pairs[i] = is_known && is_worth ? (uint64_t)before << ID_BITS | (uint64_t)id : 0;
        if (pairs[i])
            __builtin_prefetch(table->slots + place_of(table, pairs[i]));
    }
    /* Whether the pair before the first is a feature; found again, since there is one in 32. */
    pair_hit[0] = 1;
    if (table->is_closed && first > 1) {
        const int64_t id = ids[first - 1], before = ids[first - 2];
        const int is_known =
            id > UNKNOWN_ID && id < ceiling && before > UNKNOWN_ID && before < ceiling;
        pair_hit[0] =
            is_known && feature_of(table, (uint64_t)before << ID_BITS | (uint64_t)id) >= 0;
    }
    for (int64_t i = 0; i < count; i++) {
        const int32_t pair = pairs[i] ? feature_of(table, pairs[i]) : -1;
        if (pair >= 0)
            hits[found++] = pair;
        pair_hit[i + 1] = pair >= 0;
        const int64_t head = first + i > 1 ? ids[first + i - 2] : 0;
        const int is_known = pairs[i] && head > UNKNOWN_ID && head < ceiling && table->longest > 2;
        const int is_worth = !table->is_closed || (pair_hit[i] && pair_hit[i + 1]);
        triples[i] = is_known && is_worth ? (uint64_t)head << 2 * ID_BITS | pairs[i] : 0;
        if (triples[i])
            __builtin_prefetch(table->slots + place_of(table, triples[i]));
    }
    for (int64_t i = 0; i < count; i++) {
        const int32_t triple = triples[i] ? feature_of(table, triples[i]) : -1;
        if (triple >= 0)
            hits[found++] = triple;
    }
    return found;
}

#define DIGIT 11 /* bits that are sorted by at once */
#define FEW 32   /* numbers that are sorted one by one */

/* Sort numbers that are not negative and below limit; room takes as many. */
static void sort_numbers(int32_t *numbers, int64_t count, int64_t limit, int32_t *room)
{
    if (count < FEW) {
        for (int64_t at = 1; at < count; at++) {
            const int32_t number = numbers[at];
            int64_t to = at;
            for (; to && numbers[to - 1] > number; to--)
                numbers[to] = numbers[to - 1];
            numbers[to] = number;
        }
        return;
    }
    int32_t *from = numbers, *to = room;
    for (int shift = 0; limit >> shift; shift += DIGIT) {
        int64_t places[1 << DIGIT] = {0}, place = 0;
        for (int64_t at = 0; at < count; at++)
            places[(from[at] >> shift) & ((1 << DIGIT) - 1)]++;
        for (int digit = 0; digit < 1 << DIGIT; digit++) {
            const int64_t size = places[digit];
            places[digit] = place;
            place += size;
        }
        for (int64_t at = 0; at < count; at++)
            to[places[(from[at] >> shift) & ((1 << DIGIT) - 1)]++] = from[at];
        int32_t *const swapped = from;
        from = to;
        to = swapped;
    }
    if (from != numbers)
        memcpy(numbers, from, sizeof *numbers * (size_t)count);
}

#define AHEAD 8 /* so many features on, memory is asked for */

/* Add up the weights of a document's features, times their values. */
static void weigh(const struct ngram_job *job, const int32_t *hits, int64_t count, double *sums)
{
    const int64_t class_count = job->class_count;
    double squares = 0;
    for (int64_t at = 0, next; at < count; at = next) {
        const int64_t later = at + AHEAD < count ? hits[at + AHEAD] : hits[at];
        __builtin_prefetch(job->table->rarity + later);
        __builtin_prefetch(job->weights + later * class_count);
        for (next = at + 1; next < count && hits[next] == hits[at];)
            next++;
        const double times = next - at > 1 ? 1 + log((double)(next - at)) : 1;
        const double value = times * (double)job->table->rarity[hits[at]];
        const float *weights = job->weights + hits[at] * class_count;
        squares += value * value;
        for (int64_t number = 0; number < class_count; number++)
            sums[number] += value * (double)weights[number];
    }
    const double norm = squares > 0 ? sqrt(squares) : 1;
    for (int64_t number = 0; number < class_count; number++)
        sums[number] /= norm;
}

/* Each document is a task. */
int regard_weigh_ngrams(int64_t set, struct ngram_job *job)
{
    (void)set;
    for (int64_t task; (task = take_task(&job->next_task)) < job->document_count;) {
        const int64_t *ids = job->ids + job->token_starts[task];
        int32_t *hits = job->hits + 2 * job->token_starts[task] * job->table->longest;
        int64_t found = 0;
        for (int64_t sentence = job->sentence_starts[task];
             sentence < job->sentence_starts[task + 1]; sentence++) {
            const int64_t length = job->sentence_lengths[sentence];
            for (int64_t first = 0, some; first < length; first += some) {
                some = length - first < TOGETHER ? length - first : TOGETHER;
                found += find_some(job, ids, first, some, hits + found);
            }
            ids += length;
        }
        sort_numbers(hits, found, job->table->count, hits + found);
        weigh(job, hits, found, job->sums + task * job->class_count);
    }
    return DONE;
}
