"use strict";
// Explanations with receipts, as regard.explain makes them: the model is asked again without pieces of the text.

const BINS = [0.01, 0.05, 0.1, 0.2, 0.5];
const DRAWS = { fewest: 6, most: 24, words: 1500 };
const ITEMS = 1 << 16; // words and sentences that may be read to measure single pieces: a second or two
const ERROR_RATE = 0.01, SHUFFLES = 199, AGREEMENT = 0.6, LEAST_LEAD = 0.05, FEW = 30, STILL = 1e-6;
const FAITHFUL = "faithful", WEAK = "weak", CHANCE = "no better than chance", TOO_SHORT = "too short to tell", NOT_MEASURED = "not measured";

/** Lets the page draw now and then while much is computed. */
const breath = { last: 0 };
async function breathe() {
  if (performance.now() - breath.last < 40) return;
  await new Promise((resolve) => setTimeout(resolve));
  breath.last = performance.now();
}

/** Draws from a seed: the same text gets the same receipt. */
class Draw {
  constructor(...seeds) {
    this.state = seeds.reduce((state, seed) => Math.imul(state ^ seed, 0x9e3779b1) + 0x85ebca77 | 0, 0x2545f491);
  }

  below(count) { // mulberry32
    this.state = this.state + 0x6d2b79f5 | 0;
    let mixed = Math.imul(this.state ^ this.state >>> 15, 1 | this.state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return Math.floor(((mixed ^ mixed >>> 14) >>> 0) / 4294967296 * count);
  }

  shuffled(values) {
    const found = Array.from(values);
    for (let last = found.length - 1; last > 0; last -= 1) {
      const other = this.below(last + 1);
      [found[last], found[other]] = [found[other], found[last]];
    }
    return found;
  }
}

/** One document, and versions of it without some pieces. A sentence that lost no word is not read again. */
class Eraser {
  constructor(model, rows, sizes) {
    this.model = model;
    this.rows = rows;
    this.sentences = rows.map((ids) => model.readSentence(ids));
    this.words = sizes.flatMap((size, word) => Array(size).fill(word)); // the word of each token
    this.wordCount = sizes.length;
    this.homes = []; // the sentence of each word
    this.starts = []; // the first token of each sentence
    this.known = new Map(); // logits of versions, which labels of one text share
    let token = 0;
    rows.forEach((ids, number) => {
      this.starts.push(token);
      for (const end = token + ids.length; token < end; token += 1) this.homes[this.words[token]] = number;
    });
  }

  /** Add up what the tokens of each word have. */
  byWord(rows) {
    const sums = Array(this.wordCount).fill(0);
    rows.flatMap((row) => [...row]).forEach((value, token) => { sums[this.words[token]] += value; });
    return sums;
  }

  count(level) { return level === "word" ? this.wordCount : this.rows.length; }
  whole() { return this.model.readDocument(this.sentences); }

  /** The logits of the version whose pieces are kept, a flag for each. */
  keep(level, kept) {
    const left = [];
    this.sentences.forEach((sentence, number) => {
      if (level === "sentence") {
        if (kept[number]) left.push(sentence);
        return;
      }
      const start = this.starts[number], ids = sentence.ids.filter((_, token) => kept[this.words[start + token]]);
      if (ids.length) left.push(ids.length === sentence.ids.length ? sentence : this.model.readSentence(ids));
    });
    return this.model.readDocument(left).logits;
  }

  /** The pieces that may be left out one by one, those of the largest scores first. */
  affordable(level, scores) {
    const order = [...scores.keys()].sort((one, other) => Math.abs(scores[other]) - Math.abs(scores[one]));
    let left = ITEMS;
    return order.filter((place) => {
      left -= this.rows.length + (level === "word" ? this.rows[this.homes[place]].length : 0);
      return left >= 0;
    });
  }

  once(name, ask) {
    if (!this.known.has(name)) this.known.set(name, ask());
    return this.known.get(name);
  }

