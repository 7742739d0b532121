/* Prediction with a GRU and attention where many rows are about as long as each other: WIDTH rows
 * go side by side, each in a lane of its own.
 *
 * So no lane is padding, from one vector of units on, and weights are broadcast instead of states.
 * Every sum has the terms and the order that it has where a row is read by itself (attention.h),
 * so it has the same bits.
 */
/* Rows become lanes: four floats of each of WIDTH rows become four vectors of WIDTH lanes. */
#if HAVE_X86_SETS && WIDTH == 16
#define TRANSPOSED 4

/* Each quarter of a vector holds four floats of a row; row 4 q + n is in quarter q of vector n. */
INLINE __m512 load_quarters(const float *const *rows, ptrdiff_t at)
{
    __m512 x = _mm512_castps128_ps512(_mm_loadu_ps(rows[0] + at));
    x = _mm512_insertf32x4(x, _mm_loadu_ps(rows[4] + at), 1);
    x = _mm512_insertf32x4(x, _mm_loadu_ps(rows[8] + at), 2);
    return _mm512_insertf32x4(x, _mm_loadu_ps(rows[12] + at), 3);
}

INLINE void transpose_rows(const float *const *rows, ptrdiff_t at, vector transposed[TRANSPOSED])
{
    const __m512 a = load_quarters(rows, at), b = load_quarters(rows + 1, at);
    const __m512 c = load_quarters(rows + 2, at), d = load_quarters(rows + 3, at);
    const __m512d low_ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b));
    const __m512d low_cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
    const __m512d high_ab = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
    const __m512d high_cd = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
    transposed[0] = (vector)_mm512_unpacklo_pd(low_ab, low_cd);
    transposed[1] = (vector)_mm512_unpackhi_pd(low_ab, low_cd);
    transposed[2] = (vector)_mm512_unpacklo_pd(high_ab, high_cd);
    transposed[3] = (vector)_mm512_unpackhi_pd(high_ab, high_cd);
}

#endif

#ifdef TRANSPOSED

#define MIXED_OUTPUTS 16 /* of the attention that are summed together, at most */
#define POOLED_UNITS 8
/* Bounds the memory of the states, which is the same for every lane. */
#define LONGEST_IN_LANES 1024

/* What a thread needs. */
struct lanes {
    const struct attend_job *job;
    float *states; /* (longest, directions * H, WIDTH); begins the memory of all that follows */
    float *scores; /* (longest, WIDTH), then the weights */
    float *row;    /* (longest), the scores of one row */
    float *zeros;  /* (GRU * H), the inputs of a row that has no item */
    float *panels[2];    /* the weights of each direction in the order they are read */
    float *mixing_panel; /* those of the attention */
    /* The rows that go side by side at the moment. */
    int64_t count, longest;
    int64_t rows[WIDTH], items[WIDTH];
    int32_t lengths[WIDTH];
    const float *inputs[2][WIDTH]; /* at this step and the next, by turns */
    /* The last row of those before, whose states still lie in a lane; length 0: there is none. */
    int64_t held_lane, held_item, held_length;
};

/* As many columns as are left, up to the most: a power of two. */
INLINE int64_t tile_width(int64_t left, int64_t most)
{
    while (most > left)
        most /= 2;
    return most;
}

/* Columns that are summed together: in so many parts of a matrix, so far apart. */
struct tile {
    int64_t parts, part_step, width;
};

static float *copy_tile(float *panel, const float *matrix, struct tile tile)
{
    for (int64_t part = 0; part < tile.parts; part++, panel += tile.width)
        memcpy(panel, matrix + part * tile.part_step, sizeof(float) * tile.width);
    return panel;
}

/* A panel holds, tile after tile, the biases and then the rows of the matrix. */
static void fill_panels(struct lanes *a)
{
    const struct recurrence_job *r = &a->job->recurrence;
    const struct score_job *s = &a->job->scoring;
    const int64_t size = r->hidden_size;
    for (int64_t direction = 0; direction < r->direction_count; direction++) {
        const float *weights = r->weights + direction * size * r->gate_step;
        float *panel = a->panels[direction];
        struct tile tile = {GRU, size, 0};
        for (int64_t unit = 0; unit < size; unit += tile.width) {
            tile.width = tile_width(size - unit, TRANSPOSED);
            panel = copy_tile(panel, r->biases + direction * r->gate_step + unit, tile);
            for (int64_t k = 0; k < size; k++)
                panel = copy_tile(panel, weights + k * r->gate_step + unit, tile);
        }
    }
    float *panel = a->mixing_panel;
    struct tile tile = {1, 0, 0};
    for (int64_t at = 0; at < s->attention_size; at += tile.width) {
        tile.width = tile_width(s->attention_size - at, MIXED_OUTPUTS);
        panel = copy_tile(panel, s->bias + at, tile);
        for (int64_t k = 0; k < s->pooling.size; k++)
            panel = copy_tile(panel, s->matrix + k * s->attention_step + at, tile);
    }
}

