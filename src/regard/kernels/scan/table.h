/* Words to their numbers. A slot knows the hash and the length of its word, so that a word is
 * compared with another one only if it is almost certainly the same. */

/* A word is hashed and compared LANES characters at a time, the surplus masked out: most words
 * are shorter, so no processor has to guess where they end. */
static const uint32_t *mask_of(int64_t length)
{
    static const uint32_t masks[2 * LANES] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
    return masks + LANES - (length < LANES ? length : LANES);
}

static uint64_t hash_of(const uint32_t *word, int64_t length)
{
    static const uint32_t keys[LANES] = {0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F,
                                         0x165667B1, 0xD6E8FEB9, 0xA2FBCB13, 0x6C8E9CF5};
    uint64_t hash = (uint64_t)length;
    for (; length > 0; length -= LANES, word += LANES) {
        const uint32_t *mask = mask_of(length);
        uint64_t sum = 0;
        for (int lane = 0; lane < LANES; lane++)
            sum += (uint64_t)(word[lane] & mask[lane]) * keys[lane];
        hash = (hash ^ sum) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    return hash;
}

static int is_same(const uint32_t *word, const uint32_t *other, int64_t length)
{
    uint32_t difference = 0;
    for (; length > 0 && !difference; length -= LANES, word += LANES, other += LANES) {
        const uint32_t *mask = mask_of(length);
        for (int lane = 0; lane < LANES; lane++)
            difference |= (word[lane] ^ other[lane]) & mask[lane];
    }
    return !difference;
}

static struct slot *first_slot(const struct word_table *table, uint64_t hash)
{
    return table->slots + (hash & (uint64_t)(table->slot_count - 1));
}

/* Where the word is, or the free slot where it would be. */
static struct slot *slot_of(const struct word_table *table, const uint32_t *word, int64_t length,
                            uint64_t hash)
{
    const struct slot *end = table->slots + table->slot_count;
    for (struct slot *slot = first_slot(table, hash);;) {
        if (!slot->rank || (slot->hash == hash >> 32 && slot->length == length &&
                            is_same(table->codes + slot->start, word, length)))
            return slot;
        if (++slot == end)
            slot = table->slots;
    }
}

/* What the word stands for, or -1. */
static int32_t value_of(const struct word_table *table, const uint32_t *word, int64_t length)
{
    const struct slot *slot = slot_of(table, word, length, hash_of(word, length));
    return slot->rank ? table->values[slot->rank - 1] : -1;
}

/* Fill a free slot with a word of the table. */
static void fill_slot(const struct word_table *table, struct slot *slot, int64_t number,
                      uint64_t hash)
{
    slot->rank = (uint32_t)number + 1;
    slot->hash = (uint32_t)(hash >> 32);
    slot->start = (uint32_t)table->starts[number];
    slot->length = (uint32_t)(table->starts[number + 1] - table->starts[number]);
}

/* Add a word whose free slot was found; say whether there was room for it. */
static int add_word(struct word_table *table, const uint32_t *word, int64_t length,
                    struct slot *slot, uint64_t hash)
{
    const int64_t number = table->word_count, start = table->starts[number];
    if (number >= table->word_room || length > table->code_room - start ||
        start + length > UINT32_MAX)
        return 0;
    memcpy(table->codes + start, word, sizeof *word * (size_t)length);
    table->starts[number + 1] = start + length;
    table->word_count++;
    fill_slot(table, slot, number, hash);
    return 1;
}
