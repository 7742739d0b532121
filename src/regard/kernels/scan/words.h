/* Where words begin and end: regard.text.words, rule for rule. */

/* The kinds, but a mark has that of what it stands on; if that is nothing, of a letter. */
static const uint8_t *with_bases(const struct text *text)
{
    if (!text->has_marks)
        return text->kinds;
    const uint8_t *written = text->kinds - MARGIN;
    uint8_t *bases = text->bases;
    bases[0] = written[0];
    for (int64_t at = 1; at < text->length + 2 * MARGIN; at++) {
        bases[at] = written[at];
        if (has(written[at], MARK))
            bases[at] = has(written[at - 1], NOTHING) ? 'x' : bases[at - 1];
    }
    return bases + MARGIN;
}

static int is_initial(const uint8_t *bases, int64_t at) /* the first dot of U.S.A. */
{
    return bases[at] == '.' && has(bases[at - 1], LETTER) && has(bases[at + 1], LETTER) &&
           !has(bases[at - 2], WORD) && !has(bases[at + 2], WORD);
}

/* The kind of a sign, but a letter for those inside don't, 1,234.56, 10:30, 8/10 and U.S.A. */
static uint8_t joined_kind(const uint8_t *bases, int64_t at)
{
    const uint8_t kind = bases[at], before = bases[at - 1], after = bases[at + 1];
    if (kind == '\'')
        return has(before, TAKES_APOSTROPHE) && has(after, TAKES_APOSTROPHE) ? 'x' : kind;
    if ((before == '1' && after == '1') || is_initial(bases, at))
        return 'x';
    /* The dot after the second letter, if there is one. */
    return kind == '.' && bases[at - 2] == '.' && is_initial(bases, at - 2) && after != '.' ? 'x'
                                                                                           : kind;
}

/* Whether a character goes on with the token before it for what it is: a mark, the second half
 * of a flag, a picture behind a joiner. */
static unsigned is_attached(const uint8_t *written, int64_t at, int64_t token)
{
    if (has(written[at], MARK))
        return !has(written[at - 1], NOTHING);
    if (written[at] == 'e')
        return written[at - 1] == 'j';
    return written[at] == 'r' && written[at - 1] == 'r' && token == at - 1;
}

/* Words are short and end where no processor expects it, so nothing here branches on their ends:
 * every place is written down as a beginning and as an end, and counted if it is one. */
static int64_t find_words(const struct text *text, int32_t *spans)
{
    const uint8_t *written = text->kinds, *bases = with_bases(text);
    const int64_t length = text->length;
    unsigned traits_of[256]; /* as they are here, where some characters are tokens of their own */
    for (int kind = 0; kind < 256; kind++)
        traits_of[kind] = traits[text->rules->parted[kind] ? 'c' : kind];
    int64_t begun = 0, ended = 0;
    uint8_t before = ' ';
    unsigned traits_before = NOTHING;
    for (int64_t at = 0; at <= length; at++) {
        uint8_t kind = bases[at];
        if (has(kind, MIDDLE))
            kind = joined_kind(bases, at);
        const unsigned traits_here = traits_of[kind];
        unsigned goes_on = traits_before & traits_here & WORD;
        goes_on |= before == kind ? traits_here & REPEATED : 0;
        if (has(written[at], ATTACHED))
            goes_on |= is_attached(written, at, begun ? spans[2 * begun - 2] : -1);
        spans[2 * ended + 1] = (int32_t)at;
        ended += !(goes_on | (traits_before & NOTHING));
        spans[2 * begun] = (int32_t)at;
        begun += !(goes_on | (traits_here & NOTHING));
        before = kind;
        traits_before = traits_here;
    }
    return ended;
}