/* All buffers, made when rows go side by side for the first time; returns whether there are any. */
static int prepare_lanes(struct lanes *a)
{
    const struct recurrence_job *r = &a->job->recurrence;
    const int64_t size = a->job->scoring.pooling.size, gates = GRU * r->hidden_size;
    const int64_t panel = gates * (r->hidden_size + 1);
    const int64_t mixing_panel = a->job->scoring.attention_size * (size + 1);
    int64_t longest = make_block(&r->layout, 0).longest;
    longest = longest < LONGEST_IN_LANES ? longest : LONGEST_IN_LANES;
    a->states = allocate(longest * ((size + 1) * WIDTH + 1) + gates + 2 * panel + mixing_panel);
    if (!a->states)
        return 0;
    a->scores = a->states + longest * size * WIDTH;
    a->row = a->scores + longest * WIDTH;
    a->zeros = a->row + longest;
    a->panels[0] = a->zeros + gates;
    a->panels[1] = a->panels[0] + panel;
    a->mixing_panel = a->panels[1] + panel;
    memset(a->zeros, 0, sizeof(float) * gates);
    fill_panels(a);
    return 1;
}

/* Sums over values of WIDTH rows, and the part of a panel with what they are multiplied by. */
struct terms {
    const float *panel;
    const float *values; /* (depth, WIDTH) */
    int64_t depth;
};

INLINE void sum_tile(const struct terms *t, int outputs, vector *result)
{
    vector sums[MIXED_OUTPUTS];
    const float *panel = t->panel, *values = t->values;
    EVERY(n, outputs)
        sums[n] = splat(panel[n]);
    for (int64_t k = t->depth; k > 0; k--) {
        const vector value = load(values);
        panel += outputs;
        values += WIDTH;
        EVERY(n, outputs)
            sums[n] += panel[n] * value;
    }
    EVERY(n, outputs)
        result[n] = sums[n];
}

/* Not inlined: what is done with the sums afterwards would take registers from them. */
#define SUM(outputs)                                                                              \
    static __attribute__((noinline)) void sum_##outputs(const struct terms *t, vector *result)   \
    {                                                                                             \
        sum_tile(t, outputs, result);                                                             \
    }
SUM(16) SUM(12) SUM(8) SUM(6) SUM(4) SUM(3) SUM(2) SUM(1)
#undef SUM

/* What one direction does at one item. */
struct stride {
    const float *panel;
    const float *const *inputs; /* of each row */
    const float *const *next;   /* those of the next step */
    const float *before;        /* (H, WIDTH), the states before */
    float *state;               /* (H, WIDTH) */
    int64_t size;
    int64_t depth; /* 0 at the first step, where the states before are zero; or else size */
    lanes active;  /* which rows have this item */
};

/* Units are a constant where it is inlined; the sums lie gate by gate. */
INLINE void read_units(const struct stride *s, int64_t unit, int units, const vector *sums)
{
    /* So many units are transposed at a time: at the end some that were transposed before. */
    const int64_t first = units == TRANSPOSED ? unit : s->size - TRANSPOSED;
    const int64_t skipped = units == TRANSPOSED ? 0 : unit - first;
    vector transposed[GRU][TRANSPOSED];
    EVERY(gate, GRU)
        transpose_rows(s->inputs, gate * s->size + first, transposed[gate]);
    struct units u[TRANSPOSED];
    vector states[TRANSPOSED];
    EVERY(n, units) {
        EVERY(gate, GRU) {
            u[n].input[gate] = transposed[gate][skipped + n];
            u[n].summed[gate] = sums[gate * units + n];
        }
        u[n].before = s->depth ? load(s->before + (unit + n) * WIDTH) : splat(0);
    }
    gru_states(units, u, states);
    /* Rows that do not have this item keep zeros. */
    EVERY(n, units)
        store(s->state + (unit + n) * WIDTH, (vector)((lanes)states[n] & s->active));
}

/* Words lie anywhere in the table of projected ones: those of the next step are asked for, a few
 * with every tile, so that they do not wait for each other. */
