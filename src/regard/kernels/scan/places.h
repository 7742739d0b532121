/* What the rules for sentences look at: the patterns of regard.text.sentences.
 *
 * None of them can match in two ways, so each is read from left to right without going back. */

/* Where a sentence might end: a stop, what closes behind it and a gap, or something else. */
enum place_kind { STOP, FULL_STOP, LINE_END, BULLET, CLOSING_BRACKET, KOREAN_END, FACE };

struct place {
    enum place_kind kind;
    int64_t start, end;
    int64_t stop_end, close_end; /* of a stop: where what closes begins, and where the gap does */
};

/* One walk through a text, and what its rules may ask of the place it has come to. */
struct walk {
    const struct text *text;
    const uint8_t *kinds;
    int64_t length;
    int64_t sentence; /* where the current sentence begins */
    int64_t line;     /* where the current line begins */
};

static int64_t kinds_end(const struct walk *walk, int64_t at, int64_t most, unsigned trait)
{
    const int64_t end = most < walk->length - at ? at + most : walk->length;
    while (at < end && has(walk->kinds[at], trait))
        at++;
    return at;
}

static int64_t same_end(const struct walk *walk, int64_t at, uint8_t kind)
{
    while (at < walk->length && walk->kinds[at] == kind)
        at++;
    return at;
}

/* The kind of a character, or 0 outside of the text. */
static uint8_t kind_at(const struct walk *walk, int64_t at)
{
    return at >= 0 && at < walk->length ? walk->kinds[at] : 0;
}

static int is_stop(uint8_t kind) { return is_one_of(kind, ".!z"); }

/* One more thing that closes a sentence behind its stop, [17] or a face, or `at`. */
static int64_t reference_end(const struct walk *walk, int64_t at)
{
    const int is_spaced = kind_at(walk, at) == ' ';
    int64_t end = at + is_spaced;
    if (kind_at(walk, end) == '[') {
        const int64_t figures = end + 1;
        end = same_end(walk, figures, '1');
        const int is_short = end > figures && end - figures <= 3;
        return is_short && kind_at(walk, end) == ']' ? end + 1 : at;
    }
    const int64_t face_end = same_end(walk, end, 'f');
    return is_spaced && face_end > end && kind_at(walk, face_end) == ' ' ? face_end : at;
}

static void read_stop(const struct walk *walk, struct place *place)
{
    int64_t at = place->start;
    while (is_stop(kind_at(walk, at)))
        at++;
    while (kind_at(walk, at) == ' ' && kind_at(walk, at + 1) == '.' && kind_at(walk, at + 2) != '.')
        at += 2;
    place->stop_end = at;
    at = kinds_end(walk, at, walk->length, CLOSES);
    for (int64_t next; (next = reference_end(walk, at)) > at;)
        at = next;
    place->close_end = at;
    place->end = kinds_end(walk, at, walk->length, NOTHING);
}

static int64_t full_stop_end(const struct walk *walk, int64_t at)
{
    for (at++; is_one_of(kind_at(walk, at), "o!.m");)
        at++;
    while (is_one_of(kind_at(walk, at), "\"'`)>m"))
        at++;
    return at;
}

/* The place that begins here; whether there is one. */
static int read_place(const struct walk *walk, int64_t at, struct place *place)
{
    place->start = at;
    place->end = at + 1;
    switch (walk->kinds[at]) {
    case 'o':
        place->kind = FULL_STOP;
        place->end = full_stop_end(walk, at);
        return 1;
    case '\n':
    case '\f':
        place->kind = LINE_END;
        place->end = kinds_end(walk, at, walk->length, NOTHING);
        return 1;
    case 'b':
        place->kind = BULLET;
        return 1;
    case ')':
        place->kind = CLOSING_BRACKET;
        return 1;
    case 'k':
        place->kind = KOREAN_END;
        place->end = same_end(walk, at + 1, '~');
        return kind_at(walk, place->end) == ' ';
    case 'f':
        place->kind = FACE;
        place->end = same_end(walk, same_end(walk, at, 'f'), ' ');
        return 1;
    default:
        place->kind = STOP;
        read_stop(walk, place);
        return 1;
    }
}

/* Where the first word of the current sentence begins. */
static int64_t lead(const struct walk *walk)
{
    return kinds_end(walk, walk->sentence, 16, NOTHING | OPENS);
}

/* Where the dash, quotation marks and brackets that begin here are over. */
static int64_t opened(const struct walk *walk, int64_t at)
{
    int64_t dash = at;
    while (dash - at < 3 && is_one_of(kind_at(walk, dash), "-d"))
        dash++;
    if (dash > at && kind_at(walk, dash) == ' ')
        at = dash + 1;
    return kinds_end(walk, at, 8, OPENS);
}

/* Whether the number or letter of an item of a list stands here. */
static int is_item(const struct walk *walk, int64_t at)
{
    const uint8_t first = kind_at(walk, at);
    if (first != '1' && first != 'a')
        return 0;
    at += 1 + (first == '1' && kind_at(walk, at + 1) == '1');
    const uint8_t sign = kind_at(walk, at);
    if (sign != '.' && sign != ')')
        return 0;
    at += 1 + (sign == '.' && kind_at(walk, at + 1) == ')');
    return at == walk->length || has(walk->kinds[at], NOTHING);
}

