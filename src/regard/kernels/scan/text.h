/* A text while it is scanned, and the traits of kinds of characters that its rules ask for. */

#define MARGIN 2 /* blanks on either side of the kinds, since a rule looks so far */

struct text {
    const struct scan_rules *rules;
    const uint32_t *codes;   /* (length) */
    const uint32_t *lowered; /* (length) */
    int64_t length;
    uint8_t *kinds; /* (length), and a margin of blanks on either side */
    uint8_t *bases; /* (length + 2 * MARGIN), room for the kinds without their marks */
    int has_marks;
};

enum {
    NOTHING = 1,
    MARK = 2,
    WORD = 4,
    LETTER = 8,
    TAKES_APOSTROPHE = 16,
    LETTERS = 32,   /* of which the rules for sentences make words */
    IN_WORD = 64,   /* and what else may stand in one */
    MIDDLE = 128,   /* may stand inside a word, as in 10:30 */
    REPEATED = 256, /* one token however often it is repeated */
    PLACE = 512,    /* where a sentence might end */
    CLOSES = 1024,
    OPENS = 2048,
    ATTACHED = 4096 /* may belong to the token before for what it is */
};

static const uint16_t traits[256] = {
    [' '] = NOTHING,
    ['\n'] = NOTHING | PLACE,
    ['\f'] = NOTHING | PLACE,
    ['a'] = WORD | LETTER | TAKES_APOSTROPHE | LETTERS | IN_WORD,
    ['A'] = WORD | LETTER | TAKES_APOSTROPHE | LETTERS | IN_WORD,
    ['x'] = WORD | LETTER | TAKES_APOSTROPHE | LETTERS | IN_WORD,
    ['1'] = WORD | TAKES_APOSTROPHE | IN_WORD,
    ['k'] = WORD | LETTERS | IN_WORD | PLACE,
    ['m'] = MARK | ATTACHED | IN_WORD | CLOSES | OPENS,
    ['j'] = MARK | ATTACHED,
    ['e'] = IN_WORD | ATTACHED,
    ['r'] = ATTACHED,
    ['.'] = MIDDLE | REPEATED | IN_WORD | PLACE,
    [','] = MIDDLE,
    [':'] = MIDDLE,
    ['\''] = MIDDLE | REPEATED | CLOSES | OPENS,
    ['`'] = REPEATED | CLOSES | OPENS,
    ['"'] = CLOSES | OPENS,
    ['!'] = REPEATED | PLACE,
    ['z'] = REPEATED | PLACE,
    ['o'] = PLACE,
    ['b'] = PLACE | OPENS,
    ['f'] = REPEATED | PLACE,
    ['u'] = REPEATED,
    ['-'] = REPEATED | OPENS,
    ['d'] = REPEATED | OPENS,
    ['('] = OPENS,
    ['<'] = OPENS,
    ['['] = OPENS,
    [')'] = CLOSES | PLACE,
    [']'] = CLOSES,
    ['*'] = REPEATED,
    ['='] = REPEATED,
    ['~'] = REPEATED,
    ['+'] = REPEATED,
    ['#'] = REPEATED,
    ['^'] = REPEATED,
    ['$'] = REPEATED,
};

static int has(uint8_t kind, unsigned trait) { return (traits[kind] & trait) != 0; }

static int is_one_of(uint32_t code, const char *set)
{
    for (; *set; set++)
        if (code == (unsigned char)*set)
            return 1;
    return 0;
}
