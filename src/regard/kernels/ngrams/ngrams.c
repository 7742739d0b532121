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

/* Features where they occur. */
struct ngram_hits {
    int32_t *features;
    int32_t *ends; /* the last word of each, with its size in SIZE_BITS; NULL: nobody asks */
    int64_t count;
};

#define SIZE_BITS 2

static void note_hit(struct ngram_hits *hits, int32_t feature, int64_t end, int32_t size)
{
    hits->features[hits->count] = feature;
    if (hits->ends)
        hits->ends[hits->count] = (int32_t)(end << SIZE_BITS) | size;
    hits->count++;
}

/* Note the features that end at some words of a sentence; the words before are there too. The first
 * word of the sentence is called start. */
static void find_some(const struct ngram_table *table, const int64_t *ids, int64_t first,
                      int64_t count, int64_t start, struct ngram_hits *hits)
{
    const int64_t ceiling = (int64_t)1 << ID_BITS;
    uint64_t pairs[TOGETHER], triples[TOGETHER];
    int pair_hit[TOGETHER + 1];
    for (int64_t i = 0; i < count; i++) {
        const int64_t id = ids[first + i], before = first + i ? ids[first + i - 1] : 0;
        const int32_t single = single_of(table, id);
        if (single >= 0)
            note_hit(hits, single, start + first + i, 1);
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
            note_hit(hits, pair, start + first + i, 2);
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
            note_hit(hits, triple, start + first + i, 3);
    }
}

/* Note the features of a sentence, whose first word is called start. */
static void find_all(const struct ngram_table *table, const int64_t *ids, int64_t length,
                     int64_t start, struct ngram_hits *hits)
{
    for (int64_t first = 0, some; first < length; first += some) {
        some = length - first < TOGETHER ? length - first : TOGETHER;
        find_some(table, ids, first, some, start, hits);
    }
}

/* Note the features of the sentences from one on until another, which lie end to end. */
static void find_document(const struct ngram_table *table, const int64_t *ids,
                          const int64_t *lengths, const int64_t *limit, struct ngram_hits *hits)
{
    for (int64_t start = 0; lengths < limit; start += *lengths++)
        find_all(table, ids + start, *lengths, start, hits);
}

#define DIGIT 11 /* bits that are sorted by at once, at most */
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
    int bits = 0;
    while (limit >> bits)
        bits++;
    /* As few rounds as with the largest digits, of digits that are all the same: a document has few
     * numbers, and going through the places of a digit takes as long as going through them. */
    const int rounds = (bits + DIGIT - 1) / DIGIT, width = (bits + rounds - 1) / rounds;
    const int32_t mask = (1 << width) - 1;
    int32_t *from = numbers, *to = room;
    for (int shift = 0; shift < bits; shift += width) {
        int32_t places[1 << DIGIT], place = 0;
        memset(places, 0, sizeof *places * ((size_t)mask + 1));
        for (int64_t at = 0; at < count; at++)
            places[(from[at] >> shift) & mask]++;
        for (int32_t digit = 0; digit <= mask; digit++) {
            const int32_t size = places[digit];
            places[digit] = place;
            place += size;
        }
        for (int64_t at = 0; at < count; at++)
            to[places[(from[at] >> shift) & mask]++] = from[at];
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
        const int64_t begin = job->token_starts[task];
        struct ngram_hits hits = {job->hits + 2 * begin * job->table->longest, NULL, 0};
        const int64_t *const lengths = job->sentence_lengths, *starts = job->sentence_starts + task;
        find_document(job->table, job->ids + begin, lengths + starts[0], lengths + starts[1],
                      &hits);
        sort_numbers(hits.features, hits.count, job->table->count, hits.features + hits.count);
        weigh(job, hits.features, hits.count, job->sums + task * job->class_count);
    }
    return DONE;
}

/* Make each of the rising features stand once, beside what one occurrence of it is worth before
 * the values are divided by their length. */
static int64_t value_once(const struct ngram_table *table, int32_t *features, int64_t count,
                          double *worth)
{
    int64_t distinct = 0;
    for (int64_t at = 0, next; at < count; at = next) {
        for (next = at + 1; next < count && features[next] == features[at];)
            next++;
        const double times = (double)(next - at);
        features[distinct] = features[at];
        worth[distinct++] = (1 + log(times)) * (double)table->rarity[features[at]] / times;
    }
    return distinct;
}

/* Where a number stands among rising ones; it is one of them. */
static int64_t place_among(const int32_t *numbers, int64_t count, int32_t number)
{
    int64_t low = 0;
    while (count > 1) {
        const int64_t half = count / 2;
        low += numbers[low + half] <= number ? half : 0;
        count -= half;
    }
    return low;
}

/* How much an n-gram at a word counts. */
static double height_at(const struct ngram_shares_job *job, int64_t word)
{
    return job->heights ? job->heights[word] : 1;
}

