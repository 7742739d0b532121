/* The weighted n-grams of documents, as models/ngrams.py defines them. All memory is Python's. */
#include <math.h>
#include <string.h>

#include "../c/native.h"
#include "ngrams.h"

int64_t regard_ngrams_interface(void) { return NGRAMS_INTERFACE; }

/* The slots where a key lies, unless there are more keys for them than slots. */
static struct ngram_slot *bucket_of(const struct ngram_table *table, uint64_t key)
{
    return table->slots + (key * 0x9E3779B97F4A7C15u >> table->shift) * BUCKET;
}

/* The slot so many on, and after the last the first. */
static struct ngram_slot *slot_after(const struct ngram_table *table, struct ngram_slot *slot,
                                     int64_t steps)
{
    const struct ngram_slot *end = table->slots + ((int64_t)BUCKET << (64 - table->shift));
    return slot + steps < end ? slot + steps : table->slots;
}

/* The feature with a key, or one without a number; the key 0 stands for no n-gram. Whether there is
 * one no processor can foresee, so nothing branches on it but in a bucket that is full. */
static struct ngram_feature feature_of(const struct ngram_table *table, uint64_t key)
{
    struct ngram_feature feature = NO_FEATURE;
    uint64_t found, other;
    memcpy(&found, &feature, sizeof found);
    for (struct ngram_slot *bucket = bucket_of(table, key);;
         bucket = slot_after(table, bucket, BUCKET)) {
        for (int at = 0; at < BUCKET; at++) {
            memcpy(&other, &bucket[at].feature, sizeof other);
            found = bucket[at].key == key ? other : found;
        }
        memcpy(&feature, &found, sizeof found);
        if (feature.number >= 0 || !bucket[BUCKET - 1].key)
            return feature;
    }
}

static struct ngram_feature single_of(const struct ngram_table *table, int64_t id)
{
    return id >= 0 && id < table->single_count ? table->singles[id] : NO_FEATURE;
}

/* Enter the keys into slots and singles, all of which have no number. Say whether with each n-gram
 * the table holds those inside it, so that a longer one need not be looked for without them. */
int regard_enter_ngrams(struct ngram_table *table)
{
    const uint64_t mask = (1u << ID_BITS) - 1;
    int64_t number = 0;
    for (; number < table->count && table->keys[number] <= mask; number++)
        if (table->keys[number] < (uint64_t)table->single_count)
            table->singles[table->keys[number]] =
                (struct ngram_feature){(int32_t)number, table->rarity[number]};
    for (int64_t longer = number; longer < table->count; longer++) {
        struct ngram_slot *slot = bucket_of(table, table->keys[longer]);
        while (slot->key) /* so a bucket is full if its last slot is */
            slot = slot_after(table, slot, 1);
        slot->key = table->keys[longer];
        slot->feature = (struct ngram_feature){(int32_t)longer, table->rarity[longer]};
    }
    table->is_closed = 1;
    for (; number < table->count && table->is_closed; number++) {
        const uint64_t key = table->keys[number], head = key >> ID_BITS;
        if (head <= mask)
            table->is_closed = single_of(table, (int64_t)head).number >= 0 &&
                               single_of(table, (int64_t)(key & mask)).number >= 0;
        else
            table->is_closed =
                feature_of(table, head).number >= 0 &&
                feature_of(table, key & (((uint64_t)1 << 2 * ID_BITS) - 1)).number >= 0;
    }
    return DONE;
}

/* Features where they occur. */
struct ngram_hits {
    struct ngram_feature *features;
    int32_t *ends; /* the last word of each, with its size in SIZE_BITS; NULL: nobody asks */
    int64_t count;
};

#define SIZE_BITS 2

/* Note a feature; one without a number is written down too, and not counted. */
static void note_hit(struct ngram_hits *hits, struct ngram_feature feature, int64_t end,
                     int32_t size)
{
    hits->features[hits->count] = feature;
    if (hits->ends)
        hits->ends[hits->count] = (int32_t)(end << SIZE_BITS) | size;
    hits->count += feature.number >= 0;
}

#define CHUNK 256 /* words that are looked up together: sentences have too few of them */
#define AHEAD 16  /* so many on, memory is asked for: while one waits for it, others do too */

/* A document that is read chunk by chunk. */
struct reading {
    const struct ngram_table *table;
    const int64_t *ids;     /* of all its words */
    const int64_t *lengths; /* of its sentences from the next on */
    int64_t count, done;    /* its words, and how many of them are read */
    int64_t next;           /* the word that begins the next sentence */
    uint64_t word, pair;    /* the last word and the last two, 0 where they are in no feature */
};

