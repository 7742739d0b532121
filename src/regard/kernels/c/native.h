/* The jobs that Python hands to the native kernels, and the table of their versions.
 *
 * Every job is one struct, filled in by native.py (the two definitions must agree; INTERFACE
 * is raised when they change together). A job is cut into tasks that may run in any order and
 * on any thread: each thread calls the same function with the same job, and takes tasks from
 * it until there are none left. What a task computes never depends on who computes it, so the
 * result has the same bits for any number of threads.
 */
#ifndef REGARD_NATIVE_H
#define REGARD_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#define INTERFACE 9

/* How many rows are worked on together: enough to use each weight eight times per load. */
#define BLOCK_ROWS 8

/* Results of a kernel. */
enum { DONE = 0, OUT_OF_MEMORY = 1, OUT_OF_RANGE = 2 };

/* The cells are named by how many gates they have. */
enum { RNN = 1, GRU = 3, LSTM = 4 };

/* Rows of different lengths laid end to end, and the order in which they are worked on. */
struct layout {
    int64_t row_count;
    int64_t item_count;
    const int64_t *starts; /* (row_count + 1), the first item of each row */
    const int64_t *order;  /* (row_count), the rows, longest first */
    int64_t share_count;   /* blocks of ordered rows, cut into shares of about equal work */
    const int64_t *shares; /* (share_count + 1), the first block of each share */
};

/* A recurrence over every row, read forwards by direction 0 and backwards by direction 1.
 *
 * With H = hidden_size and G = gates, matrices are row after row; a "step" is the distance in
 * floats from one row to the next, at least the width and padded with zeros where it is longer.
 */
struct recurrence_job {
    struct layout layout;
    int64_t gates;
    int64_t hidden_size;
    int64_t direction_count;
    const float *projected; /* (distinct, directions * G * H), the inputs to the gates */
    const int64_t *index;   /* (items), which row of projected an item reads; NULL: its own */
    const float *weights;   /* (directions, H, gate_step), transposed */
    const float *biases;    /* (directions, gate_step) */
    int64_t gate_step;
    float *states;          /* (items, directions * H) */
    float *saved;           /* (directions, items, saved_step), NULL when nothing is to be saved */
    int64_t saved_step;
    /* Only for the way back, which turns saved from gates into their gradients. */
    const float *gradient;       /* (items, directions * H), of the states */
    const float *weights_back;   /* (directions, G * H, hidden_step) */
    int64_t hidden_step;
    float *weights_gradient;     /* (directions, shares, H in whole blocks + 1, gate_step);
                                    transposed, and the last row is the gradient of the bias */
    int64_t next_task;           /* the first task nobody has taken yet */
};

/* Sums over the items that read the same row of projected. */
struct gather_job {
    struct recurrence_job recurrence; /* after its way back */
    int64_t distinct_count;
    const int64_t *item_order; /* (items), the items by the row they read; NULL: item n reads n */
    const int64_t *firsts;     /* (distinct_count + 1), where each row's items begin in it */
    float *gradient;           /* (distinct_count, directions * G * H) */
    int64_t next_task;
};

/* Softmax of one score an item along each row, and the sum of the items it weights.
 * Here the shares are of rows, in their own order. */
struct pool_job {
    struct layout layout;
    int64_t size;
    const float *items; /* (items, size) */
    float *scores;      /* (items) */
    float *weights;     /* (items) */
    float *pooled;      /* (rows, size) */
    /* Only for the way back. */
    const float *pooled_gradient;  /* (rows, size) */
    const float *weights_gradient; /* (items) */
    float *scores_gradient;        /* (items) */
    float *items_gradient;         /* (items, size) */
    int64_t next_task;
};

/* The scores of attention to the context, query . tanh(matrix item + bias), and their pooling. */
struct score_job {
    struct pool_job pooling;
    int64_t attention_size;
    int64_t attention_step;
    const float *matrix; /* (size, attention_step), transposed */
    const float *bias;   /* (attention_step) */
    const float *query;  /* (attention_step), zeros past attention_size */
    float *mixed;        /* (items, attention_step), the tanh; NULL when there is no way back */
    /* Only for the way back. */
    const float *matrix_back; /* (attention_size, size_step) */
    int64_t size_step;
    float *sums; /* (shares, size in whole blocks + 2, attention_step): the gradient of the matrix,
                    transposed; then a row for the bias and one for the query */
    int64_t next_task;
};

/* A recurrence whose states are only looked at by attention and never leave the cache. */
struct attend_job {
    struct recurrence_job recurrence; /* its states and saved are NULL */
    struct score_job scoring;       /* items, scores, mixed and layout are not used */
    int64_t next_task;
};

/* result row = bias + item * matrix, for all rows or for those of the given places. */
struct project_job {
    int64_t row_count;
    int64_t size;
    int64_t width;
    int64_t width_step;
    const float *items;    /* (rows, size) */
    const int64_t *places; /* (row_count), which rows; NULL: the first row_count */
    const float *matrix;   /* (size, width_step), transposed */
    const float *bias;     /* (width_step) */
    float *result;         /* (rows, width) */
    int64_t next_task;
};

/* Adam's moves of some rows of a table: by a gradient, or those missed without one. */
struct move_job {
    int64_t row_count;
    int64_t size;
    const int64_t *places; /* (row_count), which rows, each once */
    float *table;          /* (rows, size) */
    float *mean;           /* (rows, size), of the gradients */
    float *square;         /* (rows, size), the mean of their squares */
    const float *missed;   /* (kinds, 6): two weights, two reaches, what is left of mean and
                              square; NULL: there is a gradient */
    const int64_t *kinds;  /* (row_count), what each row has missed */
    const float *gradient; /* (row_count, size) */
    float first_share;
    float second_share;
    float second_left;
    float rate;
    float root;
    float eps;
    int64_t next_task;
};

/* kept = value * scale, or zero where the word drawn for it lies below the threshold. */
struct drop_job {
    int64_t count;
    int64_t seed;
    int64_t threshold; /* from 0 to 2^32 - 1 */
    const float *values; /* (count) */
    float *kept;         /* (count) */
    float scale;
    int64_t next_task;
};

/* The kernels compiled for one instruction set. */
struct instruction_set {
    const char *name;
    int64_t width; /* floats in a vector; the hidden size must be at least this */
    int (*forward)(struct recurrence_job *);
    int (*backward)(struct recurrence_job *);
    int (*gather)(struct gather_job *);
    int (*attend)(struct attend_job *);
    int (*project)(struct project_job *);
    int (*move)(struct move_job *);
    int (*drop)(struct drop_job *);
    int (*pool)(struct pool_job *);
    int (*pool_back)(struct pool_job *);
    int (*pool_context)(struct score_job *);
    int (*pool_context_back)(struct score_job *);
};

extern const struct instruction_set instructions_scalar, instructions_base;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAVE_X86_SETS 1
extern const struct instruction_set instructions_avx2, instructions_avx512;
#endif

/* A kernel and its instructions, as a thread of OpenMP is told to run it. */
struct call {
    int (*kernel)(int64_t set, void *job);
    int64_t set;
    void *job;
    int64_t failures; /* the results of all threads, joined by or */
};

/* Threads take tasks at the same time. */
static inline int64_t take_task(int64_t *next_task)
{
    return __atomic_fetch_add(next_task, 1, __ATOMIC_RELAXED);
}

#endif