INLINE void prefetch_next(const struct stride *s, int64_t unit)
{
    for (int64_t i = unit * WIDTH / s->size; i < (unit + TRANSPOSED) * WIDTH / s->size; i++)
        for (int64_t at = 0; at < GRU * s->size; at += 16)
            __builtin_prefetch(s->next[i] + at);
}

INLINE void take_stride(const struct stride *s)
{
    struct terms terms = {s->panel, s->before, s->depth};
    vector sums[GRU * TRANSPOSED];
    int64_t unit = 0;
    for (; unit + TRANSPOSED <= s->size; unit += TRANSPOSED) {
        prefetch_next(s, unit);
        sum_12(&terms, sums);
        read_units(s, unit, TRANSPOSED, sums);
        terms.panel += GRU * TRANSPOSED * (s->size + 1);
    }
    if (unit + 2 <= s->size) {
        sum_6(&terms, sums);
        read_units(s, unit, 2, sums);
        terms.panel += GRU * 2 * (s->size + 1);
        unit += 2;
    }
    if (unit < s->size) {
        sum_3(&terms, sums);
        read_units(s, unit, 1, sums);
    }
}

/* Where the inputs of every row at an item are. */
static void find_inputs(const struct lanes *a, int64_t direction, int64_t item,
                        const float **inputs)
{
    const struct recurrence_job *r = &a->job->recurrence;
    for (int64_t i = 0; i < WIDTH; i++) {
        inputs[i] = a->zeros;
        if (item < 0 || item >= a->lengths[i])
            continue;
        const int64_t place = a->items[i] + item;
        const int64_t row = r->index ? r->index[place] : place;
        inputs[i] = r->projected + (row * r->direction_count + direction) * GRU * r->hidden_size;
    }
}

/* How many items a direction reads first that are those of the row held, in every row. */
static int64_t count_known(const struct lanes *a, int64_t direction)
{
    const int64_t *index = a->job->recurrence.index;
    int64_t known = index ? a->held_length : 0;
    for (int64_t i = 0; i < a->count && known; i++) {
        const int64_t length = a->lengths[i];
        /* From the end on the items of rows of other lengths lie in other places. */
        if (direction && (length != a->held_length || length != a->longest))
            return 0;
        known = length < known ? length : known;
        const int64_t *own = index + a->items[i], *held = index + a->held_item;
        for (int64_t step = 0; step < known; step++) {
            const int64_t item = direction ? length - 1 - step : step;
            if (own[item] != held[item])
                known = step;
        }
    }
    return known;
}

/* The states of the row held become those of every row. */
static void spread_known(struct lanes *a, int64_t direction, int64_t known)
{
    const struct recurrence_job *r = &a->job->recurrence;
    const int64_t size = r->hidden_size * WIDTH;
    for (int64_t step = 0; step < known; step++) {
        const int64_t item = direction ? a->longest - 1 - step : step;
        float *state = a->states + (item * r->direction_count + direction) * size;
        for (int64_t at = 0; at < size; at += WIDTH)
            store(state + at, splat(state[at + a->held_lane]));
    }
}

/* All rows are at the same item, so the backward direction waits for the shorter ones. Rows that
 * begin as the one before them, or end as it, as versions of a text do, are not read there again. */
static void read_lanes(struct lanes *a, int64_t direction)
{
    const struct recurrence_job *r = &a->job->recurrence;
    const int64_t size = r->hidden_size, turn = direction ? -1 : 1;
    const int64_t item_size = r->direction_count * size * WIDTH;
    const int64_t known = count_known(a, direction);
    int64_t item = direction ? a->longest - 1 - known : known;
    spread_known(a, direction, known);
    find_inputs(a, direction, item, a->inputs[known & 1]);
    for (int64_t step = known; step < a->longest; step++, item += turn) {
        float *state = a->states + item * item_size + direction * size * WIDTH;
        struct stride stride = {
            .panel = a->panels[direction],
            .inputs = a->inputs[step & 1],
            .next = a->inputs[~step & 1],
            .before = step ? state - turn * item_size : state,
            .state = state,
            .size = size,
            .depth = step ? size : 0,
        };
        memcpy(&stride.active, a->lengths, sizeof stride.active);
        stride.active = stride.active > (int32_t)item;
        find_inputs(a, direction, item + turn, a->inputs[~step & 1]);
        take_stride(&stride);
    }
}

/* Add to the parts of the scores, as many as score_of has, what some outputs give. */
INLINE void score_outputs(const float *query, int64_t at, int outputs, const vector *sums,
                          vector *parts)
{
    EVERY(n, outputs)
        parts[(at + n) % WIDTH] += query[at + n] * tanh_of(sums[n]);
}

