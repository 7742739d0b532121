/* The recurrence over blocks of rows: forward, and back through the same steps. */

/* What a thread needs for one block in one direction. */
struct pass {
    const struct recurrence_job *job;
    struct block block;
    int64_t direction;
    const float *zeros; /* (gate_step), for rows and steps where there is nothing */
    float *summed;      /* (BLOCK_ROWS, gate_step), what the recurrent product gives */
    float *memory[2];   /* (BLOCK_ROWS, hidden_step), of this step and the one before, by turns */
    float *carried;     /* (BLOCK_ROWS, hidden_step), gradients on their way to the item before */
    float *carried_memory;
    float *sum; /* like the weights' gradient, over a few items; only for the way back */
};

/* The weights' gradient is transposed, in whole blocks of rows, and has one more for the bias. */
INLINE int64_t sum_size(const struct recurrence_job *job)
{
    return (round_up(job->hidden_size) + 1) * job->gate_step;
}

/* All buffers of a pass in one piece, which begins with the zeros. */
static float *prepare_pass(struct pass *pass, const struct recurrence_job *job)
{
    const int64_t hidden = BLOCK_ROWS * job->hidden_step;
    const int64_t summed = BLOCK_ROWS * job->gate_step;
    const int64_t sum = job->weights_gradient ? sum_size(job) : 0;
    float *buffer = allocate_zeros(job->gate_step + summed + 4 * hidden + sum);
    if (!buffer)
        return NULL;
    float *rest = buffer + job->gate_step;
    *pass = (struct pass){.job = job, .zeros = buffer, .summed = rest};
    pass->memory[0] = rest + summed;
    pass->memory[1] = pass->memory[0] + hidden;
    pass->carried = pass->memory[1] + hidden;
    pass->carried_memory = pass->carried + hidden;
    pass->sum = pass->carried_memory + hidden;
    return buffer;
}

INLINE int64_t state_step(const struct recurrence_job *job)
{
    return job->direction_count * job->hidden_size;
}

/* The state of row i at a step of this direction; zeros before the first. */
INLINE const float *state_at(const struct pass *pass, int64_t i, int64_t step)
{
    const struct recurrence_job *job = pass->job;
    if (step < 0)
        return pass->zeros;
    const int64_t state = pass->block.states[i] + item_at(&pass->block, i, pass->direction, step);
    return job->states + state * state_step(job) + pass->direction * job->hidden_size;
}

INLINE float *saved_at(const struct pass *pass, int64_t i, int64_t step)
{
    const struct recurrence_job *job = pass->job;
    const int64_t item = pass->block.items[i] + item_at(&pass->block, i, pass->direction, step);
    return job->saved + (pass->direction * job->layout.item_count + item) * job->saved_step;
}

INLINE const float *input_at(const struct pass *pass, int64_t i, int64_t step)
{
    const struct recurrence_job *job = pass->job;
    const int64_t item = pass->block.items[i] + item_at(&pass->block, i, pass->direction, step);
    const int64_t row = job->index ? job->index[item] : item;
    const int64_t size = job->gates * job->hidden_size;
    return job->projected + (row * job->direction_count + pass->direction) * size;
}

/* Words lie anywhere in the table of projected ones: ask for them before they are needed. */
INLINE void prefetch_inputs(const struct pass *pass, int64_t active, int64_t step)
{
    const int64_t size = pass->job->gates * pass->job->hidden_size;
    for (int64_t i = 0; i < active && step < pass->block.lengths[i]; i++) {
        const float *input = input_at(pass, i, step);
        for (int64_t at = 0; at < size; at += 16)
            __builtin_prefetch(input + at);
    }
}

/* summed = bias + weights * the states before. */
static void sum_states(const struct pass *pass, int64_t active, int64_t step)
{
    const struct recurrence_job *job = pass->job;
    const float *left[BLOCK_ROWS];
    for (int64_t i = 0; i < BLOCK_ROWS; i++)
        left[i] = i < active ? state_at(pass, i, step - 1) : pass->zeros;
    /* Before the first item the states are zero, and so is the product. */
    const struct span span = {0, 0, step > 0 ? job->hidden_size : 0};
    const struct product product = {
        .left = left,
        .left_step = 1,
        .right = job->weights + pass->direction * job->hidden_size * job->gate_step,
        .right_step = job->gate_step,
        .spans = &span,
        .span_count = 1,
        .start = job->biases + pass->direction * job->gate_step,
        .start_step = 0,
        .result = pass->summed,
        .result_step = job->gate_step,
    };
    multiply(&product, active, job->gates * job->hidden_size);
}