/* Share out what features say to the words of each occurrence; each document is a task. */
int regard_share_ngrams(int64_t set, struct ngram_shares_job *job)
{
    (void)set;
    const int64_t class_count = job->class_count, longest = job->table->longest;
    for (int64_t task; (task = take_task(&job->next_task)) < job->document_count;) {
        const int64_t begin = job->token_starts[task];
        const int64_t room = (job->token_starts[task + 1] - begin) * longest;
        struct ngram_hits hits = {job->hits + 3 * begin * longest, job->ends + begin * longest, 0};
        const int64_t *const lengths = job->sentence_lengths, *starts = job->sentence_starts + task;
        find_document(job->table, job->ids + begin, lengths + starts[0], lengths + starts[1],
                      &hits);
        int32_t *const sorted = hits.features + room, *const places = sorted + room;
        double *const worth = job->worth + begin * longest;
        double *const totals = job->totals + begin * longest;
        memcpy(sorted, hits.features, sizeof *sorted * (size_t)hits.count);
        sort_numbers(sorted, hits.count, job->table->count, places);
        const int64_t distinct = value_once(job->table, sorted, hits.count, worth);
        memset(totals, 0, sizeof *totals * (size_t)distinct);
        for (int64_t hit = 0; hit < hits.count; hit++) {
            places[hit] = (int32_t)place_among(sorted, distinct, hits.features[hit]);
            totals[places[hit]] += height_at(job, begin + (hits.ends[hit] >> SIZE_BITS));
        }
        double squares = 0;
        for (int64_t at = 0; at < distinct; at++)
            squares += worth[at] * totals[at] * worth[at] * totals[at];
        for (int64_t hit = 0; hit < hits.count; hit++) {
            const int64_t size = hits.ends[hit] & ((1 << SIZE_BITS) - 1);
            const int64_t last = begin + (hits.ends[hit] >> SIZE_BITS);
            const double value =
                worth[places[hit]] * height_at(job, last) / sqrt(squares) / (double)size;
            const float *weights = job->weights + hits.features[hit] * class_count;
            for (int64_t word = last + 1 - size; word <= last; word++)
                for (int64_t number = 0; number < class_count; number++)
                    job->shares[word * class_count + number] += value * (double)weights[number];
        }
    }
    return DONE;
}

#define SENTENCES 64 /* whose features one task finds */

/* Find the features of each sentence; some sentences are a task. */
int regard_find_ngrams(int64_t set, struct ngram_picks_job *job)
{
    (void)set;
    for (int64_t task; (task = take_task(&job->next_task)) * SENTENCES < job->sentence_count;) {
        const int64_t first = task * SENTENCES, left = job->sentence_count - first;
        for (int64_t at = first; at < first + (left < SENTENCES ? left : SENTENCES); at++) {
            const int64_t start = job->starts[at];
            struct ngram_hits hits = {job->hits + start * job->table->longest, NULL, 0};
            find_all(job->table, job->ids + start, job->starts[at + 1] - start, 0, &hits);
            job->hit_counts[at] = (int32_t)hits.count;
        }
    }
    return DONE;
}

/* What one worker knows of the document before it. */
struct tally {
    int32_t *uses;   /* (sentences) */
    int32_t *counts; /* (count), how often each feature occurs */
    double *sums;    /* (class_count), of the weights times the values before they are divided */
    double squares;
    int64_t hit_count;
};

static double times_of(const struct ngram_picks_job *job, int32_t count)
{
    return count < job->times_count ? job->times[count] : 1 + log((double)count);
}

/* Let the features of a sentence occur once more or, with a step of -1, once less. */
static void change(const struct ngram_picks_job *job, struct tally *tally, int64_t sentence,
                   int32_t step)
{
    const int32_t *hits = job->hits + job->starts[sentence] * job->table->longest;
    const int64_t class_count = job->class_count, count = job->hit_counts[sentence];
    for (int64_t at = 0; at < count; at++) {
        const int64_t later = at + AHEAD < count ? hits[at + AHEAD] : hits[at];
        __builtin_prefetch(tally->counts + later);
        __builtin_prefetch(job->table->rarity + later);
        __builtin_prefetch(job->weights + later * class_count);
        int32_t *const found = tally->counts + hits[at];
        const double rarity = (double)job->table->rarity[hits[at]];
        const double before = times_of(job, *found) * rarity;
        *found += step;
        const double after = times_of(job, *found) * rarity;
        const float *weights = job->weights + hits[at] * class_count;
        tally->squares += after * after - before * before;
        for (int64_t number = 0; number < class_count; number++)
            tally->sums[number] += (after - before) * (double)weights[number];
    }
    tally->hit_count += step * count;
}

/* Forget the features of some sentences, which are all there were. */
static void clear(const struct ngram_picks_job *job, struct tally *tally, int64_t first,
                  int64_t last)
{
    for (int64_t at = first; at < last; at++) {
        const int64_t sentence = job->picks[at];
        const int32_t *hits = job->hits + job->starts[sentence] * job->table->longest;
        for (int64_t hit = 0; hit < job->hit_counts[sentence]; hit++)
            tally->counts[hits[hit]] = 0;
    }
    memset(tally->sums, 0, sizeof *tally->sums * (size_t)job->class_count);
    tally->squares = 0;
    tally->hit_count = 0;
}

