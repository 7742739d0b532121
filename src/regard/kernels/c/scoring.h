/* The scores of attention to the context, query . tanh(matrix item + bias), and the way back. */

/* mixed = tanh(matrix item + bias) for up to BLOCK_ROWS items that lie end to end. */
static void mix_items(const struct score_job *job, const float *items, int64_t count, float *mixed)
{
    const int64_t size = job->pooling.size;
    const float *left[BLOCK_ROWS];
    for (int64_t i = 0; i < BLOCK_ROWS; i++)
        left[i] = items + (i < count ? i : 0) * size;
    const struct span span = {0, 0, size};
    const struct product product = {
        .left = left,
        .left_step = 1,
        .right = job->matrix,
        .right_step = job->attention_step,
        .spans = &span,
        .span_count = 1,
        .start = job->bias,
        .start_step = 0,
        .result = mixed,
        .result_step = job->attention_step,
    };
    multiply(&product, count, job->attention_size);
    for (int64_t i = 0; i < count; i++)
        for (int64_t at = 0; at < job->attention_size; at += WIDTH) {
            float *place = mixed + i * job->attention_step + at;
            store(place, tanh_of(load(place)));
        }
}

INLINE float score_of(const struct score_job *job, const float *mixed)
{
    vector score = {0};
    for (int64_t at = 0; at < job->attention_size; at += WIDTH)
        score += load(job->query + at) * load(mixed + at);
    return sum_lanes(score);
}

/* The scores of all items of a share, which lie end to end. */
static void score_share(const struct score_job *job, int64_t share, float *block)
{
    const struct layout *layout = &job->pooling.layout;
    const int64_t step = job->attention_step, end = layout->starts[layout->shares[share + 1]];
    for (int64_t item = layout->starts[layout->shares[share]]; item < end; item += BLOCK_ROWS) {
        const int64_t count = end - item < BLOCK_ROWS ? end - item : BLOCK_ROWS;
        mix_items(job, job->pooling.items + item * job->pooling.size, count, block);
        for (int64_t i = 0; i < count; i++)
            job->pooling.scores[item + i] = score_of(job, block + i * step);
        if (job->mixed)
            memcpy(job->mixed + item * step, block, sizeof(float) * count * step);
    }
}

static int pool_context(struct score_job *job)
{
    float *block = allocate(BLOCK_ROWS * job->attention_step);
    if (!block)
        return OUT_OF_MEMORY;
    for (int64_t task; (task = take_task(&job->next_task)) < job->pooling.layout.share_count;) {
        score_share(job, task, block);
        pool_share(&job->pooling, task);
    }
    free(block);
    return DONE;
}

/* Items that are taken back together, and what a thread needs for them. They are few, so that
 * they stay in the cache, and because sums of sums lose less than one long sum. */
#define CHUNK 128
struct chunk {
    int64_t first, count; /* which items */
    float *gradient;      /* (CHUNK, attention_step), before the tanh */
    float *block;         /* (BLOCK_ROWS, size_step) */
    float *sum;           /* like the sums of a share, over these items */
    float *bias_sum, *query_sum;
    const float *zeros; /* as many as the widest row needs */
};

INLINE int64_t scoring_sum_size(const struct score_job *job)
{
    return (round_up(job->pooling.size) + 2) * job->attention_step;
}

static void mixed_back(const struct score_job *job, const struct chunk *chunk)
{
    memset(chunk->bias_sum, 0, 2 * sizeof(float) * job->attention_step); /* and the query's */
    for (int64_t i = 0; i < chunk->count; i++) {
        const float *mixed = job->mixed + (chunk->first + i) * job->attention_step;
        const float score = job->pooling.scores_gradient[chunk->first + i];
        float *gradient = chunk->gradient + i * job->attention_step;
        for (int64_t at = 0; at < job->attention_size; at += WIDTH) {
            const vector m = load(mixed + at);
            const vector g = score * load(job->query + at) * (1.0f - m * m);
            store(gradient + at, g);
            store(chunk->bias_sum + at, load(chunk->bias_sum + at) + g);
            store(chunk->query_sum + at, load(chunk->query_sum + at) + score * m);
        }
    }
}

