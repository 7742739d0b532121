"use strict";
// Texts to words and sentences: regard.text, rule for rule, over the tables that it wrote down.
//
// Places count code points. `plain` has one UTF-16 unit for each of them, so that patterns and places agree: what
// lies above the first plane stands there as a private letter that no pattern asks for by name.

const codeOf = (letter) => letter.charCodeAt(0);
const flagsOf = (letters) => {
  const flags = new Uint8Array(256);
  for (const letter of letters) flags[codeOf(letter)] = 1;
  return flags;
};

const SPACE = codeOf(" "), BREAK = codeOf("\f"), LINE = codeOf("\n"), LOWER = codeOf("a"), UPPER = codeOf("A");
const FIGURE = codeOf("1"), DOT = codeOf("."), MARK = codeOf("!"), LETTER_KIND = codeOf("x"), QUOTE = codeOf("'");
const JOINER = codeOf("j"), PICTURE = codeOf("e"), FLAG = codeOf("r"), UNSPACED = codeOf("c");

const IS_MASKED = flagsOf(" \f"), IS_NOTHING = flagsOf(" \n\f"), IS_FILLING = flagsOf("aAxk1 m");
const IN_MARKED_WORDS = flagsOf("aAx1"), IS_MARK = flagsOf("mj"), IS_MIDDLE = flagsOf("'.,:"), IS_WORD = flagsOf("aAxk1");
const IS_LETTER = flagsOf("aAx"), TAKES_APOSTROPHE = flagsOf("aAx1"), IS_REPEATED = flagsOf(".!z'`-d*=~+#^$uf");
const IN_WORD = flagsOf("aAxk1me."), IS_SPELT = flagsOf("aAxk"), IS_UNSPACED = flagsOf("ck");
const GOES_ON = flagsOf(",;:)"), IS_OPEN = flagsOf("([<"), STANDS_ALONE = flagsOf(" \n\f\"'`(["), IS_BULLET = flagsOf("b-d");
const IS_ITEM_START = flagsOf("1a"), CLOSES_TITLE = flagsOf('>"');

// ---------------------------------------------------------------- what is no plain word

