/* Blocks of rows, longest first, so that the rows still being read are always the first ones. */

struct block {
    int64_t count;
    int64_t longest;
    int64_t rows[BLOCK_ROWS];
    int64_t lengths[BLOCK_ROWS];
    int64_t items[BLOCK_ROWS];  /* the first item of each row */
    int64_t states[BLOCK_ROWS]; /* where its states begin: the same, unless they are not kept */
};

static struct block make_block(const struct layout *layout, int64_t number)
{
    struct block block = {0};
    const int64_t first = number * BLOCK_ROWS;
    for (int i = 0; i < BLOCK_ROWS && first + i < layout->row_count; i++) {
        const int64_t row = layout->order[first + i];
        block.count++;
        block.rows[i] = row;
        block.items[i] = block.states[i] = layout->starts[row];
        block.lengths[i] = layout->starts[row + 1] - layout->starts[row];
    }
    block.longest = block.lengths[0];
    return block;
}

/* How many rows of the block have an item at this step. */
INLINE int64_t active_rows(const struct block *block, int64_t step)
{
    int64_t count = block->count;
    while (count > 0 && block->lengths[count - 1] <= step)
        count--;
    return count;
}

/* Which item of its row a direction reads at this step. */
INLINE int64_t item_at(const struct block *block, int64_t i, int64_t direction, int64_t step)
{
    return direction ? block->lengths[i] - 1 - step : step;
}

/* Floats on a cache line of their own; NULL when there is no memory. */
static float *allocate(int64_t count)
{
    const size_t lines = ((size_t)count * sizeof(float) + 63) / 64 + 1;
    return aligned_alloc(64, lines * 64);
}

static float *allocate_zeros(int64_t count)
{
    float *zeros = allocate(count);
    if (zeros)
        memset(zeros, 0, (size_t)count * sizeof(float));
    return zeros;
}

INLINE int64_t round_up(int64_t count) /* to whole blocks */
{
    return (count + BLOCK_ROWS - 1) / BLOCK_ROWS * BLOCK_ROWS;
}
