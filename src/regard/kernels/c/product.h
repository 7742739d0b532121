/* Products of small matrices, held in registers a tile at a time. */

/* A tile is as high as the registers allow beside its three vectors: 8 x 3 of 32, 4 x 3 of 16. */
#if WIDTH == 16 || defined(__aarch64__)
#define TILE_ROWS 8
#else
#define TILE_ROWS 4
#endif
#define TILE_VECTORS 3

/* A part of the terms that a product adds up: where they begin in left and right, how many. */
struct span {
    ptrdiff_t left, right;
    int64_t depth;
};

/* result[i][j] = start[i][j] + sum over k of left[i][k] * right[k][j].
 *
 * Rows and columns are rounded up, so left must have pointers that may be read, and result
 * rows that may be written, up to a multiple of BLOCK_ROWS, and right, start and result
 * columns up to a multiple of WIDTH. */
struct product {
    const float *const *left; /* one pointer a row */
    ptrdiff_t left_step;      /* from one k to the next */
    const float *right;
    ptrdiff_t right_step;
    const struct span *spans;
    int64_t span_count;
    const float *start;
    ptrdiff_t start_step; /* 0: every row starts from the same */
    float *result;
    ptrdiff_t result_step;
};

/* The one loop in which the time goes. Rows and vectors are constants where it is inlined. */
INLINE void multiply_tile(const struct product *p, int64_t row, int64_t column, int rows,
                          int vectors)
{
    vector sums[TILE_ROWS][TILE_VECTORS];
    const float *start = p->start + row * p->start_step + column;
    const ptrdiff_t start_step = p->start_step;
    EVERY(i, rows) EVERY(j, vectors)
        sums[i][j] = load(start + i * start_step + j * WIDTH);
    for (int64_t n = 0; n < p->span_count; n++) {
        const float *left[TILE_ROWS];
        EVERY(i, rows)
            left[i] = p->left[row + i] + p->spans[n].left;
        const float *right = p->right + p->spans[n].right + column;
        const ptrdiff_t left_step = p->left_step, right_step = p->right_step;
        ptrdiff_t at = 0;
        for (int64_t k = p->spans[n].depth; k > 0; k--) {
            vector factors[TILE_VECTORS];
            EVERY(j, vectors)
                factors[j] = load(right + j * WIDTH);
            EVERY(i, rows) {
                const vector factor = splat(left[i][at]);
                EVERY(j, vectors)
                    sums[i][j] += factor * factors[j];
            }
            right += right_step;
            at += left_step;
        }
    }
    float *result = p->result + row * p->result_step + column;
    const ptrdiff_t result_step = p->result_step;
    EVERY(i, rows) EVERY(j, vectors)
        store(result + i * result_step + j * WIDTH, sums[i][j]);
}

INLINE void multiply_rows(const struct product *p, int64_t row, int64_t columns, int rows)
{
    int64_t column = 0;
    for (; column + 2 * WIDTH < columns; column += 3 * WIDTH)
        multiply_tile(p, row, column, rows, 3);
    if (column + WIDTH < columns)
        multiply_tile(p, row, column, rows, 2);
    else if (column < columns)
        multiply_tile(p, row, column, rows, 1);
}

static void multiply(const struct product *p, int64_t rows, int64_t columns)
{
    int64_t row = 0;
    for (; row + TILE_ROWS / 2 < rows; row += TILE_ROWS)
        multiply_rows(p, row, columns, TILE_ROWS);
    for (; row + 1 < rows; row += TILE_ROWS / 2)
        multiply_rows(p, row, columns, TILE_ROWS / 2);
    if (row < rows)
        multiply_rows(p, row, columns, 1);
}