static void ask_for(const struct ngram_table *table, const uint64_t *keys, int64_t at,
                    int64_t count)
{
    __builtin_prefetch(bucket_of(table, keys[at < count ? at : count - 1]));
}

/* Note the longer features that end at the next words of a document, and the words: as features or,
 * where ids are asked for, all of them as their ids. */
static void read_chunk(struct reading *reading, struct ngram_hits *words, int by_id,
                       struct ngram_hits *longer)
{
    const struct ngram_table *table = reading->table;
    const int64_t first = reading->done, left = reading->count - first;
    const int64_t count = left < CHUNK ? left : CHUNK, is_closed = table->is_closed;
    uint64_t word = reading->word, pair = reading->pair;
    uint64_t pairs[CHUNK], triples[CHUNK];
    int64_t ends[CHUNK], triple_count = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t id = reading->ids[first + i];
        for (; first + i == reading->next; word = 0)
            reading->next += *reading->lengths++;
        const struct ngram_feature single = single_of(table, id);
        const struct ngram_feature word_itself = {(int32_t)id, 0};
        note_hit(words, by_id ? word_itself : single, first + i, 1);
        const int is_part = is_closed ? single.number >= 0 : id > UNKNOWN_ID && id >> ID_BITS == 0;
        pairs[i] = is_part & (word != 0) ? word << ID_BITS | (uint64_t)id : 0;
        word = is_part ? (uint64_t)id : 0;
    }
    reading->done += count;
    reading->word = word;
    if (table->longest < 2)
        return;
    for (int64_t i = 0; i < AHEAD; i++)
        ask_for(table, pairs, i, count);
    for (int64_t i = 0; i < count; i++) {
        ask_for(table, pairs, i + AHEAD, count);
        const struct ngram_feature found = feature_of(table, pairs[i]);
        note_hit(longer, found, first + i, 2);
        const int is_part = is_closed ? found.number >= 0 : pairs[i] != 0;
        triples[triple_count] = pair << ID_BITS | (pairs[i] & ((1u << ID_BITS) - 1));
        ends[triple_count] = first + i;
        triple_count += is_part & (pair != 0);
        pair = is_part ? pairs[i] : 0;
    }
    reading->pair = pair;
    if (table->longest < 3 || !triple_count)
        return;
    for (int64_t i = 0; i < AHEAD; i++)
        ask_for(table, triples, i, triple_count);
    for (int64_t i = 0; i < triple_count; i++) {
        ask_for(table, triples, i + AHEAD, triple_count);
        note_hit(longer, feature_of(table, triples[i]), ends[i], 3);
    }
}

/* Note all features of a document whose sentences lie end to end. */
static void find_document(const struct ngram_table *table, const int64_t *ids, int64_t count,
                          const int64_t *lengths, struct ngram_hits *hits)
{
    struct reading reading = {table, ids, lengths, count, 0, 0, 0, 0};
    while (reading.done < count)
        read_chunk(&reading, hits, 0, hits);
}

/* The different features of a document in the order they are met, and how often each occurs. */
struct counted {
    const float *weights; /* (count, class_count), which will be needed; or NULL */
    int64_t class_count, distinct;
    int shift; /* 32 less the bits of a slot's number */
    struct ngram_room room;
};

/* Room of the worker with this number. */
static struct counted make_counted(const struct ngram_room *room, int64_t worker,
                                   const float *weights, int64_t class_count)
{
    struct counted counted = {weights, class_count, 0, 0, *room};
    counted.room.slots += worker * room->slot_count;
    counted.room.features += worker * room->most_features;
    counted.room.counts += worker * room->most_features;
    counted.room.heights += worker * room->most_features;
    return counted;
}

/* Begin a document that has at most so many hits: few slots are soon cleared, and stay near. */
static void clear_counted(struct counted *counted, int64_t hit_count)
{
    int64_t slot_count = 2;
    for (counted->shift = 31; slot_count < counted->room.slot_count; counted->shift--) {
        if (slot_count >= 2 * hit_count)
            break;
        slot_count *= 2;
    }
    memset(counted->room.slots, 0, sizeof *counted->room.slots * (size_t)slot_count);
    counted->distinct = 0;
}

/* Let features occur once more. Each counts as much as its last word does or, where nothing is
 * said of words, so much. Where somebody asks, say which of the different ones each is. */
