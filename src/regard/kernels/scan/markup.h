/* Tags, entities, addresses and faces: regard.text.markup, pattern for pattern.
 *
 * None of its patterns can match in two ways, so each is read from left to right without going
 * back. A function that looks for a pattern returns where it ends, or 0. */

#define NONE UINT32_MAX /* no code point: what follows the last one */

static uint32_t code_at(const struct text *text, int64_t at)
{
    return at < text->length ? text->codes[at] : NONE;
}

static int is_figure(uint32_t code) { return code - '0' < 10; }
static int is_letter(uint32_t code) { return (code | 0x20) - 'a' < 26; }
static int is_word(uint32_t code) { return is_figure(code) || is_letter(code); }
static int is_hexadecimal(uint32_t code) { return is_figure(code) || (code | 0x20) - 'a' < 6; }
static int is_in_tag(uint32_t code) { return code != '<' && code != '>'; }
static int is_in_name(uint32_t code) { return is_in_tag(code) && code != '='; }
static int is_in_mailbox(uint32_t code) { return is_word(code) || is_one_of(code, "_.+-"); }
static int is_in_host(uint32_t code) { return is_word(code) || code == '-'; }

static int is_white(uint32_t code) { return is_one_of(code, " \t\r\n"); }

static int is_in_address(uint32_t code)
{
    return (code >= '#' && code <= ';') || (code >= '?' && code <= 'Z') ||
           (code >= 'a' && code <= 'z') || is_one_of(code, "!=[]_~");
}

static int may_end_address(uint32_t code)
{
    return is_in_address(code) && !is_one_of(code, "!'(),.:;?[]");
}

/* How far from here all characters belong, but not farther than `most`. */
static int64_t run_end(const struct text *text, int64_t at, int64_t most, int (*belongs)(uint32_t))
{
    const int64_t end = most < text->length - at ? at + most : text->length;
    while (at < end && belongs(text->codes[at]))
        at++;
    return at;
}

_Static_assert(sizeof(wchar_t) == sizeof(uint32_t), "wmemchr must search code points");

/* Where the character is next, or the text's end. */
static int64_t next_place(const struct text *text, int64_t at, wchar_t sign)
{
    const wchar_t *found =
        wmemchr((const wchar_t *)text->codes + at, sign, (size_t)(text->length - at));
    return found ? found - (const wchar_t *)text->codes : text->length;
}

static void cover(const struct text *text, int64_t start, int64_t end, uint8_t kind)
{
    memset(text->kinds + start, kind, (size_t)(end - start));
}

static int is_masked(const struct text *text, int64_t at)
{
    return is_one_of(text->kinds[at], " \f");
}

/* A tag that has a name, which ends at *name_end. */
static int64_t named_tag(const struct text *text, int64_t name, int64_t *name_end)
{
    if (!is_letter(code_at(text, name)))
        return 0;
    *name_end = run_end(text, name + 1, 10, is_word);
    int64_t at = run_end(text, *name_end, 9, is_white);
    at += code_at(text, at) == '/';
    if (code_at(text, at) == '>')
        return at + 1;
    if (!is_white(code_at(text, *name_end)))
        return 0;
    at = run_end(text, *name_end + 1, 99, is_in_name);
    if (code_at(text, at) != '=')
        return 0;
    at = run_end(text, at + 1, 1999, is_in_tag);
    return code_at(text, at) == '>' ? at + 1 : 0;
}

/* A comment or a declaration, whose "<!" ends here. */
static int64_t nameless_tag(const struct text *text, int64_t at)
{
    if (code_at(text, at) == '-' && code_at(text, at + 1) == '-')
        at += 2;
    else if (is_letter(code_at(text, at)))
        at++;
    else
        return 0;
    at = run_end(text, at, 1999, is_in_tag);
    return code_at(text, at) == '>' ? at + 1 : 0;
}

static void mask_tags(const struct text *text)
{
    int64_t end;
    for (int64_t at = 0; (at = next_place(text, at, '<')) < text->length; at = end ? end : at + 1) {
        const int64_t name = at + 1 + (code_at(text, at + 1) == '/');
        int64_t name_end;
        if (code_at(text, name) == '!' && name == at + 1) {
            if ((end = nameless_tag(text, name + 1)))
                cover(text, at, end, ' ');
        } else if ((end = named_tag(text, name, &name_end))) {
            const int32_t kind =
                value_of(&text->rules->tags, text->lowered + name, name_end - name);
            if (kind >= 0)
                cover(text, at, end, (uint8_t)kind);
        }
    }
}

static int32_t number_written(const struct text *text, int64_t at, int64_t end, int32_t base)
{
    int32_t number = 0;
    for (; at < end; at++) {
        const uint32_t code = text->codes[at];
        number = number * base + (int32_t)(is_figure(code) ? code - '0' : (code | 0x20) - 'a' + 10);
    }
    return number < 0x110000 ? number : -1;
}

