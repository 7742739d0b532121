/* The gradient of each distinct row of the projected inputs: a sum over the items that read it.
 *
 * Items are added in their own order whoever does it, so the sum has the same bits every time. */

/* The parts of a saved item that are gradients of its input, in the order of the gates. */
INLINE void take_item(const struct gather_job *job, int64_t item, float *sum, int first)
{
    const struct recurrence_job *recurrence = &job->recurrence;
    const int64_t size = recurrence->hidden_size, width = recurrence->gates * size;
    for (int64_t direction = 0; direction < recurrence->direction_count; direction++) {
        const int64_t line = direction * recurrence->layout.item_count + item;
        const float *saved = recurrence->saved + line * recurrence->saved_step;
        float *to = sum + direction * width;
        /* The GRU keeps its third gate first, for the two products' sake. */
        const int64_t moved = recurrence->gates == GRU ? size : 0, rest = width - moved;
        if (first) {
            memcpy(to, saved + moved, sizeof(float) * rest);
            memcpy(to + rest, saved, sizeof(float) * moved);
        } else {
            add_row(to, saved + moved, rest);
            add_row(to + rest, saved, moved);
        }
    }
}

INLINE void prefetch_item(const struct gather_job *job, int64_t item)
{
    const struct recurrence_job *recurrence = &job->recurrence;
    for (int64_t direction = 0; direction < recurrence->direction_count; direction++) {
        const int64_t line = direction * recurrence->layout.item_count + item;
        const float *saved = recurrence->saved + line * recurrence->saved_step;
        for (int64_t at = 0; at < recurrence->gates * recurrence->hidden_size; at += 16)
            __builtin_prefetch(saved + at);
    }
}

/* Few rows make a task, as a handful of words may be read by half of the items. */
#define GATHERED_ROWS 2

/* A word may be read a million times: sums of sums lose less than one long sum. */
#define GATHERED_ITEMS 256

static void gather_run(const struct gather_job *job, int64_t first, int64_t end, float *sum)
{
    for (int64_t n = first; n < end; n++) {
        /* The next item may be of the next row, and the last has none after it. */
        if (n + 1 < job->recurrence.layout.item_count)
            prefetch_item(job, job->item_order[n + 1]);
        take_item(job, job->item_order[n], sum, n == first);
    }
}

static void gather_row(const struct gather_job *job, int64_t row, float *run, int64_t width)
{
    float *sum = job->gradient + row * width;
    if (!job->firsts) {
        take_item(job, row, sum, 1);
        return;
    }
    const int64_t end = job->firsts[row + 1];
    memset(sum, 0, sizeof(float) * width);
    for (int64_t first = job->firsts[row]; first < end; first += GATHERED_ITEMS) {
        const int64_t last = end - first < GATHERED_ITEMS ? end : first + GATHERED_ITEMS;
        gather_run(job, first, last, run);
        add_row(sum, run, width);
    }
}

static int gather(struct gather_job *job)
{
    const struct recurrence_job *recurrence = &job->recurrence;
    const int64_t width =
        recurrence->direction_count * recurrence->gates * recurrence->hidden_size;
    const int64_t count = job->distinct_count;
    float *run = allocate(width);
    if (!run)
        return OUT_OF_MEMORY;
    for (int64_t first; (first = take_task(&job->next_task) * GATHERED_ROWS) < count;) {
        const int64_t end = count - first < GATHERED_ROWS ? count : first + GATHERED_ROWS;
        for (int64_t row = first; row < end; row++)
            gather_row(job, row, run, width);
    }
    free(run);
    return DONE;
}