  without(level, piece) {
    return this.once(`${level} ${piece}`, () => {
      const kept = new Uint8Array(this.count(level)).fill(1);
      kept[piece] = 0;
      return this.keep(level, kept);
    });
  }
}

// ---------------------------------------------------------------- methods

/** Each takes an eraser, what the model answered and a label, and gives a score a word and a score a sentence. */
const METHODS = {
  async gradient_input(eraser, answer, label) {
    const rows = eraser.model.gradientInput(eraser.rows, label);
    return { words: eraser.byWord(rows), sentences: rows.map((row) => row.reduce((sum, score) => sum + score, 0)), unit: "log-odds" };
  },

  async attention_gradient(eraser, answer, label) {
    const weights = { words: eraser.sentences.map((sentence) => sentence.weights), sentences: answer.weights };
    const { words, sentences } = eraser.model.attentionGradient(eraser.rows, label, weights);
    return { words: eraser.byWord(words), sentences, unit: "log-odds" };
  },

  async erasure(eraser, answer, label) {
    const { model } = eraser, odds = model.logOdds(answer.logits, label), found = {}, measured = {};
    const slopes = await METHODS.gradient_input(eraser, answer, label);
    for (const level of ["word", "sentence"]) {
      // While it is cheap every piece is measured; of a longer text those that seem to count most.
      const guessed = level === "word" ? slopes.words : slopes.sentences, places = eraser.affordable(level, guessed);
      found[level] = guessed.map((score) => sigmoid(odds) - sigmoid(odds - score));
      measured[level] = places.length === guessed.length ? null : places.length;
      for (const place of places) {
        await breathe();
        found[level][place] = sigmoid(odds) - sigmoid(model.logOdds(eraser.without(level, place), label));
      }
    }
    return { words: found.word, sentences: found.sentence, unit: "probability", measured };
  },

  async attention(eraser, answer) {
    return {
      words: eraser.byWord(eraser.sentences.map((sentence) => sentence.weights)),
      sentences: [...answer.weights],
      unit: null, // weights, which know no sign
    };
  },
};

/** The scores of a method as weights of words and of sentences, where they stand in the text. */
function weigh(scores, words, sentences) {
  const measured = scores.measured || { word: null, sentence: null }; // null: all
  const level = (name, pieces, amounts, by) => scores.unit === null
    ? { name, pieces, values: amounts, by, hops: [], scores: null, unit: "" }
    : { name, pieces, values: sharesOf(amounts), by: "document", hops: [], scores: amounts, unit: scores.unit, measured: measured[name] };
  return [level("word", words, scores.words, "sentence"), level("sentence", sentences, scores.sentences, "document")];
}

function sharesOf(amounts) {
  const total = amounts.reduce((sum, amount) => sum + Math.abs(amount), 0);
  return amounts.map((amount) => total ? Math.abs(amount) / total : 0);
}

/** What words and sentences are ranked by: the share of the document that a word has. */
function amountsOf(weights, homes) {
  const [words, sentences] = weights;
  const shares = words.by === "sentence" ? words.values.map((value, word) => value * sentences.values[homes[word]]) : words.scores;
  return { word: shares, sentence: sentences.scores || sentences.values };
}

// ---------------------------------------------------------------- receipts

const taken = (count) => BINS.map((share) => Math.ceil(Number((share * count).toFixed(6))));

/** Take pieces away, the heaviest first and at random, and judge by what the answer loses. */
async function receiptOf(eraser, likely, label, weights) {
  const amounts = amountsOf(weights, eraser.homes), findings = [];
  for (const level of ["word", "sentence"]) {
    if (amounts[level].length) findings.push(await findingOf(level, eraser, likely, label, amounts[level]));
  }
  const judgements = findings.map((finding) => finding.judgement);
  return {
    verdict: together(judgements), bins: BINS, curves: findings.map((finding) => finding.curve),
    judgements: judgements.length ? judgements : [{ level: "word", verdict: NOT_MEASURED, p_value: null }],
    random_rankings: drawsFor(eraser.wordCount), erasure: "delete",
  };
}

const drawsFor = (words) => Math.min(Math.max(Math.floor(DRAWS.words / Math.max(words, 1)), DRAWS.fewest), DRAWS.most);

async function findingOf(level, eraser, likely, label, amounts) {
  const { model } = eraser, count = amounts.length, sizes = taken(count), draw = new Draw(0, Number(level === "word"), count);
  const places = draw.shuffled(amounts.keys()).sort((one, other) => amounts[other] - amounts[one]);
  const ask = async (chosen, keep) => { // about the text without some pieces, or with them alone
    const kept = new Uint8Array(count).fill(keep ? 0 : 1);
    for (const piece of chosen) kept[piece] = keep ? 1 : 0;
    await breathe();
    const logits = eraser.once(`${level} ${kept.join("")} kept`, () => eraser.keep(level, kept));
    return { kept, odds: model.logOdds(logits, label), share: model.likely(logits)[label] };
  };
  const rankings = [];
  for (let ranking = 0; ranking <= drawsFor(eraser.wordCount); ranking += 1) {
    const found = { without: [], alone: [] };
    for (const size of sizes) {
      const set = () => ranking ? draw.shuffled(Array(count).keys()).slice(0, size) : places.slice(0, size);
      found.without.push(await ask(set(), false));
      found.alone.push(await ask(set(), true));
    }
    rankings.push(found);
  }
  const [own, ...others] = rankings;
  const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const gain = (ranking) => mean(sizes.map((_, bin) => ranking.alone[bin].share - ranking.without[bin].share));
  const points = (some, name) => sizes.map((_, bin) => mean(some.map((ranking) => ranking[name][bin].share)));
  const curve = {
    level, piece_count: count, taken: sizes,
    without: points([own], "without"), alone: points([own], "alone"),
    random_without: points(others, "without"), random_alone: points(others, "alone"),
  };
  let judgement = { level, verdict: TOO_SHORT, p_value: null };
  if (count > 1) {
    const sets = others.flatMap((ranking) => [...ranking.without, ...ranking.alone]);
    const test = new SetTest(sets.map((set) => set.kept.map((kept) => 1 - kept)), sets.map((set) => -set.odds));
    judgement = test.judge(level, amounts, gain(own) - mean(others.map(gain)));
  }
  return { curve, judgement };
}

/** What a label lost without each of some sets of pieces, to hold scores against. */
class SetTest {
  constructor(gone, lost) {
    this.pieces = gone[0].length;
    this.sets = gone.length;
    const groups = new Map();
    gone.forEach((set, place) => {
      const size = set.reduce((sum, one) => sum + one, 0);
      groups.set(size, [...(groups.get(size) || []), place]);
    });
    // Larger sets lose more whatever is in them: only sets of one size are compared.
    this.gone = gone.map((set) => Float64Array.from(set));
    this.lost = Float64Array.from(lost);
    for (const places of groups.values()) {
      const share = 1 / places.length, means = new Float64Array(this.pieces);
      let mean = 0;
      for (const place of places) {
        mean += this.lost[place] * share;
        this.gone[place].forEach((one, piece) => { means[piece] += one * share; });
      }
      for (const place of places) {
        this.lost[place] -= mean;
        this.gone[place] = this.gone[place].map((one, piece) => one - means[piece]);
      }
    }
    this.size = Math.hypot(...this.lost);
    this.moves = this.size > STILL * Math.sqrt(this.sets);
    this.exhaustive = this.pieces <= 5; // few orders: all of them are tried
  }

