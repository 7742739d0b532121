/* The cells, one item of one row at a time: what happens after the recurrent product.
 *
 * Each step is cut into vectors, the last of which overlaps its neighbour (see vectors.h). On
 * the way back the gates are overwritten by their gradients, so there the operands of the last
 * vector are read before the first is written.
 *
 * What is saved of an item, in parts of hidden_size floats, and what becomes of it:
 *   RNN   nothing               -> gradient of the sum
 *   GRU   n, r, z, hidden n     -> gradients of n, r, z for the input; r, z, hidden n for the state
 *   LSTM  i, f, g, o, memory    -> gradients of i, f, g, o for both; memory stays
 */

/* A vector of units at one item: what each gate gets, and what becomes of it. */
struct units {
    vector input[4];  /* by gate, from the item */
    vector summed[4]; /* by gate, bias + weights * state before */
    vector before;    /* the state before */
    vector memory;    /* before, then after; LSTM alone */
    vector saved[5];
};

INLINE vector rnn_state(struct units *u) { return tanh_of(u->input[0] + u->summed[0]); }

/* Of several vectors of units side by side: see vectors.h. */
INLINE void gru_states(int count, struct units *u, vector *states)
{
    vector gates[MOST_VECTORS]; /* every r, then every z */
    EVERY(i, count) {
        gates[i] = u[i].input[0] + u[i].summed[0];
        gates[count + i] = u[i].input[1] + u[i].summed[1];
    }
    take_sigmoids(count, gates);
    EVERY(i, count)
        states[i] = u[i].input[2] + gates[i] * u[i].summed[2];
    take_tanh(count, states);
    EVERY(i, count) {
        u[i].saved[0] = states[i];
        u[i].saved[1] = gates[i];
        u[i].saved[2] = gates[count + i];
        u[i].saved[3] = u[i].summed[2];
        states[i] += gates[count + i] * (u[i].before - states[i]);
    }
}

INLINE vector gru_state(struct units *u)
{
    vector state;
    gru_states(1, u, &state);
    return state;
}

INLINE vector lstm_state(struct units *u)
{
    vector gates[2] = {u->input[0] + u->summed[0], u->input[1] + u->summed[1]};
    take_sigmoids(1, gates);
    const vector g = tanh_of(u->input[2] + u->summed[2]);
    const vector o = sigmoid_of(u->input[3] + u->summed[3]);
    u->memory = gates[1] * u->memory + gates[0] * g;
    u->saved[0] = gates[0];
    u->saved[1] = gates[1];
    u->saved[2] = g;
    u->saved[3] = o;
    u->saved[4] = u->memory;
    return o * tanh_of(u->memory);
}

/* Forward: what one row has at one item. */
struct step {
    const float *input;         /* (gates * size), the projected item */
    const float *summed;        /* (gates * size), bias + weights * state before */
    const float *before;        /* (size), the state before */
    const float *memory_before; /* (size), LSTM alone */
    float *memory;
    float *state; /* (size), the state after */
    float *saved; /* or NULL */
};

/* Gates are a constant where this is inlined. */
INLINE void forward_units(int gates, const struct step *s, int64_t size, int64_t at)
{
    struct units u;
    EVERY(gate, gates) {
        u.input[gate] = load(s->input + gate * size + at);
        u.summed[gate] = load(s->summed + gate * size + at);
    }
    if (gates == RNN) {
        store(s->state + at, rnn_state(&u));
        return;
    }
    if (gates == GRU) {
        u.before = load(s->before + at);
        store(s->state + at, gru_state(&u));
    } else {
        u.memory = load(s->memory_before + at);
        store(s->state + at, lstm_state(&u));
        store(s->memory + at, u.memory);
    }
    if (s->saved)
        EVERY(part, gates + 1)
            store(s->saved + part * size + at, u.saved[part]);
}

INLINE void forward_row(int gates, const struct step *s, int64_t size)
{
    const int64_t last = size - WIDTH;
    for (int64_t at = 0; at < last; at += WIDTH)
        forward_units(gates, s, size, at);
    forward_units(gates, s, size, last);
}