/* Make a tally of the document whose picks end at middle one of the next, whose picks begin there:
 * of the sentences that only one of them has, or all over where that is less work. */
static void turn(const struct ngram_picks_job *job, struct tally *tally, int64_t first,
                 int64_t middle, int64_t last)
{
    int64_t whole = 0, changed = 0;
    for (int64_t at = first; at < middle; at++)
        tally->uses[job->picks[at]]--;
    for (int64_t at = middle; at < last; at++) {
        whole += job->hit_counts[job->picks[at]];
        tally->uses[job->picks[at]]++;
    }
    for (int64_t at = first; at < last; at++)
        if (tally->uses[job->picks[at]])
            changed += job->hit_counts[job->picks[at]];
    if (changed > whole)
        clear(job, tally, first, middle);
    for (int64_t at = first; at < last; at++) {
        const int64_t sentence = job->picks[at];
        int32_t *const use = tally->uses + sentence;
        if (changed > whole) {
            if (at >= middle)
                change(job, tally, sentence, 1);
            *use = 0;
        }
        for (; *use > 0; --*use)
            change(job, tally, sentence, 1);
        for (; *use < 0; ++*use)
            change(job, tally, sentence, -1);
    }
    if (!tally->hit_count) /* rounding would leave a little */
        clear(job, tally, 0, 0);
}

#define DOCUMENTS 128 /* one after the other, each told by how it differs from the one before */

/* Weigh documents put together from sentences whose features are found; some are a task. */
int regard_weigh_picks(int64_t set, struct ngram_picks_job *job)
{
    (void)set;
    const int64_t worker = take_task(&job->next_worker);
    struct tally tally = {
        .uses = job->uses + worker * job->sentence_count,
        .counts = job->counts + worker * job->table->count,
        .sums = job->totals + worker * job->class_count,
    };
    for (int64_t task; (task = take_task(&job->next_task)) * DOCUMENTS < job->document_count;) {
        const int64_t first = task * DOCUMENTS, left = job->document_count - first;
        const int64_t last = first + (left < DOCUMENTS ? left : DOCUMENTS);
        const int64_t *starts = job->pick_starts;
        clear(job, &tally, 0, 0);
        for (int64_t at = first; at < last; at++) {
            turn(job, &tally, starts[at > first ? at - 1 : at], starts[at], starts[at + 1]);
            const double norm = tally.squares > 0 ? sqrt(tally.squares) : 1;
            for (int64_t number = 0; number < job->class_count; number++)
                job->sums[at * job->class_count + number] = tally.sums[number] / norm;
        }
        clear(job, &tally, starts[last - 1], starts[last]);
    }
    return DONE;
}

/* Weigh one document whose sentences count differently; what is known of another is of no use. */
static void weigh_uneven(const struct ngram_picks_job *job, int64_t document, int32_t *counts,
                         double *height_sums)
{
    const int64_t class_count = job->class_count;
    const int64_t first = job->pick_starts[document], last = job->pick_starts[document + 1];
    double *const sums = job->sums + document * class_count;
    double squares = 0;
    for (int64_t at = first; at < last; at++) {
        const int32_t *hits = job->hits + job->starts[job->picks[at]] * job->table->longest;
        for (int64_t hit = 0; hit < job->hit_counts[job->picks[at]]; hit++) {
            counts[hits[hit]]++;
            height_sums[hits[hit]] += job->heights[at];
        }
    }
    /* Each feature is valued where it is met first, and forgotten. */
    for (int64_t at = first; at < last; at++) {
        const int32_t *hits = job->hits + job->starts[job->picks[at]] * job->table->longest;
        for (int64_t hit = 0; hit < job->hit_counts[job->picks[at]]; hit++) {
            const int32_t feature = hits[hit], count = counts[feature];
            if (!count)
                continue;
            const double value = times_of(job, count) * (double)job->table->rarity[feature] *
                                 height_sums[feature] / (double)count;
            const float *weights = job->weights + (int64_t)feature * class_count;
            squares += value * value;
            for (int64_t number = 0; number < class_count; number++)
                sums[number] += value * (double)weights[number];
            counts[feature] = 0;
            height_sums[feature] = 0;
        }
    }
    for (int64_t number = 0; number < class_count; number++)
        sums[number] /= squares > 0 ? sqrt(squares) : 1;
}

/* Do as regard_weigh_picks where sentences count differently by where they stand. */
int regard_weigh_uneven_picks(int64_t set, struct ngram_picks_job *job)
{
    (void)set;
    const int64_t worker = take_task(&job->next_worker), count = job->table->count;
    for (int64_t task; (task = take_task(&job->next_task)) * DOCUMENTS < job->document_count;) {
        const int64_t first = task * DOCUMENTS, left = job->document_count - first;
        for (int64_t at = first; at < first + (left < DOCUMENTS ? left : DOCUMENTS); at++)
            weigh_uneven(job, at, job->counts + worker * count, job->height_sums + worker * count);
    }
    return DONE;
}