static void forward_step(struct pass *pass, int64_t active, int64_t step)
{
    const struct recurrence_job *job = pass->job;
    if (job->index)
        prefetch_inputs(pass, active, step + 2);
    sum_states(pass, active, step);
    const float *memory_before = pass->memory[~step & 1];
    float *memory = pass->memory[step & 1];
    for (int64_t i = 0; i < active; i++) {
        const struct step s = {
            .input = input_at(pass, i, step),
            .summed = pass->summed + i * job->gate_step,
            .before = state_at(pass, i, step - 1),
            .memory_before = step > 0 ? memory_before + i * job->hidden_step : pass->zeros,
            .memory = memory + i * job->hidden_step,
            .state = (float *)state_at(pass, i, step),
            .saved = job->saved ? saved_at(pass, i, step) : NULL,
        };
        cell_forward(job->gates, &s, job->hidden_size);
    }
}

static void forward_block(struct pass *pass)
{
    for (int64_t step = 0; step < pass->block.longest; step++)
        forward_step(pass, active_rows(&pass->block, step), step);
}

/* The gradients for the recurrent product are the last parts of what was saved. */
INLINE int64_t recurrent_part(const struct recurrence_job *job)
{
    return job->gates == GRU ? job->hidden_size : 0;
}

/* carried += gradients of the gates * weights. */
static void carry_gradients(const struct pass *pass, int64_t active, int64_t step)
{
    const struct recurrence_job *job = pass->job;
    const int64_t size = job->gates * job->hidden_size;
    const float *left[BLOCK_ROWS];
    /* Rows whose end is still to come must go on carrying zeros. */
    for (int64_t i = 0; i < BLOCK_ROWS; i++)
        left[i] = i < active ? saved_at(pass, i, step) + recurrent_part(job) : pass->zeros;
    const struct span span = {0, 0, size};
    const struct product product = {
        .left = left,
        .left_step = 1,
        .right = job->weights_back + pass->direction * size * job->hidden_step,
        .right_step = job->hidden_step,
        .spans = &span,
        .span_count = 1,
        .start = pass->carried,
        .start_step = job->hidden_step,
        .result = pass->carried,
        .result_step = job->hidden_step,
    };
    multiply(&product, active, job->hidden_size);
}

static void backward_step(struct pass *pass, int64_t active, int64_t step)
{
    const struct recurrence_job *job = pass->job;
    for (int64_t i = 0; i < active; i++) {
        const float *state = state_at(pass, i, step);
        const float *memory_before = pass->zeros;
        if (job->gates == LSTM && step > 0)
            memory_before = saved_at(pass, i, step - 1) + 4 * job->hidden_size;
        const struct back_step s = {
            .gradient = job->gradient + (state - job->states),
            .before = state_at(pass, i, step - 1),
            .state = state,
            .memory_before = memory_before,
            .saved = saved_at(pass, i, step),
            .carried = pass->carried + i * job->hidden_step,
            .carried_memory = pass->carried_memory + i * job->hidden_step,
        };
        cell_backward(job->gates, &s, job->hidden_size);
    }
    if (step > 0)
        carry_gradients(pass, active, step);
}

INLINE void add_row(float *sum, const float *row, int64_t count)
{
    int64_t at = 0;
    for (; at + WIDTH <= count; at += WIDTH)
        store(sum + at, load(sum + at) + load(row + at));
    for (; at < count; at++)
        sum[at] += row[at];
}

/* How many items of a row are summed before the sum is added to the total: sums of sums lose
 * less than one long sum. */
#define SUMMED_ITEMS 256

/* Where, from a step on, the rows of a block have gradients of gates and the states before them:
 * item by item in the order of memory, where the state before is a neighbour. */
static int64_t find_spans(const struct pass *pass, int64_t from, struct span *spans)
{
    const struct recurrence_job *job = pass->job;
    const struct block *block = &pass->block;
    int64_t count = 0;
    for (; count < block->count && block->lengths[count] - 1 > from; count++) {
        const int64_t left = block->lengths[count] - 1 - from;
        const int64_t first = block->items[count] + from;
        spans[count].left = (first + pass->direction) * state_step(job);
        spans[count].right = (first + 1 - pass->direction) * job->saved_step;
        spans[count].depth = left < SUMMED_ITEMS ? left : SUMMED_ITEMS;
    }
    return count;
}