static void count_hits(struct counted *counted, const struct ngram_hits *hits,
                       const double *heights, double height, int32_t *places)
{
    const struct ngram_room room = counted->room;
    const uint32_t last = UINT32_MAX >> counted->shift;
    int64_t distinct = counted->distinct;
    for (int64_t hit = 0; hit < hits->count; hit++) {
        const struct ngram_feature feature = hits->features[hit];
        const uint32_t number = (uint32_t)feature.number;
        if (heights)
            height = heights[hits->ends[hit] >> SIZE_BITS];
        uint32_t at = number * 0x9E3779B1u >> counted->shift;
        uint64_t slot = room.slots[at];
        while (__builtin_expect((slot != 0) & (slot >> 32 != number), 0)) {
            at = (at + 1) & last;
            slot = room.slots[at];
        }
        /* Nor does anything branch on whether it was met before. */
        const int64_t place = slot ? (int64_t)(uint32_t)slot - 1 : distinct;
        room.slots[at] = (uint64_t)number << 32 | (uint64_t)(place + 1);
        room.features[place] = feature;
        room.counts[distinct] = 0;
        room.counts[place]++;
        room.heights[distinct] = 0;
        room.heights[place] += height;
        distinct += place == distinct;
        if (places)
            places[hit] = (int32_t)place;
        if (counted->weights)
            __builtin_prefetch(counted->weights + feature.number * counted->class_count);
    }
    counted->distinct = distinct;
}

static double times_of(const struct ngram_room *room, int32_t count)
{
    return count < room->times_count ? room->times[count] : 1 + log((double)count);
}

/* What features are worth in a document before the values are divided by their length. */
struct values {
    const float *weights; /* (count, class_count) */
    int64_t class_count, count;
    int32_t *numbers;
    double *values;
    double squares;
};

/* Value what was counted: features or, with a table, words by their ids. */
static void value_counted(struct values *values, const struct counted *counted,
                          const struct ngram_table *table, int is_uneven)
{
    const struct ngram_room *room = &counted->room;
    for (int64_t place = 0; place < counted->distinct; place++) {
        struct ngram_feature feature = room->features[place];
        if (table)
            feature = single_of(table, feature.number);
        const int32_t count = room->counts[place];
        double value = times_of(room, count) * (double)feature.rarity;
        if (is_uneven)
            value = value * room->heights[place] / (double)count;
        values->numbers[values->count] = feature.number;
        values->values[values->count] = value;
        values->squares += feature.number >= 0 ? value * value : 0;
        values->count += feature.number >= 0;
        if (table)
            __builtin_prefetch(values->weights + feature.number * values->class_count);
    }
}

/* Add up the weights of the features, times their values. */
static void weigh_values(const struct values *values, double *sums)
{
    const int64_t class_count = values->class_count;
    const double norm = values->squares > 0 ? sqrt(values->squares) : 1;
    /* Two classes at a time, the last one twice: their sums stay in registers. */
    for (int64_t number = 0; number < class_count; number += 2) {
        const int64_t other = number + 1 < class_count ? number + 1 : number;
        double sum = 0, other_sum = 0;
        for (int64_t at = 0; at < values->count; at++) {
            const float *weights = values->weights + values->numbers[at] * class_count;
            sum += values->values[at] * (double)weights[number];
            other_sum += values->values[at] * (double)weights[other];
        }
        sums[other] = other_sum / norm;
        sums[number] = sum / norm;
    }
}

/* Weigh documents by the words and longer n-grams of one table and the words of others, which are
 * counted once for all of them. Each document is a task. */
