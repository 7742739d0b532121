/* Adam's moves of some rows of a table; nn/row_moves.py says what they are.
 *
 * Loops over single floats, which the compiler turns into vectors by itself: nothing is summed
 * over a row, so no order has to be kept. */

/* Rows that make a task. */
#define MOVED_ROWS 32

static void step_row(const struct move_job *job, int64_t n)
{
    const int64_t at = job->places[n] * job->size;
    const float *restrict gradient = job->gradient + n * job->size;
    float *restrict table = job->table + at;
    float *restrict mean = job->mean + at;
    float *restrict square = job->square + at;
    for (int64_t i = 0; i < job->size; i++) {
        const float g = gradient[i];
        const float m = mean[i] + (g - mean[i]) * job->first_share;
        const float v = square[i] * job->second_left + g * g * job->second_share;
        mean[i] = m;
        square[i] = v;
        table[i] -= job->rate * m / (sqrtf(v) / job->root + job->eps);
    }
}

static void drift_row(const struct move_job *job, int64_t n)
{
    const int64_t at = job->places[n] * job->size;
    const float *missed = job->missed + job->kinds[n] * 6;
    const float one = missed[0], other = missed[1], near = missed[2], far = missed[3];
    float *restrict table = job->table + at;
    float *restrict mean = job->mean + at;
    float *restrict square = job->square + at;
    for (int64_t i = 0; i < job->size; i++) {
        const float root = sqrtf(square[i]);
        /* Two fractions over one line: division is what takes time. */
        const float above = one * (root + far) + other * (root + near);
        table[i] -= mean[i] * above / ((root + near) * (root + far));
        mean[i] *= missed[4];
        square[i] *= missed[5];
    }
}

static int move(struct move_job *job)
{
    const int64_t count = job->row_count;
    for (int64_t first; (first = take_task(&job->next_task) * MOVED_ROWS) < count;) {
        const int64_t end = count - first < MOVED_ROWS ? count : first + MOVED_ROWS;
        for (int64_t n = first; n < end; n++) {
            if (job->missed)
                drift_row(job, n);
            else
                step_row(job, n);
        }
    }
    return DONE;
}