/* sum = items, transposed * gradient */
static void matrix_back(const struct score_job *job, const struct chunk *chunk)
{
    const int64_t size = job->pooling.size;
    const float *items = job->pooling.items + chunk->first * size;
    const struct span span = {0, 0, chunk->count};
    for (int64_t row = 0; row < size; row += BLOCK_ROWS) {
        const int64_t rows = size - row < BLOCK_ROWS ? size - row : BLOCK_ROWS;
        const float *left[BLOCK_ROWS];
        for (int64_t i = 0; i < BLOCK_ROWS; i++)
            left[i] = items + row + (i < rows ? i : 0);
        const struct product product = {
            .left = left,
            .left_step = size,
            .right = chunk->gradient,
            .right_step = job->attention_step,
            .spans = &span,
            .span_count = 1,
            .start = chunk->zeros,
            .start_step = 0,
            .result = chunk->sum + row * job->attention_step,
            .result_step = job->attention_step,
        };
        multiply(&product, rows, job->attention_size);
    }
}

/* items_gradient += gradient * matrix */
static void items_back(const struct score_job *job, const struct chunk *chunk)
{
    const int64_t size = job->pooling.size;
    const struct span span = {0, 0, job->attention_size};
    for (int64_t first = 0; first < chunk->count; first += BLOCK_ROWS) {
        const int64_t left_over = chunk->count - first;
        const int64_t rows = left_over < BLOCK_ROWS ? left_over : BLOCK_ROWS;
        const float *left[BLOCK_ROWS];
        for (int64_t i = 0; i < BLOCK_ROWS; i++)
            left[i] = chunk->gradient + (first + (i < rows ? i : 0)) * job->attention_step;
        const struct product product = {
            .left = left,
            .left_step = 1,
            .right = job->matrix_back,
            .right_step = job->size_step,
            .spans = &span,
            .span_count = 1,
            .start = chunk->zeros,
            .start_step = 0,
            .result = chunk->block,
            .result_step = job->size_step,
        };
        multiply(&product, rows, size);
        float *gradient = job->pooling.items_gradient + (chunk->first + first) * size;
        for (int64_t i = 0; i < rows; i++)
            add_row(gradient + i * size, chunk->block + i * job->size_step, size);
    }
}

static void share_back(const struct score_job *job, int64_t share, struct chunk *chunk)
{
    const struct layout *layout = &job->pooling.layout;
    float *total = job->sums + share * scoring_sum_size(job);
    memset(total, 0, sizeof(float) * scoring_sum_size(job));
    pool_share_back(&job->pooling, share);
    const int64_t end = layout->starts[layout->shares[share + 1]];
    chunk->first = layout->starts[layout->shares[share]];
    for (; chunk->first < end; chunk->first += CHUNK) {
        chunk->count = end - chunk->first < CHUNK ? end - chunk->first : CHUNK;
        mixed_back(job, chunk);
        matrix_back(job, chunk);
        items_back(job, chunk);
        add_row(total, chunk->sum, scoring_sum_size(job));
    }
}

static int pool_context_back(struct score_job *job)
{
    const int64_t block = BLOCK_ROWS * job->size_step, gradient = CHUNK * job->attention_step;
    const int64_t zeros = job->size_step + job->attention_step;
    float *buffer = allocate_zeros(zeros + block + gradient + scoring_sum_size(job));
    if (!buffer)
        return OUT_OF_MEMORY;
    struct chunk chunk = {.zeros = buffer, .block = buffer + zeros};
    chunk.gradient = chunk.block + block;
    chunk.sum = chunk.gradient + gradient;
    chunk.bias_sum = chunk.sum + round_up(job->pooling.size) * job->attention_step;
    chunk.query_sum = chunk.bias_sum + job->attention_step;
    for (int64_t task; (task = take_task(&job->next_task)) < job->pooling.layout.share_count;)
        share_back(job, task, &chunk);
    free(buffer);
    return DONE;
}