int regard_weigh_ngrams(int64_t set, struct ngram_job *job)
{
    (void)set;
    const struct ngram_weighing *tables = job->tables;
    const int64_t worker = take_task(&job->next_worker), longest = tables->table->longest;
    struct counted words = make_counted(&job->words, worker, NULL, 0);
    struct counted longer = make_counted(&job->longer, worker, tables->weights, job->class_count);
    const int64_t most = job->words.most_features + job->longer.most_features;
    for (int64_t task; (task = take_task(&job->next_task)) < job->document_count;) {
        const int64_t begin = job->token_starts[task];
        const int64_t count = job->token_starts[task + 1] - begin;
        const double *const heights = job->heights ? job->heights + begin : NULL;
        struct reading reading = {
            .table = tables->table,
            .ids = job->ids + begin,
            .lengths = job->sentence_lengths + job->sentence_starts[task],
            .count = count,
        };
        clear_counted(&words, count);
        clear_counted(&longer, count * (longest - 1));
        while (reading.done < count) {
            struct ngram_feature word_features[CHUNK], longer_features[2 * CHUNK];
            int32_t word_ends[CHUNK], longer_ends[2 * CHUNK];
            struct ngram_hits word_hits = {word_features, word_ends, 0};
            struct ngram_hits longer_hits = {longer_features, longer_ends, 0};
            read_chunk(&reading, &word_hits, 1, &longer_hits);
            count_hits(&words, &word_hits, heights, 1, NULL);
            count_hits(&longer, &longer_hits, heights, 1, NULL);
        }
        for (int64_t number = 0; number < job->table_count; number++) {
            struct values values = {
                .weights = tables[number].weights,
                .class_count = job->class_count,
                .numbers = job->numbers + worker * most,
                .values = job->values + worker * most,
            };
            value_counted(&values, &words, tables[number].table, job->heights != NULL);
            if (!number)
                value_counted(&values, &longer, NULL, job->heights != NULL);
            weigh_values(&values, tables[number].sums + task * job->class_count);
        }
    }
    return DONE;
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
    struct counted counted =
        make_counted(&job->room, take_task(&job->next_worker), job->weights, class_count);
    for (int64_t task; (task = take_task(&job->next_task)) < job->document_count;) {
        const int64_t begin = job->token_starts[task], room = begin * longest;
        const int64_t count = job->token_starts[task + 1] - begin;
        const int64_t *const lengths = job->sentence_lengths + job->sentence_starts[task];
        const double *const heights = job->heights ? job->heights + begin : NULL;
        struct ngram_hits hits = {job->hits + room, job->ends + room, 0};
        int32_t *const places = job->places + room;
        clear_counted(&counted, count * longest);
        find_document(job->table, job->ids + begin, count, lengths, &hits);
        count_hits(&counted, &hits, heights, 1, places);
        /* What an occurrence is worth where sentences count one. */
        double *const worth = counted.room.heights, squares = 0;
        for (int64_t place = 0; place < counted.distinct; place++) {
            const double times = (double)counted.room.counts[place];
            const double one = times_of(&counted.room, counted.room.counts[place]) *
                               (double)counted.room.features[place].rarity / times;
            squares += one * worth[place] * one * worth[place];
            worth[place] = one;
        }
        for (int64_t hit = 0; hit < hits.count; hit++) {
            const int64_t size = hits.ends[hit] & ((1 << SIZE_BITS) - 1);
            const int64_t last = begin + (hits.ends[hit] >> SIZE_BITS);
            const double value =
                worth[places[hit]] * height_at(job, last) / sqrt(squares) / (double)size;
            const float *weights = job->weights + hits.features[hit].number * class_count;
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
            const int64_t length = job->starts[at + 1] - start;
            find_document(job->table, job->ids + start, length, &length, &hits);
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

/* Let the features of a sentence occur once more or, with a step of -1, once less. */
static void change(const struct ngram_picks_job *job, struct tally *tally, int64_t sentence,
                   int32_t step)
{
    const struct ngram_feature *hits = job->hits + job->starts[sentence] * job->table->longest;
    const int64_t class_count = job->class_count, count = job->hit_counts[sentence];
    for (int64_t at = 0; at < count; at++) {
        const int64_t later = hits[at + AHEAD < count ? at + AHEAD : at].number;
        __builtin_prefetch(tally->counts + later);
        __builtin_prefetch(job->weights + later * class_count);
        int32_t *const found = tally->counts + hits[at].number;
        const double rarity = (double)hits[at].rarity;
        const double before = times_of(&job->room, *found) * rarity;
        *found += step;
        const double after = times_of(&job->room, *found) * rarity;
        const float *weights = job->weights + hits[at].number * class_count;
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
        const struct ngram_feature *hits =
            job->hits + job->starts[sentence] * job->table->longest;
        for (int64_t hit = 0; hit < job->hit_counts[sentence]; hit++)
            tally->counts[hits[hit].number] = 0;
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

/* Do as regard_weigh_picks where sentences count differently by where they stand: what is known of
 * the document before is of no use. */
int regard_weigh_uneven_picks(int64_t set, struct ngram_picks_job *job)
{
    (void)set;
    const int64_t worker = take_task(&job->next_worker);
    struct counted counted = make_counted(&job->room, worker, job->weights, job->class_count);
    for (int64_t task; (task = take_task(&job->next_task)) < job->document_count;) {
        const int64_t first = job->pick_starts[task], last = job->pick_starts[task + 1];
        int64_t hit_count = 0;
        for (int64_t at = first; at < last; at++)
            hit_count += job->hit_counts[job->picks[at]];
        struct values values = {
            .weights = job->weights,
            .class_count = job->class_count,
            .numbers = job->numbers + worker * job->room.most_features,
            .values = job->values + worker * job->room.most_features,
        };
        clear_counted(&counted, hit_count);
        for (int64_t at = first; at < last; at++) {
            const int64_t sentence = job->picks[at];
            const struct ngram_hits hits = {
                job->hits + job->starts[sentence] * job->table->longest, NULL,
                job->hit_counts[sentence]};
            count_hits(&counted, &hits, NULL, job->heights[at], NULL);
        }
        value_counted(&values, &counted, NULL, 1);
        weigh_values(&values, job->sums + task * job->class_count);
    }
    return DONE;
}
