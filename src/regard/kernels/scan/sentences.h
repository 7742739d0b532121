/* Where sentences end: regard.text.sentences, rule for rule.
 *
 * A rule returns where the sentence ends, or 0 where it does not. */

enum { BRACKET_REACH = 40, WORD_REACH = 24, NARROW = 40, WIDE = 120 };

/* The lists a word may be in, in the order of WORD_LISTS in text/sentences.py. */
enum {
    ABBREVIATIONS = 1,
    BEFORE_NUMBERS = 2,
    OFTEN_LAST = 4,
    STARTERS = 8,
    ORDINALS = 16,
    NAMES = 32,
    BEFORE_YO = 64,
    BEFORE_DA = 128
};

/* Which lists the word is in. */
static int lists_of(const struct walk *walk, int64_t start, int64_t end)
{
    if (start == end)
        return 0;
    const struct text *text = walk->text;
    const int32_t lists = value_of(&text->rules->words, text->lowered + start, end - start);
    return lists < 0 ? 0 : lists;
}

/* Where the word that ends here begins. */
static int64_t word_before(const struct walk *walk, int64_t end)
{
    const int64_t reach = end - WORD_REACH;
    const int64_t lowest = reach > walk->sentence ? reach : walk->sentence;
    int64_t start = end;
    while (start > lowest && has(walk->kinds[start - 1], IN_WORD))
        start--;
    return start;
}

/* Where the word that begins here ends. */
static int64_t word_after(const struct walk *walk, int64_t start)
{
    return kinds_end(walk, start, WORD_REACH, LETTERS);
}

static int lists_before(const struct walk *walk, int64_t end)
{
    return lists_of(walk, word_before(walk, end), end);
}

static int lists_after(const struct walk *walk, int64_t start)
{
    return lists_of(walk, start, word_after(walk, start));
}

static int has_line_end(const struct walk *walk, int64_t start, int64_t end)
{
    while (start < end && walk->kinds[start] == ' ')
        start++;
    return start < end;
}

/* How far ahead the next one of a kind is, or the text's end, but not farther than `reach`. */
static int64_t distance(const struct walk *walk, uint8_t kind, int64_t start, int64_t reach)
{
    const int64_t end = reach < walk->length - start ? start + reach : walk->length;
    int64_t at = start;
    while (at < end && walk->kinds[at] != kind)
        at++;
    return at - start;
}

/* Whether a line that ends here goes on in the next, as text of a fixed width does. */
static int is_wrapped(const struct walk *walk, int64_t end, int64_t following)
{
    const int64_t length = end - walk->line;
    int64_t lines = 0;
    for (int64_t at = end; at < following; at++) {
        if (walk->kinds[at] == '\f')
            return 0;
        lines += walk->kinds[at] == '\n';
    }
    if (lines != 1 || length < NARROW || length > WIDE || following == walk->length)
        return 0;
    if (is_one_of(walk->kinds[following], "b-d") || is_item(walk, following))
        return 0;
    const int64_t next_line = distance(walk, '\n', following, WIDE + 1);
    const int64_t next_word = distance(walk, ' ', following, NARROW);
    return walk->kinds[following] == 'a' || length + 1 + next_word >= next_line;
}

/* Whether a stop with no space behind ends the sentence: great.The */
static int ends_unspaced(const struct walk *walk, const struct place *place)
{
    const uint8_t before = kind_at(walk, place->start - 1), after = walk->kinds[place->close_end];
    const int is_single = place->stop_end - place->start == 1;
    const int is_mark = walk->kinds[place->start] == '!';
    if (is_one_of(before, "ck") && is_one_of(after, "ck"))
        return is_single || is_mark;
    if (before != 'a' || after != 'A' || place->stop_end != place->close_end)
        return 0;
    if (is_mark)
        return 1;
    const int64_t behind = word_after(walk, place->close_end);
    return is_single && lists_of(walk, place->close_end, behind) & STARTERS &&
           kind_at(walk, behind) == ' ';
}

