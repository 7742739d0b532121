/* What Python hands over to weigh n-grams; kernels/ngrams/__init__.py has the same structs. */
#ifndef REGARD_NGRAMS_H
#define REGARD_NGRAMS_H

#include <stdint.h>

#define NGRAMS_INTERFACE 7
#define ID_BITS 21   /* as in models/ngrams.py */
#define UNKNOWN_ID 1 /* as in text/vocab.py */
#define BUCKET 4     /* slots that share a cache line, and are looked at together */

struct ngram_feature {
    int32_t number; /* or -1 where there is none */
    float rarity;
};

#define NO_FEATURE ((struct ngram_feature){-1, 0})

/* One place of a hash table. */
struct ngram_slot {
    uint64_t key; /* the ids of the words, or 0 where there is none */
    struct ngram_feature feature;
};

struct ngram_table {
    int64_t count;
    int64_t longest;
    int64_t shift; /* 64 less the bits of a bucket's number */
    int64_t single_count;
    int64_t is_closed; /* whether with each n-gram the table holds those inside it */
    const uint64_t *keys;     /* (count), rising */
    const float *rarity;      /* (count) */
    struct ngram_slot *slots; /* (2^bits, BUCKET), at least twice as many as longer n-grams */
    struct ngram_feature *singles; /* (single_count), of words by their ids */
};

/* Where each worker counts the different features of one document after the other. */
struct ngram_room {
    int64_t slot_count; /* a power of two, at least twice most_features */
    int64_t most_features;
    int64_t times_count;
    uint64_t *slots; /* (workers, slot_count), a number and where the feature is, from 1 on */
    struct ngram_feature *features; /* (workers, most_features), in the order they are met ... */
    int32_t *counts;                /* (workers, most_features), ... how often each occurs ... */
    double *heights;                /* (workers, most_features), ... and how much all count */
    const double *times;            /* (times_count), what so many occurrences are worth */
};

/* What the features of a table say. */
struct ngram_weighing {
    const struct ngram_table *table;
    const float *weights; /* (count, class_count) */
    double *sums;         /* (documents, class_count) */
};

struct ngram_job {
    int64_t table_count;
    const struct ngram_weighing *tables; /* (table_count); after the first of words alone */
    int64_t document_count;
    int64_t class_count;
    const int64_t *ids;              /* (tokens) */
    const int64_t *sentence_lengths; /* (sentences) */
    const int64_t *token_starts;     /* (documents + 1) */
    const int64_t *sentence_starts;  /* (documents + 1) */
    const double *heights;           /* (tokens), how much what stands there counts; NULL: one */
    struct ngram_room words, longer;
    int32_t *numbers; /* (workers, most features of both), room for those of a table ... */
    double *values;   /* (workers, most features of both), ... and what they are worth */
    int64_t next_worker;
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
    const double *heights;           /* (tokens), how much what stands there counts; NULL: one */
    struct ngram_feature *hits;      /* (tokens * longest), room for features ... */
    int32_t *ends;                   /* (tokens * longest), ... for where they end ... */
    int32_t *places;                 /* (tokens * longest), ... and which of the different ones */
    struct ngram_room room;
    double *shares;                  /* (tokens, class_count), zeros before */
    int64_t next_worker;
    int64_t next_task;
};

/* Documents that are put together from sentences, many of them from the same ones. */
struct ngram_picks_job {
    const struct ngram_table *table;
    int64_t sentence_count;
    int64_t document_count;
    int64_t class_count;
    const int64_t *ids;         /* (tokens) */
    const int64_t *starts;      /* (sentences + 1), the first token of each */
    const int64_t *picks;       /* the numbers of the sentences of all documents */
    const int64_t *pick_starts; /* (documents + 1) */
    const float *weights;       /* (count, class_count) */
    struct ngram_feature *hits; /* (tokens * longest), those of each sentence ... */
    int32_t *hit_counts;        /* (sentences), ... and how many they are */
    int32_t *uses;              /* (workers, sentences), zeros before and after */
    int32_t *counts;            /* (workers, count), zeros before and after */
    double *totals;             /* (workers, class_count), room for sums */
    const double *heights;      /* as many as picks: how much each sentence counts there */
    struct ngram_room room;
    int32_t *numbers; /* (workers, most features), room for those of a document ... */
    double *values;   /* (workers, most features), ... and what they are worth */
    double *sums;               /* (documents, class_count) */
    int64_t next_worker;
    int64_t next_task;
};

#endif
