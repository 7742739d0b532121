/* Attention along rows: softmax of the scores, and the sum of the items it weights. */

/* A row's peak is subtracted first, so that the largest exponential is one; a long row is summed
 * in double precision, so that its weights still sum to one. */
static void soften(const float *scores, int64_t length, float *weights)
{
    float peak = -INFINITY;
    double sum = 0;
    for (int64_t t = 0; t < length; t++)
        peak = scores[t] > peak ? scores[t] : peak;
    for (int64_t t = 0; t < length; t++) {
        weights[t] = expf(scores[t] - peak);
        sum += weights[t];
    }
    for (int64_t t = 0; t < length; t++)
        weights[t] /= (float)sum;
}

/* sum += weight * row */
INLINE void add_weighted(float *sum, const float *row, float weight, int64_t size)
{
    int64_t at = 0;
    for (; at + WIDTH <= size; at += WIDTH)
        store(sum + at, load(sum + at) + weight * load(row + at));
    for (; at < size; at++)
        sum[at] += weight * row[at];
}

static void pool_row(const float *items, const float *weights, int64_t length, float *pooled,
                     int64_t size)
{
    memset(pooled, 0, sizeof(float) * size);
    for (int64_t t = 0; t < length; t++)
        add_weighted(pooled, items + t * size, weights[t], size);
}

static void pool_share(const struct pool_job *job, int64_t share)
{
    const struct layout *layout = &job->layout;
    for (int64_t row = layout->shares[share]; row < layout->shares[share + 1]; row++) {
        const int64_t first = layout->starts[row], length = layout->starts[row + 1] - first;
        soften(job->scores + first, length, job->weights + first);
        pool_row(job->items + first * job->size, job->weights + first, length,
                 job->pooled + row * job->size, job->size);
    }
}

static int pool(struct pool_job *job)
{
    for (int64_t task; (task = take_task(&job->next_task)) < job->layout.share_count;)
        pool_share(job, task);
    return DONE;
}

/* gradient = weight * pooled_gradient, and its product with the item is returned. */
INLINE float item_back(const float *item, const float *pooled_gradient, float weight,
                       float *gradient, int64_t size)
{
    vector products = {0};
    int64_t at = 0;
    for (; at + WIDTH <= size; at += WIDTH) {
        const vector g = load(pooled_gradient + at);
        products += load(item + at) * g;
        store(gradient + at, weight * g);
    }
    float product = sum_lanes(products);
    for (; at < size; at++) {
        product += item[at] * pooled_gradient[at];
        gradient[at] = weight * pooled_gradient[at];
    }
    return product;
}

static void pool_row_back(const struct pool_job *job, int64_t row)
{
    const int64_t first = job->layout.starts[row], end = job->layout.starts[row + 1];
    const float *gradient = job->pooled_gradient + row * job->size;
    float mean = 0;
    for (int64_t t = first; t < end; t++) {
        const float to_weight =
            job->weights_gradient[t] + item_back(job->items + t * job->size, gradient,
                                                 job->weights[t],
                                                 job->items_gradient + t * job->size, job->size);
        job->scores_gradient[t] = to_weight;
        mean += job->weights[t] * to_weight;
    }
    for (int64_t t = first; t < end; t++)
        job->scores_gradient[t] = job->weights[t] * (job->scores_gradient[t] - mean);
}

static void pool_share_back(const struct pool_job *job, int64_t share)
{
    for (int64_t row = job->layout.shares[share]; row < job->layout.shares[share + 1]; row++)
        pool_row_back(job, row);
}

static int pool_back(struct pool_job *job)
{
    for (int64_t task; (task = take_task(&job->next_task)) < job->layout.share_count;)
        pool_share_back(job, task);
    return DONE;
}