static int number_ends(const struct walk *walk, int64_t first, int64_t dot, int64_t following)
{
    if (dot - first <= 3 && lead(walk) >= first)
        return 0; /* 1. The first item */
    if (dot - first > 2)
        return 1;
    return !((lists_before(walk, first - 1) | lists_after(walk, following)) & ORDINALS);
}

static int is_number(const struct walk *walk, int64_t start, int64_t end)
{
    while (start < end && walk->kinds[start] == '1')
        start++;
    return start == end;
}

static int is_acronym(const struct walk *walk, int64_t start, int64_t end) /* U.S.A, p.m, Ph.D */
{
    for (int parts = 1;; parts++) {
        int64_t at = start;
        while (at < end && is_one_of(walk->kinds[at], "aA"))
            at++;
        if (at == start || at - start > 3)
            return 0;
        if (at == end)
            return parts > 1;
        if (walk->kinds[at] != '.')
            return 0;
        start = at + 1;
    }
}

/* Whether a single dot ends the sentence; `after` is the kind of what follows. */
static int dot_ends(const struct walk *walk, int64_t dot, int64_t following, uint8_t after)
{
    const int64_t first = word_before(walk, dot), length = dot - first;
    const int is_alone = first == 0 || is_one_of(walk->kinds[first - 1], " \n\f\"'`([");
    if (!length)
        return after != 'a' || is_alone;
    const int lists = lists_of(walk, first, dot);
    if (lists & ABBREVIATIONS)
        return 0;
    if (is_number(walk, first, dot))
        return after != 'a' && number_ends(walk, first, dot, following);
    if (after == '1' && lists & BEFORE_NUMBERS)
        return 0;
    const int is_initial = is_alone && length == 1 && is_one_of(walk->kinds[first], "aA");
    if (is_initial || lists & OFTEN_LAST || is_acronym(walk, first, dot)) {
        const int begins_item = is_initial && lead(walk) >= first;
        return !begins_item && after == 'A' && lists_after(walk, following) & STARTERS;
    }
    const int is_ordinary = length > 2 || lists & STARTERS;
    return after != 'a' || (is_ordinary && !(lists & BEFORE_NUMBERS));
}

static int ends_spaced(const struct walk *walk, const struct place *place)
{
    const int64_t start = place->start, following = opened(walk, place->end);
    const uint8_t after = kind_at(walk, following);
    if (is_one_of(after, ",;:)") || is_one_of(kind_at(walk, start - 1), "([<"))
        return 0;
    if (after == 'a' && (following > place->end || place->close_end > place->stop_end))
        return 0; /* "This is great." she said */
    const int is_single = place->stop_end - start == 1;
    if (walk->kinds[start] == '!')
        return !(is_single && after == 'a' && lists_before(walk, start) & NAMES);
    if (!is_single || walk->kinds[start] != '.')
        return after != 'a'; /* ... */
    return dot_ends(walk, start, following, after);
}

static int64_t stop_rule(const struct walk *walk, const struct place *place)
{
    const int64_t close = place->close_end, gap = place->end;
    if (close == gap && gap < walk->length)
        return ends_unspaced(walk, place) ? close : 0;
    if (ends_spaced(walk, place))
        return close;
    return has_line_end(walk, close, gap) && !is_wrapped(walk, close, gap) ? close : 0;
}

static int64_t full_stop_rule(const struct walk *walk, const struct place *place)
{
    const int64_t end = place->end;
    if (kind_at(walk, place->start - 1) == '1' && kind_at(walk, end) == '1')
        return 0; /* inside a number */
    const int64_t reach = BRACKET_REACH < walk->length - end ? end + BRACKET_REACH : walk->length;
    int64_t bracket = end;
    while (bracket < reach && !is_one_of(walk->kinds[bracket], "<>\n\f"))
        bracket++;
    if (bracket < reach && walk->kinds[bracket] == '>')
        return 0; /* inside a title or a quotation */
    const uint32_t following = code_at(walk->text, end);
    if (following == 0x3068 && is_one_of(walk->kinds[end - 1], ">\""))
        return 0; /* the Japanese "to" behind what was said */
    return following == 0x3001 || following == 0xFF0C || following == ',' ? 0 : end;
}