  /** The correlation of the scores' sums over the sets with what was lost; 0 for even ones. */
  agreement(scores) {
    if (!this.moves) return 0;
    let squares = 0, product = 0, largest = 0;
    for (const score of scores) largest = Math.max(largest, Math.abs(score));
    this.gone.forEach((set, place) => {
      let sum = 0;
      for (let piece = 0; piece < this.pieces; piece += 1) sum += scores[piece] * set[piece];
      squares += sum * sum;
      product += sum * this.lost[place];
    });
    const size = Math.sqrt(squares) * this.size;
    return size <= 1e-12 * this.size * largest ? 0 : product / size;
  }

  pValue(scores) {
    const own = this.agreement(scores) - 1e-9; // orders that differ by rounding are alike
    if (this.exhaustive) {
      const all = [...ordersOf([...scores])];
      return all.filter((order) => this.agreement(order) >= own).length / all.length;
    }
    const draw = new Draw(0, this.pieces);
    let good = 1;
    for (let turn = 0; turn < SHUFFLES; turn += 1) good += Number(this.agreement(draw.shuffled(scores)) >= own);
    return good / (1 + SHUFFLES);
  }

  judge(level, scores, lead) {
    const agreement = this.agreement(scores), chance = this.pValue(scores);
    let verdict = CHANCE;
    if (chance <= ERROR_RATE && lead >= LEAST_LEAD) verdict = agreement >= AGREEMENT ? FAITHFUL : WEAK;
    else if (chance > ERROR_RATE && (agreement >= AGREEMENT || this.tooFew())) verdict = TOO_SHORT;
    return { level, verdict, p_value: chance, agreement, lead, sets: this.sets };
  }

  /** Whether even the scores that fit these sets best could not be told from chance. */
  tooFew() {
    return this.pieces <= FEW && this.moves && this.pValue(this.best()) > ERROR_RATE;
  }