static void cell_forward(int64_t gates, const struct step *s, int64_t size)
{
    if (gates == GRU)
        forward_row(GRU, s, size);
    else if (gates == LSTM)
        forward_row(LSTM, s, size);
    else
        forward_row(RNN, s, size);
}

/* Backward: what one row has at one item. */
struct back_step {
    const float *gradient;      /* (size), of the state, from outside */
    const float *before;        /* (size), the state before */
    const float *state;         /* (size), the state after, RNN alone */
    const float *memory_before; /* (size), LSTM alone */
    float *saved;
    float *carried;        /* (size), gradient of the state, from the items after */
    float *carried_memory; /* (size), the same of the memory, LSTM alone */
};

/* Everything a vector of a cell reads, so that it can be read before a neighbour is written. */
struct operands {
    vector gradient, before, memory, carried_memory, gates[4];
};

INLINE struct operands rnn_operands(const struct back_step *s, int64_t size, int64_t at)
{
    (void)size;
    struct operands o;
    o.gradient = load(s->gradient + at) + load(s->carried + at);
    o.gates[0] = load(s->state + at);
    return o;
}

INLINE void rnn_backward(const struct back_step *s, int64_t size, int64_t at, struct operands o)
{
    (void)size;
    store(s->saved + at, o.gradient * (1.0f - o.gates[0] * o.gates[0]));
    store(s->carried + at, splat(0));
}

INLINE struct operands gru_operands(const struct back_step *s, int64_t size, int64_t at)
{
    struct operands o;
    o.gradient = load(s->gradient + at) + load(s->carried + at);
    o.before = load(s->before + at);
    for (int gate = 0; gate < 4; gate++)
        o.gates[gate] = load(s->saved + gate * size + at);
    return o;
}

INLINE void gru_backward(const struct back_step *s, int64_t size, int64_t at, struct operands o)
{
    const vector n = o.gates[0], r = o.gates[1], z = o.gates[2], hidden = o.gates[3];
    const vector to_new = o.gradient * (1.0f - z);
    const vector n_gradient = to_new * (1.0f - n * n);
    store(s->saved + at, n_gradient);
    store(s->saved + size + at, n_gradient * hidden * (r * (1.0f - r)));
    store(s->saved + 2 * size + at, to_new * z * (o.before - n));
    store(s->saved + 3 * size + at, n_gradient * r);
    store(s->carried + at, o.gradient * z);
}

INLINE struct operands lstm_operands(const struct back_step *s, int64_t size, int64_t at)
{
    struct operands o;
    o.gradient = load(s->gradient + at) + load(s->carried + at);
    o.before = load(s->memory_before + at);
    o.memory = load(s->saved + 4 * size + at);
    o.carried_memory = load(s->carried_memory + at);
    for (int gate = 0; gate < 4; gate++)
        o.gates[gate] = load(s->saved + gate * size + at);
    return o;
}

INLINE void lstm_backward(const struct back_step *s, int64_t size, int64_t at, struct operands o)
{
    const vector i = o.gates[0], f = o.gates[1], g = o.gates[2], out = o.gates[3];
    const vector shown = tanh_of(o.memory);
    const vector memory = o.carried_memory + o.gradient * out * (1.0f - shown * shown);
    store(s->saved + at, memory * g * (i * (1.0f - i)));
    store(s->saved + size + at, memory * o.before * (f * (1.0f - f)));
    store(s->saved + 2 * size + at, memory * i * (1.0f - g * g));
    store(s->saved + 3 * size + at, o.gradient * shown * (out * (1.0f - out)));
    store(s->carried_memory + at, memory * f);
    store(s->carried + at, splat(0));
}

static void cell_backward(int64_t gates, const struct back_step *s, int64_t size)
{
    const int64_t last = size - WIDTH;
#define EVERY_VECTOR(cell)                                               \
    const struct operands kept = cell##_operands(s, size, last);         \
    for (int64_t at = 0; at < last; at += WIDTH)                         \
        cell##_backward(s, size, at, cell##_operands(s, size, at));      \
    cell##_backward(s, size, last, kept)
    if (gates == GRU) {
        EVERY_VECTOR(gru);
    } else if (gates == LSTM) {
        EVERY_VECTOR(lstm);
    } else {
        EVERY_VECTOR(rnn);
    }
#undef EVERY_VECTOR
}
