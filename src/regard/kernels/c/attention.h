/* A recurrence and the attention over it in one go, for prediction: the states of a block are
 * used while they are in the cache and never leave it. */

/* What a thread needs: the states of one block in every direction, and a score for each. */
struct looking {
    const struct attend_job *job;
    struct recurrence_job recurrence; /* the job's, with the thread's own states */
    struct pass pass;
    float *mixed;  /* (BLOCK_ROWS, attention_step) */
    float *scores; /* one for each state */
    struct lanes lanes;
};

/* Rows of a block lie end to end among its states; returns how many states there are. */
static int64_t pack_states(struct block *block)
{
    int64_t count = 0;
    for (int64_t i = 0; i < block->count; i++) {
        block->states[i] = count;
        count += block->lengths[i];
    }
    return count;
}

static void score_states(const struct looking *looking, int64_t count)
{
    const struct score_job *scoring = &looking->job->scoring;
    for (int64_t first = 0; first < count; first += BLOCK_ROWS) {
        const int64_t rows = count - first < BLOCK_ROWS ? count - first : BLOCK_ROWS;
        const float *states = looking->recurrence.states + first * scoring->pooling.size;
        mix_items(scoring, states, rows, looking->mixed);
        for (int64_t i = 0; i < rows; i++)
            looking->scores[first + i] =
                score_of(scoring, looking->mixed + i * scoring->attention_step);
    }
}

static void attend_block(struct looking *looking)
{
    const struct pool_job *pooling = &looking->job->scoring.pooling;
    struct block *block = &looking->pass.block;
    const int64_t count = pack_states(block);
    for (int64_t direction = 0; direction < looking->recurrence.direction_count; direction++) {
        looking->pass.direction = direction;
        forward_block(&looking->pass);
    }
    score_states(looking, count);
    for (int64_t i = 0; i < block->count; i++) {
        float *weights = pooling->weights + block->items[i];
        soften(looking->scores + block->states[i], block->lengths[i], weights);
        pool_row(looking->recurrence.states + block->states[i] * pooling->size, weights,
                 block->lengths[i], pooling->pooled + block->rows[i] * pooling->size,
                 pooling->size);
    }
}

/* Rows that are about as long as each other go side by side, others in a block. */
static void attend_share(struct looking *looking, int64_t share)
{
    const struct layout *layout = &looking->job->recurrence.layout;
    int64_t end = layout->shares[share + 1] * BLOCK_ROWS;
    end = end < layout->row_count ? end : layout->row_count;
    for (int64_t row = layout->shares[share] * BLOCK_ROWS; row < end;) {
        int64_t read = attend_lanes(&looking->lanes, row, end);
        if (!read) {
            looking->pass.block = make_block(layout, row / BLOCK_ROWS);
            attend_block(looking);
            read = BLOCK_ROWS;
        }
        row += read;
    }
}

static int attend(struct attend_job *job)
{
    struct looking looking = {
        .job = job,
        .recurrence = job->recurrence,
        .lanes = {.job = job},
    };
    const struct layout *layout = &job->recurrence.layout;
    struct block longest = make_block(layout, 0); /* no other block has as many items */
    const int64_t most = pack_states(&longest);
    float *buffer = prepare_pass(&looking.pass, &looking.recurrence);
    float *states = allocate(most * job->scoring.pooling.size);
    looking.scores = allocate(most);
    looking.mixed = allocate(BLOCK_ROWS * job->scoring.attention_step);
    looking.recurrence.states = states;
    const int failed = !buffer || !states || !looking.scores || !looking.mixed;
    for (int64_t task; !failed && (task = take_task(&job->next_task)) < layout->share_count;)
        attend_share(&looking, task);
    free(buffer);
    free(states);
    free(looking.scores);
    free(looking.mixed);
    free(looking.lanes.states);
    return failed ? OUT_OF_MEMORY : DONE;
}