const TAG = /<(?:\/?([A-Za-z][A-Za-z0-9]{0,10})(?:[ \t\r\n]{0,9}\/?|[ \t\r\n][^<>=]{0,99}=[^<>]{0,1999})|!(?:--|[A-Za-z])[^<>]{0,1999})>/g;
const ENTITY = /&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,7}));/g;
const ADDRESS = /(?<![A-Za-z0-9])(?:(?:[Hh][Tt]{2}[Pp][Ss]?|[Ff][Tt][Pp]):\/\/|(?:www|Www|WWW)\.)[!#-;=?-Z\[\]_a-z~]*[#-&*+\-\/-9=@-Z_a-z~]/g;
const MAIL = /(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/g;
const FACE = /([:;]-?\)+)|[:;=]-?(?:[()]+|[DPp])/g;

function maskMarkup(plain, kinds, rules) {
  if (plain.includes("<")) maskTags(plain, kinds, rules);
  if (plain.includes("&")) maskEntities(plain, kinds, rules);
  if (plain.includes("://") || plain.includes("ww.") || plain.includes("WW.")) maskAddresses(ADDRESS, plain, kinds);
  if (plain.includes("@")) maskAddresses(MAIL, plain, kinds);
  maskFaces(plain, kinds);
}

function maskTags(plain, kinds, rules) {
  for (const tag of plain.matchAll(TAG)) {
    const kind = rules.tags.get((tag[1] || "a").toLowerCase()); // a comment or a declaration is no block
    if (kind !== undefined) kinds.fill(kind, tag.index, tag.index + tag[0].length);
  }
}

function maskEntities(plain, kinds, rules) {
  for (const entity of plain.matchAll(ENTITY)) {
    const start = entity.index, end = start + entity[0].length;
    const [, decimal, hexadecimal, name] = entity;
    const code = name ? rules.entities.get(name) : decimal ? parseInt(decimal, 10) : parseInt(hexadecimal, 16);
    if (code === undefined || code >= 0x110000 || IS_MASKED[kinds[start]]) continue;
    let kind = rules.kinds[code];
    const inside = start > 0 && end < kinds.length && IN_MARKED_WORDS[kinds[start - 1]] && IN_MARKED_WORDS[kinds[end]];
    if (kind === QUOTE && inside) kind = LOWER; // don&#39;t
    else if (kind === LINE) kind = SPACE;
    kinds.fill(IS_FILLING[kind] ? kind : codeOf("m"), start, end);
    kinds[start] = kind;
  }
}

function maskAddresses(pattern, plain, kinds) {
  for (const address of plain.matchAll(pattern)) {
    if (!IS_MASKED[kinds[address.index]]) kinds.fill(codeOf("u"), address.index, address.index + address[0].length);
  }
}

function maskFaces(plain, kinds) {
  for (const face of plain.matchAll(FACE)) {
    const start = face.index, end = start + face[0].length;
    const apart = start === 0 || IS_NOTHING[kinds[start - 1]];
    const whole = end === kinds.length || !IN_MARKED_WORDS[kinds[end]];
    if (!IS_MASKED[kinds[start]] && (face[1] || (apart && whole))) kinds.fill(codeOf("f"), start, end);
  }
}

// ---------------------------------------------------------------- words

const MARGIN = 2; // how far to either side a rule looks

function withMargin(kinds) {
  const written = new Uint8Array(kinds.length + 2 * MARGIN).fill(SPACE);
  written.set(kinds, MARGIN);
  return written;
}

/** The kinds, but a mark has that of what it stands on; if that is nothing, of a letter. */
function withBases(written) {
  const bases = written.slice();
  for (let at = 1; at < bases.length; at += 1) {
    if (IS_MARK[written[at]]) bases[at] = IS_NOTHING[written[at - 1]] ? LETTER_KIND : bases[at - 1];
  }
  return bases;
}

const isInitial = (bases, at) => // the first dot of U.S.A.
  bases[at] === DOT && IS_LETTER[bases[at - 1]] && IS_LETTER[bases[at + 1]] && !IS_WORD[bases[at - 2]] && !IS_WORD[bases[at + 2]];

/** The kind of a sign, but a letter for those inside don't, 1,234.56, 10:30, 8/10 and U.S.A. */
function joinedKind(bases, at) {
  const kind = bases[at], before = bases[at - 1], after = bases[at + 1];
  if (kind === QUOTE) return TAKES_APOSTROPHE[before] && TAKES_APOSTROPHE[after] ? LETTER_KIND : kind;
  if ((before === FIGURE && after === FIGURE) || isInitial(bases, at)) return LETTER_KIND;
  const second = kind === DOT && bases[at - 2] === DOT && isInitial(bases, at - 2) && after !== DOT;
  return second ? LETTER_KIND : kind;
}

/** Whether a character goes on with the token before it for what it is: a mark, half a flag, a joined picture. */
function isAttached(written, at, token) {
  const kind = written[at];
  if (IS_MARK[kind]) return !IS_NOTHING[written[at - 1]];
  if (kind === PICTURE) return written[at - 1] === JOINER;
  return kind === FLAG && written[at - 1] === FLAG && token === at - 1;
}

/** Where each token begins and ends, [start, end, start, end, ...]; `joined` flags characters that go on with the one before, `parted` kinds of which each is a token. */
function findWords(kinds, parted, joined = []) {
  const written = withMargin(kinds), bases = withBases(written);
  const spans = [];
  let before = SPACE, token = -1;
  for (let at = MARGIN; at <= kinds.length + MARGIN; at += 1) {
    let kind = bases[at];
    if (IS_MIDDLE[kind]) kind = joinedKind(bases, at);
    if (parted.has(kind)) kind = UNSPACED;
    const goesOn = (IS_WORD[before] && IS_WORD[kind]) || (before === kind && IS_REPEATED[kind]) || isAttached(written, at, token)
      || joined[at - MARGIN];
    if (!goesOn) {
      if (!IS_NOTHING[before]) spans.push(at - MARGIN);
      if (!IS_NOTHING[kind]) {
        spans.push(at - MARGIN);
        token = at;
      }
    }
    before = kind;
  }
  return Int32Array.from(spans);
}

// ---------------------------------------------------------------- what people see as words

const UNSPACED_RUN = /c[cm]+/g, HIRAGANA = /^[ぁ-ゖー]+$/, INFLECTED = /[ぁ-ゖ一-鿿々]/, SMALL = "っゃゅょぁぃぅぇぉー";
const isKatakana = (code) => (code >= 0x30a1 && code < 0x30fb) || (code >= 0x30fc && code < 0x30ff)
  || (code >= 0x31f0 && code < 0x3200) || (code >= 0xff66 && code < 0xffa0);

/** How many tokens make up each word, where a model reads letters, characters or syllables; tokens come sentence by sentence.
    Of a text of one word that is read by letters these are seen; whether they are comes second. */
function joinWords({ kinds, codes, plain }, spans, rows, rules) {
  const byLetters = rules.parted.has(LETTER_KIND);
  if (!byLetters && !codes.some((code) => IS_UNSPACED[rules.kinds[code]])) return [spans.map(() => 1), false];
  const starts = wordStarts(plain, findWords(kinds, new Set(), findJoins(kinds, codes)), rules);
  const sizes = [];
  let token = 0, word = 0;
  for (const row of rows) {
    for (let first = token; token < first + row.length; token += 1) {
      const before = word;
      while (word < starts.length && starts[word] <= spans[token][0]) word += 1;
      if (token > first && word === before) sizes[sizes.length - 1] += 1;
      else sizes.push(1);
    }
  }
  const spelt = byLetters && sizes.length === 1 && spans.length > 1;
  return [spelt ? spans.map(() => 1) : sizes, spelt];
}

/** Which characters go on with the word before them: as the browser's dictionaries have it, and in foreign words of Japanese. */
function findJoins(kinds, codes) {
  const joined = Uint8Array.from(codes, (code, at) => Number(at > 0 && isKatakana(code) && isKatakana(codes[at - 1])));
  if (!Intl.Segmenter) return joined; // then a character is a word
  const dictionary = new Intl.Segmenter("und", { granularity: "word" });
  for (const run of spellKinds(kinds).matchAll(UNSPACED_RUN)) {
    let at = run.index;
    for (const { segment } of dictionary.segment(spell(codes, at, at + run[0].length))) {
      const size = Array.from(segment).length;
      joined.fill(1, at + 1, at + size);
      at += size;
    }
  }
  return joined;
}

/** Where words begin, with the endings of Japanese verbs and adjectives put to them: dictionaries cut 眠れません into four. */
function wordStarts(plain, spans, rules) {
  const starts = [];
  let over = -1; // where the word before ends
  for (let at = 0; at < spans.length; at += 2) {
    const start = spans[at], end = spans[at + 1], following = spans[at + 2] === end ? plain[end] : "";
    const goesOn = over === start && isEnding(plain.slice(start, end), plain.slice(starts.at(-1), start), following, rules);
    if (!goesOn) starts.push(start);
    over = end;
  }
  return starts;
}

function isEnding(piece, before, following, rules) {
  if (!HIRAGANA.test(piece) || !INFLECTED.test(before.at(-1))) return false;
  if (SMALL.includes(piece[0])) return true;
  if (piece.length > 2 || rules.particles.has(before)) return false;
  return following === "っ" || !rules.standing.has(piece);
}

// ---------------------------------------------------------------- sentences

const PLACE = /(?=[.!zo\n\fb)kf])(?:([.!z]+(?: \.(?!\.))*)(["'`)\]m]*(?: ?\[1{1,3}\]| f+(?= ))*)([ \n\f]*)|(o[o!.m]*["'`)>m]*)|([\n\f][ \n\f]*)|(b)|(\))|(k~*(?= ))|(f+ *))/g;
const OPENERS = /(?:[\-d]{1,3} )?["'`(<\[m\-db]{0,8}/y;
const LEAD = /[ \n\f"'`(<\[m\-db]{0,16}/y;
const ITEM = /(?:1{1,2}|a)(?:\.\)|[.)])(?:[ \n\f]|$)/y;
const ACRONYM = /^[aA]{1,3}(?:\.[aA]{1,3})+$/;
const BRACKET_REACH = 40, WORD_REACH = 24, NARROW = 40, WIDE = 120;
const STOP = 1, FULL = 4, LINE_END = 5, BULLET = 6, BRACKET = 7, KOREAN = 8, SMILE = 9; // groups of PLACE

const matchAt = (pattern, text, at) => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};
const isLineEnd = (gap) => gap.includes("\n") || gap.includes("\f");

/** One walk through a text. A rule returns where the sentence ends, or 0 where it does not. */
class Walk {
  constructor(text, rules) {
    this.text = text;
    this.kinds = text.kinds;
    this.written = spellKinds(text.kinds);
    this.rules = rules;
    const first = this.written.length - this.written.trimStart().length;
    this.sentence = first; // where the current sentence begins
    this.line = first; // where the current line begins
  }

  ends() {
    const ends = [];
    for (const place of this.written.matchAll(PLACE)) {
      const kind = place[1] !== undefined ? STOP : place.findIndex((group, number) => number && group !== undefined);
      const item = kind === STOP || kind === BRACKET ? this.itemBefore(place.index) : 0;
      if (item) {
        ends.push(item);
        this.sentence = item;
      }
      const over = place.index + place[0].length;
      const end = kind === BRACKET ? 0 : this.endAt(kind, place, over);
      if (end) {
        ends.push(end);
        this.sentence = over;
      }
      if (kind === LINE_END || (kind === STOP && isLineEnd(place[3]))) this.line = over;
    }
    return ends;
  }

  endAt(kind, place, over) {
    switch (kind) {
      case STOP: return this.stop(place);
      case FULL: return this.full(place.index, over);
      case LINE_END: return this.isWrapped(place.index, over) ? 0 : place.index;
      case BULLET: return this.bullet(place.index);
      case KOREAN: return this.korean(place.index, over);
      default: return this.face(place, over);
    }
  }

  stop(place) {
    const start = place.index, stop = start + place[1].length, close = stop + place[2].length, gap = close + place[3].length;
    if (close === gap && gap < this.kinds.length) return this.endsUnspaced(start, stop, close) ? close : 0;
    if (this.endsSpaced(start, stop, close, gap)) return close;
    return isLineEnd(place[3]) && !this.isWrapped(close, gap) ? close : 0;
  }

  /** Whether a stop with no space behind ends the sentence: 很好!下次, great.The. */
  endsUnspaced(start, stop, close) {
    const before = start ? this.kinds[start - 1] : 0, after = this.kinds[close], single = stop - start === 1;
    if (IS_UNSPACED[before] && IS_UNSPACED[after]) return single || this.kinds[start] === MARK;
    if (before !== LOWER || after !== UPPER || stop !== close) return false;
    if (this.kinds[start] === MARK) return true;
    const behind = this.wordEnd(close);
    return single && this.rules.starters.has(this.word(close, behind)) && this.kinds[behind] === SPACE;
  }

  endsSpaced(start, stop, close, gap) {
    const following = matchAt(OPENERS, this.written, gap)[0].length + gap;
    const after = following < this.kinds.length ? this.kinds[following] : 0;
    if (GOES_ON[after] || (start && IS_OPEN[this.kinds[start - 1]])) return false;
    if (after === LOWER && (following > gap || close > stop)) return false; // "This is great." she said
    const single = stop - start === 1;
    if (this.kinds[start] === MARK) return !(single && after === LOWER && this.rules.names.has(this.wordBefore(start)));
    if (!single || this.kinds[start] !== DOT) return after !== LOWER; // ...
    return this.dotEnds(start, following, after);
  }

  dotEnds(dot, following, after) {
    const { rules, kinds } = this;
    const first = this.wordStart(dot), word = this.word(first, dot), size = dot - first;
    const alone = first === 0 || STANDS_ALONE[kinds[first - 1]];
    if (!size) return after !== LOWER || Boolean(alone);
    if (rules.abbreviations.has(word)) return false;
    const written = this.written.slice(first, dot);
    if (/^1+$/.test(written)) return after !== LOWER && this.numberEnds(size, first, following);
    if (after === FIGURE && rules.beforeNumbers.has(word)) return false;
    const initial = alone && (written === "A" || written === "a");
    if (initial || rules.oftenLast.has(word) || ACRONYM.test(written)) {
      const item = initial && this.lead() >= first;
      return !item && after === UPPER && rules.starters.has(this.wordAfter(following));
    }
    const ordinary = size > 2 || rules.starters.has(word);
    return after !== LOWER || (ordinary && !rules.beforeNumbers.has(word));
  }

  numberEnds(size, first, following) {
    if (size <= 3 && this.lead() >= first) return false; // 1. The first item
    if (size > 2) return true;
    return !this.rules.ordinals.has(this.wordBefore(first - 1)) && !this.rules.ordinals.has(this.wordAfter(following));
  }

  full(start, end) {
    const { kinds, written } = this;
    if (start > 0 && kinds[start - 1] === FIGURE && kinds[end] === FIGURE) return 0; // ３．２９
    const bracket = /[<>\n\f]/.exec(written.slice(end, end + BRACKET_REACH));
    if (bracket && bracket[0] === ">") return 0; // inside a title or a quotation
    const following = this.text.plain[end] || "";
    const quoted = following === "と" && CLOSES_TITLE[kinds[end - 1]];
    return quoted || following === "、" || following === "，" || following === "," ? 0 : end;
  }

  /** Whether a line that ends here goes on in the next, as text of a fixed width does. */
  isWrapped(end, following) {
    const { kinds, written } = this, length = end - this.line, gap = written.slice(end, following);
    if (gap.split("\n").length !== 2 || gap.includes("\f")) return false;
    if (length < NARROW || length > WIDE || following === kinds.length || IS_BULLET[kinds[following]]) return false;
    if (matchAt(ITEM, written, following)) return false;
    const nextLine = this.distance("\n", following, WIDE + 1), nextWord = this.distance(" ", following, NARROW);
    return kinds[following] === LOWER || length + 1 + nextWord >= nextLine;
  }

  /** How far ahead the next kind is, or the text's end, but not farther than its reach. */
  distance(kind, start, reach) {
    const some = this.written.slice(start, start + reach), found = some.indexOf(kind);
    return found >= 0 ? found : some.length;
  }

  bullet(start) {
    return start > 0 && start >= this.lead() && IS_NOTHING[this.kinds[start - 1]] ? start : 0;
  }

  /** Where an item of a list begins whose number or letter a dot or a bracket ends, or 0. */
  itemBefore(place) {
    const { kinds, written } = this;
    let start = place - 1;
    if (start > 1 && kinds[start - 1] === FIGURE && kinds[start] === FIGURE) start -= 1;
    if (start < 1 || !IS_ITEM_START[kinds[start]] || !IS_NOTHING[kinds[start - 1]]) return 0;
    const lead = this.lead(); // only in a list, which the sentence shows by beginning with an item
    return start > lead && matchAt(ITEM, written, start) && matchAt(ITEM, written, lead) ? start : 0;
  }

  korean(last, end) {
    const { plain } = this.text;
    if (end - last > 1) return end;
    const following = plain[end + 1] || "", final = plain[last];
    if (following === "하" || following === "해") return 0; // 했다 해도: what was said goes on
    const before = last - 1 >= this.sentence ? plain[last - 1] : "";
    const ends = final === "다" ? this.rules.beforeDa.has(before)
      : final === "죠" || final === "줘" || (final === "요" && this.rules.beforeYo.has(before));
    return ends ? end : 0;
  }

  face(place, over) {
    const ends = IS_NOTHING[this.kinds[over - 1]] && this.kinds[over] === UPPER;
    return ends ? place.index + place[0].trimEnd().length : 0;
  }

  lead() {
    return this.sentence + matchAt(LEAD, this.written, this.sentence)[0].length;
  }

  wordStart(end) {
    const lowest = Math.max(this.sentence, end - WORD_REACH);
    let start = end;
    while (start > lowest && IN_WORD[this.kinds[start - 1]]) start -= 1;
    return start;
  }

  wordEnd(start) {
    const highest = Math.min(this.kinds.length, start + WORD_REACH);
    let end = start;
    while (end < highest && IS_SPELT[this.kinds[end]]) end += 1;
    return end;
  }

  wordBefore(end) { return end > this.sentence ? this.word(this.wordStart(end), end) : ""; }
  wordAfter(start) { return this.word(start, this.wordEnd(start)); }
  word(start, end) { return spell(this.text.lowered, start, end); }
}

const LOT = 4096; // so many arguments any browser takes

function spellKinds(kinds) {
  const parts = [];
  for (let start = 0; start < kinds.length; start += LOT) parts.push(String.fromCharCode(...kinds.subarray(start, start + LOT)));
  return parts.join("");
}

function spell(codes, start, end) {
  const parts = [];
  for (let at = start; at < end; at += LOT) parts.push(String.fromCodePoint(...codes.subarray(at, Math.min(end, at + LOT))));
  return parts.join("");
}

// ---------------------------------------------------------------- a text

/** The code points of a text, what kinds they are, and their lower case. */
function readCharacters(source, rules) {
  const codes = Uint32Array.from(source, (letter) => letter.codePointAt(0));
  const kinds = new Uint8Array(codes.length), lowered = new Uint32Array(codes.length);
  codes.forEach((code, at) => {
    const windows = code === 13 && codes[at + 1] === 10; // two characters for one line end
    kinds[at] = windows ? SPACE : rules.kinds[code];
    lowered[at] = code < rules.lower.length ? rules.lower[code] : code;
  });
  const plain = codes.length === source.length ? source : Array.from(codes, (code) => code > 0xffff ? "\ue000" : String.fromCharCode(code)).join("");
  return { source, codes, kinds, lowered, plain };
}

/** Find the words of a text, sentence by sentence: spans, and how many words each sentence has. */
function scan(source, rules) {
  const text = readCharacters(source, rules);
  maskMarkup(text.plain, text.kinds, rules);
  const spans = findWords(text.kinds, rules.parted);
  const ends = [...new Walk(text, rules).ends(), Infinity];
  const lengths = [];
  let word = 0;
  for (const end of ends) {
    const first = word;
    while (2 * word < spans.length && spans[2 * word] < end) word += 1;
    if (word > first) lengths.push(word - first);
  }
  return { text, spans, lengths };
}

/** The words of a scanned text as a vocabulary spells them. */
function wordsOf(scanned, lowercase) {
  const codes = lowercase ? scanned.text.lowered : scanned.text.codes;
  const words = [];
  for (let at = 0; at < scanned.spans.length; at += 2) words.push(spell(codes, scanned.spans[at], scanned.spans[at + 1]));
  return words;
}

// ---------------------------------------------------------------- rules and readers

/** The rules as they are looked up, from the tables and lists as regard writes them, and the kinds that are parted. */
function makeRules(written, parted) {
  const kinds = new Uint8Array(0x110000), lower = Uint32Array.from({ length: 0x20000 }, (_, code) => code);
  let start = 0;
  written.kinds.lengths.forEach((length, run) => {
    kinds.fill(codeOf(written.kinds.letters[run]), start, start + length);
    start += length;
  });
  for (let at = 0; at < written.lower.length; at += 2) lower[written.lower[at]] = written.lower[at + 1];
  const lists = Object.fromEntries(Object.entries(written.lists).map(([name, words]) => [name, new Set(words)]));
  const tags = new Map(Object.entries(written.tags)), entities = new Map(Object.entries(written.entities));
  return { kinds, lower, tags, entities, parted: new Set(Array.from(parted, codeOf)), alike: written.alike, nearest: written.nearest, ...lists };
}

/** Whether other words may be read as this one: reserved names are none, and a figure is no other. */
const lends = (letters, id, rules) => id > 1 && !letters.some((one) => rules.kinds[one.codePointAt(0)] === codeOf("1"));

/** Known words by how they begin, for words that are not known; of those that begin alike the first stands for others. */
class Alike {
  constructor(words, rules) {
    this.rules = rules.alike;
    this.ids = new Map();
    words.forEach((word, id) => {
      const letters = Array.from(word), may = lends(letters, id, rules) && letters.length <= this.rules.longest;
      for (let size = this.fewest(letters.length); may && size <= letters.length; size += 1) {
        const beginning = letters.slice(0, size).join("");
        if (!this.ids.has(beginning)) this.ids.set(beginning, id);
      }
    });
  }

  /** How many first letters a word must share with another, if it is the longer. */
  fewest(length) { return Math.max(this.rules.fewest, Math.ceil(this.rules.tenths * length / 10)); }

  find(word) {
    const letters = Array.from(word);
    for (let size = letters.length; size >= this.fewest(letters.length) && letters.length <= this.rules.longest; size -= 1) {
      const id = this.ids.get(letters.slice(0, size).join(""));
      if (id !== undefined) return id;
    }
    return undefined;
  }
}

/** Known words by the runs of letters that they are made of, for words that are not known; of words as near the first stands for others. */
class Nearest {
  constructor(words, rules) {
    this.rules = rules.nearest;
    this.holders = new Map();
    const known = words.map((word, id) => ({ id, letters: Array.from(word) }));
    const lending = known.filter(({ letters, id }) => lends(letters, id, rules) && letters.length <= this.rules.most_letters);
    for (const { id, letters } of lending) {
      for (const run of this.runs(letters)) {
        if (this.holders.has(run)) this.holders.get(run).push(id);
        else this.holders.set(run, [id]);
      }
    }
    const most = Math.max(this.rules.fewest_words, Math.floor(lending.length / this.rules.words_of_one));
    const bits = (held) => 32 - Math.clz32(Math.floor((1 + lending.length) / (1 + held)));
    this.worth = (run) => {
      const held = this.holders.get(run)?.length ?? 0;
      return held > most ? 0 : bits(held) ** 2;
    };
    this.lengths = new Map(lending.map(({ id, letters }) => [id, this.length(this.runs(letters))]));
  }

  /** All runs of a word, its edges counted as letters. */
  runs(letters) {
    const edged = [" ", ...letters, " "], found = new Set();
    for (let size = this.rules.shortest; size <= this.rules.longest; size += 1) {
      for (let start = 0; start + size <= edged.length; start += 1) found.add(edged.slice(start, start + size).join(""));
    }
    return found;
  }

  /** What runs are worth together. */
  length(runs) {
    let sum = 0;
    for (const run of runs) sum += this.worth(run);
    return sum;
  }

  find(word) {
    const letters = Array.from(word);
    if (letters.length > this.rules.most_letters) return undefined;
    const runs = this.runs(letters), shared = new Map();
    for (const run of runs) {
      const worth = this.worth(run);
      for (const id of worth ? this.holders.get(run) ?? [] : []) shared.set(id, (shared.get(id) ?? 0) + worth);
    }
    let best, common = 0, length = 1;
    for (const [id, here] of shared) {
      const own = this.lengths.get(id), one = here ** 2 * length, other = common ** 2 * own; // below 2 ** 53
      if (one > other || (one === other && id < best)) [best, common, length] = [id, here, own];
    }
    return 4 * common ** 2 >= this.length(runs) * length ? best : undefined;
  }
}

const STAND_INS = { alike: Alike, nearest: Nearest };

/** Turns texts into ids of words: `words` are those of the vocabulary, and `text` how texts are read. */
class Reader {
  constructor(words, rules, text) {
    this.rules = rules;
    this.text = text; // lowercase, unknown, max_sentences, max_words
    this.words = words;
    this.ids = new Map(words.map((word, id) => [word, id]).slice(2)); // the two reserved names are no words
  }

  /** The id of the known word that a word which is not known is read as; 1: of none. */
  readUnknown(word) {
    if (!(this.text.unknown in STAND_INS)) return 1;
    this.standIns ??= new STAND_INS[this.text.unknown](this.words, this.rules);
    return this.standIns.find(word) ?? 1;
  }

  /** Read one text: spans of words, ids sentence by sentence, and where the sentences lie. */
  read(source) {
    const scanned = scan(source, this.rules), words = wordsOf(scanned, this.text.lowercase);
    const { max_sentences: sentences, max_words: most } = this.text;
    const found = { source, characters: scanned.text, rows: [], spans: [], sentences: [], unknown: [], readAs: [], unread: [] };
    let first = 0, cut = false; // whether the word before was left out
    scanned.lengths.forEach((length, number) => {
      const left = sentences && number >= sentences ? 0 : Math.min(length, most || length), row = new Int32Array(left);
      for (let word = first; word < first + length; word += 1) {
        const span = [scanned.spans[2 * word], scanned.spans[2 * word + 1]];
        const before = cut;
        cut = word >= first + left;
        if (cut) {
          if (before) found.unread.at(-1)[1] = span[1];
          else found.unread.push(span);
          continue;
        }
        const known = this.ids.get(words[word]), id = known ?? this.readUnknown(words[word]);
        row[word - first] = id;
        if (known === undefined) found.unknown.push(span);
        if (known === undefined && id > 1) found.readAs.push([span, this.words[id]]);
        found.spans.push(span);
      }
      if (left) {
        found.rows.push(row);
        found.sentences.push([scanned.spans[2 * first], scanned.spans[2 * (first + left) - 1]]);
      }
      first += length;
    });
    return found;
  }

  /** Read one text as people see it: words as a whole, also where they are read in parts. */
  readWords(source) {
    const found = this.read(source), ids = found.rows.flatMap((row) => [...row]);
    const [sizes, spelt] = joinWords(found.characters, found.spans, found.rows, this.rules), spans = [], lost = [];
    let token = 0;
    for (const size of sizes) {
      const span = [found.spans[token][0], found.spans[token + size - 1][1]];
      spans.push(span);
      if (ids.slice(token, token + size).includes(1)) lost.push(span);
      token += size;
    }
    const whole = new Set(spans.map(String)), readAs = found.readAs.filter(([span]) => whole.has(String(span)));
    const unknown = [...lost, ...readAs.map(([span]) => span)].sort((one, other) => one[0] - other[0]);
    return { ...found, sizes, spans, readAs, unknown, spelt };
  }
}