static void score_item(const struct lanes *a, int64_t item)
{
    const struct score_job *job = &a->job->scoring;
    const int64_t size = job->pooling.size;
    struct terms terms = {a->mixing_panel, a->states + item * size * WIDTH, size};
    vector sums[MIXED_OUTPUTS], parts[WIDTH] = {0}, score = {0};
    for (int64_t at = 0, width; at < job->attention_size; at += width) {
        width = tile_width(job->attention_size - at, MIXED_OUTPUTS);
#define SCORE(outputs)                                           \
    case outputs:                                                \
        sum_##outputs(&terms, sums);                             \
        score_outputs(job->query, at, outputs, sums, parts);     \
        break
        switch (width) {
            SCORE(16);
            SCORE(8);
            SCORE(4);
            SCORE(2);
            SCORE(1);
        }
#undef SCORE
        terms.panel += width * (size + 1);
    }
    for (int n = 0; n < WIDTH; n++)
        score += parts[n];
    store(a->scores + item * WIDTH, score);
}

/* The scores of row i become weights. */
static void weigh_row(const struct lanes *a, int64_t i)
{
    const int64_t length = a->lengths[i];
    float *weights = a->job->scoring.pooling.weights + a->items[i];
    for (int64_t t = 0; t < length; t++)
        a->row[t] = a->scores[t * WIDTH + i];
    soften(a->row, length, weights);
    for (int64_t t = 0; t < a->longest; t++)
        a->scores[t * WIDTH + i] = t < length ? weights[t] : 0;
}

/* Some units of every row: the sum over its items. */
INLINE void pool_units(const struct lanes *a, int64_t unit, int units)
{
    const struct pool_job *pooling = &a->job->scoring.pooling;
    const float *states = a->states + unit * WIDTH;
    vector sums[POOLED_UNITS] = {0};
    for (int64_t t = 0; t < a->longest; t++, states += pooling->size * WIDTH) {
        const vector weight = load(a->scores + t * WIDTH);
        EVERY(n, units)
            sums[n] += weight * load(states + n * WIDTH);
    }
    for (int64_t i = 0; i < a->count; i++)
        EVERY(n, units)
            pooling->pooled[a->rows[i] * pooling->size + unit + n] = sums[n][i];
}

static void pool_lanes(const struct lanes *a)
{
    const int64_t size = a->job->scoring.pooling.size;
    int64_t unit = 0;
    for (; unit + POOLED_UNITS <= size; unit += POOLED_UNITS)
        pool_units(a, unit, POOLED_UNITS);
    for (; unit < size; unit++)
        pool_units(a, unit, 1);
}

/* Line up the next rows; returns whether they should go side by side: lanes that wait for longer
 * rows must not cost more than is saved. */
static int line_up(struct lanes *a, int64_t first, int64_t end)
{
    const struct layout *layout = &a->job->recurrence.layout;
    int64_t total = 0;
    a->count = end - first < WIDTH ? end - first : WIDTH;
    a->longest = 0;
    memset(a->lengths, 0, sizeof a->lengths);
    for (int64_t i = 0; i < a->count; i++) {
        const int64_t row = layout->order[first + i];
        const int64_t length = layout->starts[row + 1] - layout->starts[row];
        if (length > LONGEST_IN_LANES)
            return 0;
        a->rows[i] = row;
        a->items[i] = layout->starts[row];
        a->lengths[i] = (int32_t)length;
        a->longest = length > a->longest ? length : a->longest;
        total += length;
    }
    return 4 * a->longest * WIDTH <= 5 * total;
}

/* Read and pool the first rows from here on; returns how many, and 0 where they should be read one
 * by one. */
static int64_t attend_lanes(struct lanes *a, int64_t first, int64_t end)
{
    const struct recurrence_job *r = &a->job->recurrence;
    if (r->gates != GRU || !line_up(a, first, end) || !(a->states || prepare_lanes(a)))
        return 0;
    for (int64_t direction = 0; direction < r->direction_count; direction++)
        read_lanes(a, direction);
    for (int64_t item = 0; item < a->longest; item++)
        score_item(a, item);
    for (int64_t i = 0; i < a->count; i++)
        weigh_row(a, i);
    pool_lanes(a);
    a->held_lane = a->count - 1;
    a->held_item = a->items[a->held_lane];
    a->held_length = a->lengths[a->held_lane];
    return a->count;
}

#else /* in narrow vectors there is little padding to save */

struct lanes {
    const struct attend_job *job;
    float *states;
};

INLINE int64_t attend_lanes(struct lanes *a, int64_t first, int64_t end)
{
    (void)a, (void)first, (void)end;
    return 0;
}

#endif