static int64_t bullet_rule(const struct walk *walk, const struct place *place)
{
    const int64_t start = place->start;
    return start >= lead(walk) && has(walk->kinds[start - 1], NOTHING) ? start : 0;
}

/* Where an item of a list begins whose number or letter a dot or a bracket ends. */
static int64_t item_before(const struct walk *walk, const struct place *place)
{
    int64_t start = place->start - 1;
    start -= start > 1 && walk->kinds[start - 1] == '1' && walk->kinds[start] == '1';
    if (start < 1 || !is_one_of(walk->kinds[start], "1a") || !has(walk->kinds[start - 1], NOTHING))
        return 0;
    /* Only in a list, which the sentence shows by beginning with an item. */
    const int64_t first = lead(walk);
    return start > first && is_item(walk, start) && is_item(walk, first) ? start : 0;
}

static int64_t korean_rule(const struct walk *walk, const struct place *place)
{
    const int64_t last = place->start, end = place->end;
    if (end - last > 1)
        return end;
    const uint32_t following = code_at(walk->text, end + 1);
    if (following == 0xD558 || following == 0xD574) /* ha, hae: what was said goes on */
        return 0;
    const int before = last > walk->sentence ? lists_of(walk, last - 1, last) : 0;
    switch (walk->text->codes[last]) {
    case 0xB2E4: /* da */
        return before & BEFORE_DA ? end : 0;
    case 0xC694: /* yo */
        return before & BEFORE_YO ? end : 0;
    case 0xC8E0: /* jyo */
    case 0xC918: /* jwo */
        return end;
    default:
        return 0;
    }
}

static int64_t face_rule(const struct walk *walk, const struct place *place)
{
    const int is_end =
        has(walk->kinds[place->end - 1], NOTHING) && kind_at(walk, place->end) == 'A';
    return is_end ? same_end(walk, place->start, 'f') : 0;
}

static int64_t rule_for(const struct walk *walk, const struct place *place)
{
    switch (place->kind) {
    case STOP:
        return stop_rule(walk, place);
    case FULL_STOP:
        return full_stop_rule(walk, place);
    case LINE_END:
        return is_wrapped(walk, place->start, place->end) ? 0 : place->start;
    case BULLET:
        return bullet_rule(walk, place);
    case KOREAN_END:
        return korean_rule(walk, place);
    case FACE:
        return face_rule(walk, place);
    default:
        return 0;
    }
}

/* Tokens are counted off as sentences end. */
struct sentences {
    const int32_t *spans;
    int64_t token_count, counted; /* of all tokens, those in a sentence that has ended */
    int32_t *lengths;
    int64_t count;
};

static void end_sentence(struct sentences *sentences, int64_t end)
{
    const int64_t first = sentences->counted;
    int64_t token = first;
    while (token < sentences->token_count && sentences->spans[2 * token] < end)
        token++;
    if (token > first)
        sentences->lengths[sentences->count++] = (int32_t)(token - first);
    sentences->counted = token;
}

static void find_sentences(const struct text *text, struct sentences *sentences)
{
    struct walk walk = {text, text->kinds, text->length, 0, 0};
    walk.sentence = walk.line = kinds_end(&walk, 0, text->length, NOTHING);
    struct place place = {0};
    const uint8_t *kinds = text->kinds;
    const int64_t length = text->length;
    for (int64_t at = 0;;) {
        while (at < length && !has(kinds[at], PLACE))
            at++;
        if (at == length)
            break;
        if (!read_place(&walk, at, &place)) {
            at++;
            continue;
        }
        int64_t end;
        if ((place.kind == STOP || place.kind == CLOSING_BRACKET) &&
            (end = item_before(&walk, &place))) {
            end_sentence(sentences, end);
            walk.sentence = end;
        }
        if ((end = rule_for(&walk, &place))) {
            end_sentence(sentences, end);
            walk.sentence = place.end;
        }
        if (place.kind == LINE_END ||
            (place.kind == STOP && has_line_end(&walk, place.close_end, place.end)))
            walk.line = place.end;
        at = place.end;
    }
    end_sentence(sentences, text->length);
}