/* sum = states before, transposed * gradients of the gates; each (H, gates * H). */
static void sum_weights_gradient(const struct pass *pass, const struct span *spans, int64_t count)
{
    const struct recurrence_job *job = pass->job;
    const int64_t size = job->hidden_size;
    const float *states = job->states + pass->direction * size;
    const float *gradients = job->saved + recurrent_part(job) +
                             pass->direction * job->layout.item_count * job->saved_step;
    for (int64_t row = 0; row < size; row += BLOCK_ROWS) {
        const int64_t rows = size - row < BLOCK_ROWS ? size - row : BLOCK_ROWS;
        const float *left[BLOCK_ROWS];
        for (int64_t i = 0; i < BLOCK_ROWS; i++)
            left[i] = states + row + (i < rows ? i : 0);
        const struct product product = {
            .left = left,
            .left_step = state_step(job),
            .right = gradients,
            .right_step = job->saved_step,
            .spans = spans,
            .span_count = count,
            .start = pass->zeros,
            .start_step = 0,
            .result = pass->sum + row * job->gate_step,
            .result_step = job->gate_step,
        };
        multiply(&product, rows, job->gates * size);
    }
}

/* sum = gradients of the gates, over the items of every row from a step on. */
static void sum_biases_gradient(const struct pass *pass, int64_t from, float *sum)
{
    const struct recurrence_job *job = pass->job;
    const int64_t size = job->gates * job->hidden_size;
    memset(sum, 0, sizeof(float) * size);
    for (int64_t i = 0; i < pass->block.count; i++) {
        const int64_t length = pass->block.lengths[i];
        const int64_t end = length - from < SUMMED_ITEMS ? length : from + SUMMED_ITEMS;
        for (int64_t step = from; step < end; step++)
            add_row(sum, saved_at(pass, i, step) + recurrent_part(job), size);
    }
}

/* Done block by block, while what was saved of it is still in the cache. */
static void add_parameters_gradient(const struct pass *pass, float *total)
{
    const struct recurrence_job *job = pass->job;
    const int64_t size = job->gates * job->hidden_size;
    const int64_t bias = round_up(job->hidden_size) * job->gate_step;
    for (int64_t from = 0; from < pass->block.longest; from += SUMMED_ITEMS) {
        struct span spans[BLOCK_ROWS];
        const int64_t count = find_spans(pass, from, spans);
        if (count) {
            sum_weights_gradient(pass, spans, count);
            for (int64_t row = 0; row < job->hidden_size; row++)
                add_row(total + row * job->gate_step, pass->sum + row * job->gate_step, size);
        }
        sum_biases_gradient(pass, from, pass->sum + bias);
        add_row(total + bias, pass->sum + bias, size);
    }
}

static void backward_block(struct pass *pass, float *total)
{
    const size_t carried = sizeof(float) * BLOCK_ROWS * pass->job->hidden_step;
    memset(pass->carried, 0, carried);
    memset(pass->carried_memory, 0, carried);
    for (int64_t step = pass->block.longest - 1; step >= 0; step--)
        backward_step(pass, active_rows(&pass->block, step), step);
    add_parameters_gradient(pass, total);
}

/* A task is one share in one direction; the longest rows come first, so threads end together. */
static int run_shares(struct recurrence_job *job, int backward)
{
    struct pass pass;
    float *buffer = prepare_pass(&pass, job);
    if (!buffer)
        return OUT_OF_MEMORY;
    const struct layout *layout = &job->layout;
    const int64_t tasks = job->direction_count * layout->share_count;
    for (int64_t task; (task = take_task(&job->next_task)) < tasks;) {
        const int64_t share = task / job->direction_count;
        pass.direction = task % job->direction_count;
        float *total = job->weights_gradient;
        if (backward) {
            total += (pass.direction * layout->share_count + share) * sum_size(job);
            memset(total, 0, sizeof(float) * sum_size(job));
        }
        for (int64_t n = layout->shares[share]; n < layout->shares[share + 1]; n++) {
            pass.block = make_block(layout, n);
            if (backward)
                backward_block(&pass, total);
            else
                forward_block(&pass);
        }
    }
    free(buffer);
    return DONE;
}

static int forward(struct recurrence_job *job) { return run_shares(job, 0); }

static int backward(struct recurrence_job *job) { return run_shares(job, 1); }
