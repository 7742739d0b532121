/* Rows times a matrix: what each word or sentence gives the gates, for prediction.
 *
 * A row is summed in one order whatever rows are beside it, so that it has the same bits in any
 * company; libraries for large products do not promise that. */

/* Rows that make a task. */
#define PROJECTED_ROWS 64

static void project_rows(const struct project_job *job, int64_t first, int64_t count, float *block)
{
    const float *left[BLOCK_ROWS];
    int64_t rows[BLOCK_ROWS];
    for (int64_t i = 0; i < BLOCK_ROWS; i++) {
        const int64_t n = first + (i < count ? i : 0);
        rows[i] = job->places ? job->places[n] : n;
        left[i] = job->items + rows[i] * job->size;
    }
    const struct span span = {0, 0, job->size};
    const struct product product = {
        .left = left,
        .left_step = 1,
        .right = job->matrix,
        .right_step = job->width_step,
        .spans = &span,
        .span_count = 1,
        .start = job->bias,
        .start_step = 0,
        .result = block,
        .result_step = job->width_step,
    };
    multiply(&product, count, job->width);
    for (int64_t i = 0; i < count; i++)
        memcpy(job->result + rows[i] * job->width, block + i * job->width_step,
               sizeof(float) * job->width);
}

static int project(struct project_job *job)
{
    float *block = allocate(BLOCK_ROWS * job->width_step);
    if (!block)
        return OUT_OF_MEMORY;
    for (int64_t from; (from = take_task(&job->next_task) * PROJECTED_ROWS) < job->row_count;) {
        const int64_t left = job->row_count - from;
        const int64_t end = from + (left < PROJECTED_ROWS ? left : PROJECTED_ROWS);
        for (int64_t first = from; first < end; first += BLOCK_ROWS)
            project_rows(job, first, end - first < BLOCK_ROWS ? end - first : BLOCK_ROWS, block);
    }
    free(block);
    return DONE;
}