/* An entity that begins here; *code is what it stands for, or -1 where that is nothing. */
static int64_t entity(const struct text *text, int64_t at, int32_t *code)
{
    int64_t start = at + 1, end;
    if (code_at(text, start) != '#') {
        if (!is_letter(code_at(text, start)))
            return 0;
        end = run_end(text, start + 1, 7, is_word);
        if (end == start + 1 || code_at(text, end) != ';')
            return 0;
        *code = value_of(&text->rules->entities, text->codes + start, end - start);
        return end + 1;
    }
    const int hexadecimal = is_one_of(code_at(text, ++start), "xX");
    start += hexadecimal;
    end = run_end(text, start, hexadecimal ? 6 : 7, hexadecimal ? is_hexadecimal : is_figure);
    if (end == start || code_at(text, end) != ';')
        return 0;
    *code = number_written(text, start, end, hexadecimal ? 16 : 10);
    return end + 1;
}

static int is_inside_word(const struct text *text, int64_t start, int64_t end)
{
    return start > 0 && end < text->length && has(text->kinds[start - 1], TAKES_APOSTROPHE) &&
           has(text->kinds[end], TAKES_APOSTROPHE);
}

static void mask_entities(struct text *text)
{
    int32_t code;
    int64_t end;
    for (int64_t at = 0; (at = next_place(text, at, '&')) < text->length; at = end ? end : at + 1) {
        end = entity(text, at, &code);
        if (!end || code < 0 || is_masked(text, at))
            continue;
        uint8_t kind = text->rules->kinds[code];
        if (kind == '\'' && is_inside_word(text, at, end))
            kind = 'a';
        else if (kind == '\n')
            kind = ' ';
        cover(text, at, end, is_one_of(kind, "aAxk1 m") ? kind : 'm');
        text->kinds[at] = kind;
        text->has_marks = 1;
    }
}

/* Whether the letters, in either case, stand here. */
static int spells(const struct text *text, int64_t at, const char *letters)
{
    for (; *letters; letters++, at++) {
        const uint32_t code = code_at(text, at);
        if ((is_letter(code) ? code | 0x20 : code) != (uint32_t)*letters)
            return 0;
    }
    return 1;
}

/* The beginning of an address: http:// or www. */
static int64_t scheme(const struct text *text, int64_t at)
{
    if (spells(text, at, "www.")) {
        const uint32_t *w = text->codes + at; /* www, Www or WWW, but not wWw */
        return w[1] == w[2] && (w[1] == 'w' || w[0] == 'W') ? at + 4 : 0;
    }
    if (spells(text, at, "ftp://"))
        return at + 6;
    if (!spells(text, at, "http"))
        return 0;
    at += 4 + ((code_at(text, at + 4) | 0x20) == 's');
    return spells(text, at, "://") ? at + 3 : 0;
}

static int64_t address(const struct text *text, int64_t at)
{
    const int64_t start = scheme(text, at);
    if (!start)
        return 0;
    int64_t end = run_end(text, start, text->length, is_in_address);
    while (end > start && !may_end_address(text->codes[end - 1]))
        end--;
    return end > start ? end : 0;
}

static void mask_addresses(const struct text *text)
{
    for (int64_t at = 0, end; at < text->length; at = end ? end : at + 1) {
        const int begins = is_one_of(text->codes[at], "hHfFwW") &&
                           !(at && is_word(text->codes[at - 1]));
        end = begins ? address(text, at) : 0;
        if (end && !is_masked(text, at))
            cover(text, at, end, 'u');
    }
}

/* The host of a mail address, which begins behind the @. */
static int64_t host(const struct text *text, int64_t start)
{
    int64_t end = run_end(text, start, 63, is_in_host);
    if (end == start)
        return 0;
    int names = 0;
    for (; names < 8 && code_at(text, end) == '.'; names++) {
        const int64_t name_end = run_end(text, end + 1, 63, is_in_host);
        if (name_end == end + 1)
            break;
        end = name_end;
    }
    return names ? end : 0;
}

static void mask_mails(const struct text *text)
{
    int64_t last = 0; /* where the mail address before ends */
    int64_t end;
    for (int64_t at = 0; (at = next_place(text, at, '@')) < text->length; at = end ? end : at + 1) {
        int64_t start = at;
        while (start > 0 && at - start <= 64 && is_in_mailbox(text->codes[start - 1]))
            start--;
        const int begins = start < at && at - start <= 64 && start >= last;
        end = begins ? host(text, at + 1) : 0;
        if (end && !is_masked(text, start))
            cover(text, start, end, 'u');
        last = end ? end : last;
    }
}

static int is_bracket(uint32_t code) { return code == '(' || code == ')'; }
static int is_closing(uint32_t code) { return code == ')'; }

static void mask_faces(const struct text *text)
{
    for (int64_t at = 0, end; at < text->length; at = end ? end : at + 1) {
        end = 0;
        if (!is_one_of(text->codes[at], ":;="))
            continue;
        const int64_t mouth = at + 1 + (code_at(text, at + 1) == '-');
        const int smiles = text->codes[at] != '=' && code_at(text, mouth) == ')';
        end = run_end(text, mouth, text->length, smiles ? is_closing : is_bracket);
        end += end == mouth && is_one_of(code_at(text, mouth), "DPp");
        if (end == mouth) {
            end = 0;
            continue;
        }
        const int is_apart = at == 0 || has(text->kinds[at - 1], NOTHING);
        const int is_whole = end == text->length || !has(text->kinds[end], TAKES_APOSTROPHE);
        if (!is_masked(text, at) && (smiles || (is_apart && is_whole)))
            cover(text, at, end, 'f');
    }
}
