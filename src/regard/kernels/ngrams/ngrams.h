/* What Python hands over to weigh n-grams; kernels/ngrams/__init__.py has the same structs. */
#ifndef REGARD_NGRAMS_H
#define REGARD_NGRAMS_H

#include <stdint.h>

#define NGRAMS_INTERFACE 5
#define ID_BITS 21   /* as in models/ngrams.py */
#define UNKNOWN_ID 1 /* as in text/vocab.py */

/* One place of a hash table with open addressing. */
struct ngram_slot {
    uint64_t key; /* the ids of the words, or 0 where there is none */
    uint64_t feature;
};

struct ngram_table {
    int64_t count;
    int64_t longest;
    int64_t shift; /* 64 less the bits of a slot's number */
    int64_t single_count;
    int64_t is_closed; /* whether with each n-gram the table holds those inside it */
    const uint64_t *keys;     /* (count), rising */
    const float *rarity;      /* (count) */
    struct ngram_slot *slots; /* (2^bits), at least twice as many as n-grams of several words */
    int32_t *singles;         /* (single_count), the feature of a word by its id, or -1 */
};

struct ngram_job {
    const struct ngram_table *table;
    int64_t document_count;
    int64_t class_count;
    const int64_t *ids;              /* (tokens) */
    const int64_t *sentence_lengths; /* (sentences) */
    const int64_t *token_starts;     /* (documents + 1) */
    const int64_t *sentence_starts;  /* (documents + 1) */
    const float *weights;            /* (count, class_count) */
    int32_t *hits;                   /* (2 * tokens * longest), room for features */
    double *sums;                    /* (documents, class_count), zeros before */
    int64_t next_task;
};

struct ngram_shares_job {
    const struct ngram_table *table;
    int64_t document_count;
    int64_t class_count;
    const int64_t *ids;              /* (tokens) */
    const int64_t *sentence_lengths; /* (sentences) */
    const int64_t *token_starts;     /* (documents + 1) */
    const int64_t *sentence_starts;  /* (documents + 1) */
    const float *weights;            /* (count, class_count) */
    int32_t *hits;                   /* (3 * tokens * longest), room for features ... */
    int32_t *ends;                   /* (tokens * longest), ... for where they end ... */
    double *worth;                   /* (tokens * longest), ... for what each is worth ... */
    double *totals;                  /* (tokens * longest), ... and how much all of one count */
    const double *heights;           /* (tokens), how much what stands there counts; NULL: one */
    double *shares;                  /* (tokens, class_count), zeros before */
    int64_t next_task;
};

/* Documents that are put together from sentences, many of them from the same ones. */
struct ngram_picks_job {
    const struct ngram_table *table;
    int64_t sentence_count;
    int64_t document_count;
    int64_t class_count;
    int64_t times_count;
    const int64_t *ids;         /* (tokens) */
    const int64_t *starts;      /* (sentences + 1), the first token of each */
    const int64_t *picks;       /* the numbers of the sentences of all documents */
    const int64_t *pick_starts; /* (documents + 1) */
    const float *weights;       /* (count, class_count) */
    const double *times;        /* (times_count), what so many occurrences are worth */
    int32_t *hits;              /* (tokens * longest), the features of each sentence ... */
    int32_t *hit_counts;        /* (sentences), ... and how many they are */
    int32_t *uses;              /* (workers, sentences), zeros before and after */
    int32_t *counts;            /* (workers, count), zeros before and after */
    double *totals;             /* (workers, class_count), room for sums */
    const double *heights;      /* as many as picks: how much each sentence counts there ... */
    double *height_sums;        /* (workers, count), ... and room for sums, zeros before and after */
    double *sums;               /* (documents, class_count) */
    int64_t next_worker;
    int64_t next_task;
};

#endif
