/* Texts to token spans, sentences and word numbers in one go, many texts a call. */
#include <string.h>
#include <wchar.h>

#include "../c/native.h"
#include "scanner.h"

#include "table.h"
#include "text.h"

/* In this order: each uses those before it. */
#include "markup.h"

#include "places.h"

#include "sentences.h"
#include "words.h"

int64_t regard_scanner_interface(void) { return SCANNER_INTERFACE; }

/* Which kinds of markup a text may hold: most hold few, and each is looked for on its own. */
enum { TAGS = 1, ENTITIES = 2, ADDRESSES = 4, MAILS = 8, FACES = 16 };

/* What a sign may be part of, from the characters beside it. */
static unsigned markup_at(const struct text *text, int64_t at)
{
    const uint32_t next = code_at(text, at + 1), before = at ? text->codes[at - 1] : NONE;
    const unsigned faces = is_one_of(next, "-()DPp") ? FACES : 0;
    switch (text->codes[at]) {
    case '<':
        return TAGS;
    case '&':
        return ENTITIES;
    case '@':
        return MAILS;
    case ':':
        return next == '/' ? ADDRESSES : faces;
    case ';':
    case '=':
        return faces;
    case '.':
        return before == 'w' || before == 'W' ? ADDRESSES : 0;
    default:
        return 0;
    }
}

/* Fill in the kinds and the lower case of a text; return the markup it may hold. */
static unsigned read_kinds(struct text *text, uint32_t *lowered)
{
    static const uint8_t is_sign[128] = {['<'] = 1, ['&'] = 1, ['@'] = 1, [':'] = 1,
                                         [';'] = 1, ['='] = 1, ['.'] = 1, ['\r'] = 1};
    /* Local copies: for all the compiler knows, writing a kind may change the text's fields. */
    const uint8_t *table = text->rules->kinds;
    const uint32_t *codes = text->codes, *lower = text->rules->lower;
    const int64_t length = text->length, lower_count = text->rules->lower_count;
    uint8_t *kinds = text->kinds;
    unsigned markup = 0, seen = 0;
    for (int64_t at = 0; at < length; at++) {
        const uint32_t code = codes[at];
        const uint8_t kind = table[code];
        kinds[at] = kind;
        lowered[at] = code < lower_count ? lower[code] : code;
        seen |= traits[kind];
        if (code < sizeof is_sign && is_sign[code]) {
            markup |= markup_at(text, at);
            /* Windows writes two characters for one line end. */
            if (code == '\r' && code_at(text, at + 1) == '\n')
                kinds[at] = ' ';
        }
    }
    text->has_marks = (seen & MARK) != 0;
    return markup;
}

static void mask_markup(struct text *text, unsigned markup)
{
    if (markup & TAGS)
        mask_tags(text);
    if (markup & ENTITIES)
        mask_entities(text);
    if (markup & ADDRESSES)
        mask_addresses(text);
    if (markup & MAILS)
        mask_mails(text);
    if (markup & FACES)
        mask_faces(text);
}

int regard_scan(const struct scan_job *job)
{
    int32_t *spans = job->spans, *sentence_lengths = job->sentence_lengths;
    for (int64_t number = 0; number < job->text_count; number++) {
        const int64_t start = job->starts[number], length = job->starts[number + 1] - start;
        struct text text = {
            .rules = job->rules,
            .codes = job->codes + start,
            .lowered = job->lowered + start,
            .length = length,
            .kinds = job->kinds + MARGIN,
            .bases = job->bases,
        };
        memset(job->kinds, ' ', MARGIN);
        memset(text.kinds + length, ' ', MARGIN);
        mask_markup(&text, read_kinds(&text, job->lowered + start));
        const int64_t token_count = find_words(&text, spans);
        struct sentences sentences = {spans, token_count, 0, sentence_lengths, 0};
        find_sentences(&text, &sentences);
        job->token_counts[number] = token_count;
        job->sentence_counts[number] = sentences.count;
        spans += 2 * token_count;
        sentence_lengths += sentences.count;
    }
    return DONE;
}

/* Enter the words of a table, whose slots are all free, into its slots. */
int regard_enter_words(struct word_table *table)
{
    for (int64_t number = 0; number < table->word_count; number++) {
        const uint32_t *word = table->codes + table->starts[number];
        const int64_t length = table->starts[number + 1] - table->starts[number];
        const uint64_t hash = hash_of(word, length);
        fill_slot(table, slot_of(table, word, length, hash), number, hash);
    }
    return DONE;
}

/* How many first letters a word of this length must share with another, if it is the longer. */
static int64_t fewest_shared(const struct beginnings *beginnings, int64_t length)
{
    const int64_t share = (beginnings->tenths * length + 9) / 10;
    return share > beginnings->fewest ? share : beginnings->fewest;
}

/* Enter the beginnings of words into the slots, which are all free: the first word has each. */
int regard_enter_beginnings(struct beginnings *beginnings)
{
    const struct word_table *table = &beginnings->table;
    for (int64_t number = 0; number < table->word_count; number++) {
        const uint32_t *word = table->codes + table->starts[number];
        const int64_t length = table->starts[number + 1] - table->starts[number];
        if (!beginnings->lends[number] || length > beginnings->longest)
            continue;
        for (int64_t size = fewest_shared(beginnings, length); size <= length; size++) {
            const uint64_t hash = hash_of(word, size);
            struct slot *slot = slot_of(table, word, size, hash);
            if (slot->rank)
                continue;
            fill_slot(table, slot, number, hash);
            slot->length = (uint32_t)size;
        }
    }
    return DONE;
}

