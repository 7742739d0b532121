/* What Python hands to the text scanner; kernels/scan/scanner.py has the same structs.
 *
 * The scanner follows the rules of regard.text to the letter, and takes from there what is data:
 * the kind and the lower case of each code point, the names of tags and entities, the lists of
 * words. All memory is Python's; nothing here allocates, so nothing can run out. */
#ifndef REGARD_SCANNER_H
#define REGARD_SCANNER_H

#include <stdint.h>

#define SCANNER_INTERFACE 5

/* So many characters are read at once, so whoever holds words keeps as many more behind them. */
#define LANES 8

/* No word of more letters is read as another by its runs of letters. */
#define MOST_LETTERS 64

/* One place of a hash table with open addressing. */
struct slot {
    uint32_t rank;   /* the number of the word + 1, or 0 where there is none */
    uint32_t hash;   /* half of the word's hash */
    uint32_t start;  /* where the word begins in codes */
    uint32_t length; /* how many characters it has */
};

/* Different words, numbered from 0 in the order they were added. */
struct word_table {
    int64_t word_count;
    int64_t word_room;     /* how many words starts can take */
    int64_t code_room;     /* how many characters codes can take, below 2^32 */
    int64_t slot_count;    /* a power of two, at least twice word_room */
    uint32_t *codes;       /* (code_room), the words' characters end to end */
    int64_t *starts;       /* (word_room + 1), where each word begins; the last is where it ends */
    struct slot *slots;    /* (slot_count) */
    const int32_t *values; /* (word_room), what the words stand for, if they stand for anything */
};

/* What the rules take from Python. */
struct scan_rules {
    const uint8_t *kinds;  /* (0x110000), of every code point */
    const uint32_t *lower; /* (lower_count), lower case; later code points are their own */
    int64_t lower_count;
    struct word_table tags;     /* to the kind that covers the tag */
    struct word_table entities; /* to the code point that it stands for */
    struct word_table words;    /* to the lists that a word is in, as bits */
    const uint8_t *parted;      /* (256), whether each character of a kind is a token */
};

/* Texts end to end, and room for what is found in them. */
struct scan_job {
    const struct scan_rules *rules;
    int64_t text_count;
    const int64_t *starts; /* (texts + 1), the first character of each text */
    const uint32_t *codes; /* (characters) */
    uint32_t *lowered;     /* (characters) */
    uint8_t *kinds;        /* (longest text + 2 * MARGIN) */
    uint8_t *bases;        /* the same */
    int32_t *spans;        /* (characters + 1, 2), where each token begins and ends in its text */
    int32_t *sentence_lengths; /* (characters), tokens in each sentence */
    int64_t *token_counts;     /* (texts) */
    int64_t *sentence_counts;  /* (texts) */
};

/* Known words by how they begin, for words that are not known. */
struct beginnings {
    struct word_table table; /* the words, but with beginnings of them in the slots */
    const uint8_t *lends;    /* (word_count), whether other words may be read as this one */
    int64_t fewest;          /* letters that two words must share ... */
    int64_t tenths;          /* ... and how many tenths of the longer one */
    int64_t longest;         /* words of more letters are like no other */
};

/* Known words by the runs of letters that they are made of, for words that are not known. */
struct runs {
    struct word_table table; /* of the runs */
    const int32_t *worths;   /* (runs), how much each says; zero: nothing */
    const int64_t *starts;   /* (runs + 1), where those that hold each begin */
    const int32_t *holders;  /* words, rising for each run */
    const int32_t *lengths;  /* (words), what all runs of each are worth */
    int64_t worth_of_new;    /* what a run is worth that is in no word */
    int64_t shortest;        /* letters of a run, the edges of a word counted */
    int64_t longest;
    int64_t most_letters;    /* words of more letters are like no other */
    int32_t *shared;         /* (words), zeros: what each has in common with a word */
    int32_t *touched;        /* (words), room for those that have anything */
};

/* Tokens to the numbers of their words. */
struct number_job {
    struct word_table *table;
    const struct beginnings *beginnings; /* or NULL, or those below: as what words are read */
    const struct runs *runs;             /* both NULL: no word is read as another */
    int64_t grows; /* whether a word that is not in the table is added to it */
    int64_t text_count;
    const int64_t *starts;       /* (texts + 1) */
    const uint32_t *codes;       /* (characters), as written or in lower case */
    const int32_t *spans;        /* (tokens, 2) */
    const int64_t *token_counts; /* (texts) */
    int32_t *numbers;            /* (tokens), -1 where the table has no such word */
};

#endif