  /** The scores that fit best: least squares by conjugate gradients, which begin at zero and so stay shortest. */
  best() {
    const scores = new Float64Array(this.pieces);
    const apply = (vector) => {
      const out = new Float64Array(this.pieces);
      for (const set of this.gone) {
        const sum = set.reduce((total, one, piece) => total + one * vector[piece], 0);
        set.forEach((one, piece) => { out[piece] += sum * one; });
      }
      return out;
    };
    const left = new Float64Array(this.pieces);
    this.gone.forEach((set, place) => set.forEach((one, piece) => { left[piece] += one * this.lost[place]; }));
    const square = (vector) => vector.reduce((sum, one) => sum + one * one, 0);
    const way = left.slice(), goal = 1e-20 * square(left);
    for (let turn = 0, old = square(left); turn < 3 * this.pieces && old > goal; turn += 1) {
      const moved = apply(way), step = old / way.reduce((sum, one, piece) => sum + one * moved[piece], 0);
      for (let piece = 0; piece < this.pieces; piece += 1) {
        scores[piece] += step * way[piece];
        left[piece] -= step * moved[piece];
      }
      const now = square(left);
      way.forEach((one, piece) => { way[piece] = left[piece] + (now / old) * one; });
      old = now;
    }
    return scores;
  }
}

function* ordersOf(values) {
  if (values.length < 2) { yield values; return; }
  for (let place = 0; place < values.length; place += 1) {
    for (const rest of ordersOf([...values.slice(0, place), ...values.slice(place + 1)])) yield [values[place], ...rest];
  }
}

function together(judgements) {
  const told = new Set(judgements.map((one) => one.verdict).filter((verdict) => [FAITHFUL, WEAK, CHANCE].includes(verdict)));
  if (told.size === 1) return [...told][0];
  if (told.size) return WEAK;
  return judgements.some((one) => one.verdict === TOO_SHORT) ? TOO_SHORT : NOT_MEASURED;
}

// ---------------------------------------------------------------- in plain words

const QUOTED = { word: 0.1, sentence: 0.2 }; // the bin that is quoted: about what a reader takes in at a glance
const number = (count) => count.toLocaleString("en-US");

/** A share as 89.4 %, and never a false zero or hundred. */
function inPercent(share, digits = 1) {
  const least = 0.5 * 10 ** -(digits + 2);
  if (share >= 1 - least) return share >= 1 ? "100 %" : `>${(100 - 10 ** -digits).toFixed(digits)} %`;
  if (share < least) return share <= 0 ? "0 %" : `<${(10 ** -digits).toFixed(digits)} %`;
  return `${(100 * share).toFixed(digits)} %`;
}

/** What the explanation says, in the sentences of regard's own pages; they name the answer, if any is given, or another label. */
function sayAll(decision, text, sayings, answer, answered) {
  const { receipt } = decision;
  const judgements = receipt ? receipt.judgements : [];
  return {
    finding: (answered ? "" : "No label is given: none is likelier than not. ") + sayFinding(decision.weights),
    notes: sayNotes(decision, text, answer),
    conclusion: receipt ? conclude(receipt, sayings, answer) : "",
    verdicts: judgements.map((one) => sayVerdict(one, sayings, answer)),
    receipt: receipt ? receipt.curves.map((curve) => sayCurve(curve, decision.probability)) : [],
  };
}

const MOST_READINGS = 5; // that a note names

function sayReadings({ source, readAs }) {
  const letters = Array.from(source), pairs = readAs.map(([[start, end], known]) => `'${letters.slice(start, end).join("")}' as '${known}'`);
  const named = [...new Set(pairs)], more = named.length - MOST_READINGS;
  const told = named.slice(0, MOST_READINGS).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return `Words that the model does not know are read as known ones that are spelt alike: ${told}.`;
}

/** Whether each sentence has the sum over its words. */
function addsUp([words, sentences]) {
  if (words.by !== "document") return false;
  const homes = homesOf([words, sentences]), sums = sentences.scores.map(() => 0);
  words.scores.forEach((score, word) => { sums[homes[word]] += score; });
  return sentences.scores.every((score, place) => {
    const sum = sums[place], larger = Math.max(Math.abs(sum), Math.abs(score));
    return Math.abs(sum - score) <= Math.max(1e-6 * larger, 1e-9);
  });
}

function sayNotes(decision, text, answer) {
  const notes = [];
  if (!decision.weights[0].pieces.length) notes.push("The model found no words to read in this text.");
  else if (addsUp(decision.weights)) notes.push("The weight of a sentence is the sum over its words.");
  if (text.spelt) notes.push("The text is one word, so its letters are weighed here as words are in others.");
  for (const { name, pieces, measured } of decision.weights) {
    if (measured) {
      notes.push(`Of ${number(pieces.length)} ${name}s, the ${number(measured)} that seemed to count most were taken away one by one; `
        + "the others are estimated from slopes.");
    }
  }
  if (!decision.receipt) notes.push(`Whether ${answer} rests on what is marked was not measured.`);
  if (text.readAs.length) notes.push(sayReadings(text));
  const cut = text.unread.reduce((sum, [start, end]) => sum + end - start, 0), size = Array.from(text.source).length;
  if (cut) notes.push(`A length cap kept ${Math.max(1, Math.round(100 * cut / size))} % of this text from the model.`);
  return notes;
}

/** A saying about the answer or another label, and about words or sentences. */
function fill(saying, answer, noun = "") {
  return saying.replace(/\{(\w+)\}/g, (_, name) => (name === "answer" ? answer : noun));
}

function conclude(receipt, sayings, answer) {
  const trusted = receipt.judgements.filter((one) => one.verdict === FAITHFUL);
  const others = receipt.judgements.filter((one) => one.verdict !== FAITHFUL);
  if (!trusted.length || !others.length) return fill(sayings.conclusions[receipt.verdict] || "", answer);
  const known = [WEAK, CHANCE].includes(others[0].verdict);
  const rest = known ? `not the ${others[0].level}s.` : `of the ${others[0].level}s nothing can be said.`;
  return `You may take the ${trusted[0].level}s marked here for what ${answer} rests on; ${rest}`;
}

function sayVerdict(judgement, sayings, answer) {
  const slight = judgement.verdict === CHANCE && judgement.p_value !== null && judgement.p_value <= ERROR_RATE;
  const noun = judgement.level + "s", saying = sayings.meanings[slight ? "slight" : judgement.verdict] || "";
  const meant = fill(saying, answer, noun);
  const luck = judgement.p_value === null ? ""
    : ` Dealt out at random, the weights fit as well with probability ${Number(judgement.p_value.toPrecision(3))}.`;
  return `${noun[0].toUpperCase()}${noun.slice(1)}: ${judgement.verdict}. ${meant.slice(0, 1).toUpperCase()}${meant.slice(1)}${luck}`;
}

function sayCurve(curve, start) {
  if (curve.piece_count === 1) return `There is only one ${curve.level}, so there is nothing to rank.`;
  const place = BINS.indexOf(QUOTED[curve.level]), count = curve.taken[place], noun = curve.level + "s";
  const several = count > 1, drawn = several ? `${number(count)} random ${noun}` : `a random ${curve.level}`;
  const heaviest = `the ${several ? number(count) + " " : ""}heaviest of ${number(curve.piece_count)} ${noun}`;
  const end = curve.without[place], before = inPercent(start), after = inPercent(end);
  const moved = before !== after
    ? `${end < start ? "lowers" : "raises"} the probability from ${before} to ${after}`
    : `leaves the probability at ${after}`;
  const said = `Taking ${heaviest} away ${moved}; taking ${drawn} away: to ${inPercent(curve.random_without[place])}. `
    + `${several ? "Alone they give" : "Alone it gives"} ${inPercent(curve.alone[place])}, ${drawn} ${inPercent(curve.random_alone[place])}.`;
  return said.replaceAll(" %", "\u00a0%");
}

function sayFinding(weights) {
  const amounts = amountsOf(weights, homesOf(weights)), parts = [];
  for (const level of ["word", "sentence"]) {
    const sizes = amounts[level].map(Math.abs);
    if (sizes.length) parts.push(`${number(holdingHalf(sizes))} of ${number(sizes.length)} ${level}${sizes.length === 1 ? "" : "s"}`);
  }
  if (!parts.length) return "";
  const sizes = amounts.sentence.map(Math.abs), total = sizes.reduce((sum, size) => sum + size, 0);
  const even = sizes.length >= 10 && total && holdingHalf(sizes) >= 0.4 * sizes.length;
  return `${even ? "Evenly spread: this picture says little. " : ""}Half of the weight lies on ${parts.join(" and ")}.`;
}

function holdingHalf(sizes) {
  const sorted = [...sizes].sort((one, other) => other - one);
  const wanted = sorted.reduce((sum, size) => sum + size, 0) / 2 * (1 - 1e-9);
  let held = 0, count = 0;
  while (count < sorted.length && held < wanted) held += sorted[count++];
  return count;
}

function homesOf([words, sentences]) {
  let home = 0;
  return words.pieces.map(([start]) => {
    while (home + 1 < sentences.pieces.length && sentences.pieces[home + 1][0] <= start) home += 1;
    return home;
  });
}