/* The number of the known word that begins like this one, or -1. */
static int32_t number_alike(const struct beginnings *beginnings, const uint32_t *word,
                            int64_t length)
{
    if (length > beginnings->longest)
        return -1;
    for (int64_t size = length; size >= fewest_shared(beginnings, length); size--) {
        const struct slot *slot = slot_of(&beginnings->table, word, size, hash_of(word, size));
        if (slot->rank)
            return (int32_t)slot->rank - 1;
    }
    return -1;
}

/* How many letters of two places in a word are the same, up to so many. */
static int64_t same_letters(const uint32_t *one, const uint32_t *other, int64_t most)
{
    int64_t same = 0;
    while (same < most && one[same] == other[same])
        same++;
    return same;
}

/* Add up what known words have in common with a word, whose edges count as letters; return what
 * all its runs are worth, and how many words were touched. */
static int64_t share_runs(const struct runs *runs, const uint32_t *edged, int64_t length,
                          int64_t *touched_count)
{
    int64_t worth_of_all = 0, count = 0;
    for (int64_t start = 0; start + runs->shortest <= length; start++) {
        const int64_t left = length - start;
        const int64_t longest = left < runs->longest ? left : runs->longest;
        int64_t met = 0; /* a run that the word has twice counts once */
        for (int64_t before = 0; before < start && met < longest; before++) {
            const int64_t same = same_letters(edged + before, edged + start, longest);
            met = same > met ? same : met;
        }
        int64_t size = met + 1 > runs->shortest ? met + 1 : runs->shortest;
        for (; size <= longest; size++) {
            const uint32_t *run = edged + start;
            const struct slot *slot = slot_of(&runs->table, run, size, hash_of(run, size));
            if (!slot->rank) {
                worth_of_all += runs->worth_of_new;
                continue;
            }
            const int32_t worth = runs->worths[slot->rank - 1];
            worth_of_all += worth;
            if (!worth)
                continue;
            for (int64_t at = runs->starts[slot->rank - 1]; at < runs->starts[slot->rank]; at++) {
                const int32_t word = runs->holders[at];
                if (!runs->shared[word])
                    runs->touched[count++] = word;
                runs->shared[word] += worth;
            }
        }
    }
    *touched_count = count;
    return worth_of_all;
}

/* The number of the known word that is nearest to this one, or -1. */
static int32_t number_nearest(const struct runs *runs, const uint32_t *word, int64_t length)
{
    if (length > runs->most_letters)
        return -1;
    uint32_t edged[MOST_LETTERS + 2 + LANES] = {' '};
    memcpy(edged + 1, word, sizeof *word * (size_t)length);
    edged[length + 1] = ' ';
    int64_t count;
    const int64_t worth = share_runs(runs, edged, length + 2, &count);
    int32_t best = -1;
    int64_t best_shared = 0, best_length = 1;
    for (int64_t at = 0; at < count; at++) {
        const int32_t other = runs->touched[at];
        const int64_t shared = runs->shared[other], own = runs->lengths[other];
        runs->shared[other] = 0;
        /* Cosines are compared in whole numbers, which are below 2^53. */
        const int64_t here = shared * shared * best_length, there = best_shared * best_shared * own;
        if (here > there || (here == there && other < best)) {
            best = other;
            best_shared = shared;
            best_length = own;
        }
    }
    return 4 * best_shared * best_shared >= worth * best_length ? best : -1;
}

/* Tokens whose words are looked up together: while one waits for memory, others are asked for. */
#define TOGETHER 32

static int number_some(const struct number_job *job, const uint32_t *codes, const int32_t *spans,
                       int64_t count, int32_t *numbers)
{
    struct word_table *table = job->table;
    uint64_t hashes[TOGETHER];
    for (int64_t i = 0; i < count; i++) {
        hashes[i] = hash_of(codes + spans[2 * i], spans[2 * i + 1] - spans[2 * i]);
        __builtin_prefetch(first_slot(table, hashes[i]));
    }
    for (int64_t i = 0; i < count; i++)
        __builtin_prefetch(table->codes + first_slot(table, hashes[i])->start);
    for (int64_t i = 0; i < count; i++) {
        const uint32_t *word = codes + spans[2 * i];
        const int64_t length = spans[2 * i + 1] - spans[2 * i];
        struct slot *slot = slot_of(table, word, length, hashes[i]);
        if (!slot->rank && job->grows && !add_word(table, word, length, slot, hashes[i]))
            return OUT_OF_RANGE;
        numbers[i] = (int32_t)slot->rank - 1;
        if (numbers[i] < 0 && job->beginnings)
            numbers[i] = number_alike(job->beginnings, word, length);
        else if (numbers[i] < 0 && job->runs)
            numbers[i] = number_nearest(job->runs, word, length);
    }
    return DONE;
}

int regard_number_words(const struct number_job *job)
{
    const int32_t *spans = job->spans;
    int32_t *numbers = job->numbers;
    int failed = DONE;
    for (int64_t text = 0; text < job->text_count; text++) {
        for (int64_t left = job->token_counts[text], some; left && !failed; left -= some) {
            some = left < TOGETHER ? left : TOGETHER;
            failed = number_some(job, job->codes + job->starts[text], spans, some, numbers);
            spans += 2 * some;
            numbers += some;
        }
    }
    return failed;
}
