"use strict";
// A model that lives in its page: it is unpacked once, and then answers what a server of regard would be asked.

// ---------------------------------------------------------------- unpacking

const TYPES = { f4: Float32Array, i4: Int32Array, u4: Uint32Array, i2: Int16Array, u2: Uint16Array, u1: Uint8Array };

/** Read the package: what it is about, and its arrays by name. */
async function unpack(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = new DataView(bytes.buffer).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))), arrays = {};
  let at = 4 + size;
  for (const { name, type, count } of about.arrays) {
    const width = TYPES[type].BYTES_PER_ELEMENT, joined = new Uint8Array(count * width);
    for (let part = 0; part < width; part += 1) { // all first bytes, then all second ones: so they pack better
      for (let place = 0; place < count; place += 1) joined[place * width + part] = bytes[at++];
    }
    arrays[name] = new TYPES[type](joined.buffer);
  }
  return { about, arrays };
}

/** Read bytes that are spelt with an alphabet, two letters for 13 bits. */
function fromLetters(written, alphabet, size) {
  const places = new Uint8Array(128), bytes = new Uint8Array(size);
  for (let place = 0; place < alphabet.length; place += 1) places[alphabet.charCodeAt(place)] = place;
  let waiting = 0, bits = 0;
  for (let at = 0, place = 0; at < written.length; at += 2) {
    waiting |= (places[written.charCodeAt(at)] * alphabet.length + places[written.charCodeAt(at + 1)]) << bits;
    for (bits += 13; bits >= 8 && place < size; bits -= 8, waiting >>>= 8) bytes[place++] = waiting & 255;
  }
  return bytes;
}

/** The words' vectors in whole numbers: a column is stored after the other, a row is asked for. */
class Vectors {
  constructor(columns, shifts) {
    const rank = columns.length / shifts.length;
    this.rank = rank;
    this.shifts = shifts;
    this.rows = new (columns.BYTES_PER_ELEMENT > 2 ? Int32Array : Int16Array)(columns.length);
    this.count = shifts.length;
    for (let column = 0, place = 0; column < rank; column += 1) {
      for (let word = 0; word < this.count; word += 1, place += 1) {
        const coded = columns[place]; // 0, -1, 1, -2, 2, ...
        this.rows[word * rank + column] = coded & 1 ? -((coded + 1) >> 1) : coded >> 1;
      }
    }
  }

  row(id) {
    const scale = 2 ** this.shifts[id];
    return Float64Array.from(this.rows.subarray(id * this.rank, (id + 1) * this.rank), (part) => part * scale);
  }
}

const numbersOf = (arrays, name) => (part) => Float64Array.from(arrays[`${name}.${part}`]);

function inputOf(arrays, name) {
  const of = numbersOf(arrays, name);
  return new Linear(of("inputWeight"), of("inputBias"));
}

function layerOf(arrays, name, cell) {
  const of = numbersOf(arrays, name), directions = [0, 1].filter((direction) => arrays[`${name}.hiddenBias${direction}`]);
  return new Recurrence({
    cell: CELLS[cell], input: inputOf(arrays, name),
    hiddenWeights: directions.map((direction) => of(`hiddenWeight${direction}`)),
    hiddenBiases: directions.map((direction) => of(`hiddenBias${direction}`)),
  });
}

const ENCODERS = {
  none: (arrays, name) => new NoEncoder(inputOf(arrays, `${name}.layer0`)),
  recurrent: (arrays, name, { cell, layers }) =>
    new RecurrentEncoder(Array.from({ length: layers }, (_, number) => layerOf(arrays, `${name}.layer${number}`, cell))),
};

function scoreOf(arrays, name) {
  const of = numbersOf(arrays, name);
  if (arrays[`${name}.keyWeight`]) return new TanhScore({ keyWeight: of("keyWeight"), keyBias: of("keyBias"), query: of("query") });
  return arrays[`${name}.query`] ? new ProductScore({ query: of("query") }) : new NoScore();
}

const levelOf = (arrays, name, about, own) => new Level(ENCODERS[about.encoder](arrays, name, about), scoreOf(arrays, name), own);

/** Numbers that were written as steps from the one before, from zero in each group. */
function fromSteps(steps, lengths) {
  const found = new Int32Array(steps.length), starts = new Int32Array(lengths.length + 1);
  let at = 0;
  lengths.forEach((length, group) => {
    let number = 0;
    for (const end = at + length; at < end; at += 1) found[at] = number += steps[at];
    starts[group + 1] = at;
  });
  return { found, starts };
}

function ngramsOf(arrays, name, about, wordCount, classCount, seldom) {
  const singles = fromSteps(arrays[`${name}.singles`], [arrays[`${name}.singles`].length]).found;
  const words = new Int32Array(wordCount).fill(-1);
  singles.forEach((id, feature) => { words[id] = feature; });
  const second = fromSteps(arrays[`${name}.second`], arrays[`${name}.secondCounts`]);
  const third = fromSteps(arrays[`${name}.third`], arrays[`${name}.thirdCounts`]);
  const palette = arrays[`${name}.palette`];
  return new NGrams({
    words, singles: singles.length, second: second.found, secondStarts: second.starts, third: third.found, thirdStarts: third.starts,
    rarity: Float64Array.from(arrays[`${name}.rarity`], (number) => palette[number]),
    weights: Float32Array.from(arrays[`${name}.weights`], (coded) => (coded & 1 ? -((coded + 1) >> 1) : coded >> 1) * about.step),
    emphasis: about.emphasis, marking: arrays.marking, seldom,
  }, classCount);
}

const MOST_KEPT = 30000; // projections of words, by all networks together

function networkOf(arrays, name, about) {
  const of = numbersOf(arrays, name);
  return new Network({
    vectors: new Vectors(arrays[`${name}.vectors`], arrays.shifts),
    words: levelOf(arrays, `${name}.words`, about, false),
    sentences: levelOf(arrays, `${name}.sentences`, about, about.own),
    classify: { weight: of("classify.weight"), bias: of("classify.bias") },
  }, Math.floor(MOST_KEPT / about.count));
}

function modelOf(about, arrays) {
  const { labels, several, temperature, wide, network } = about, wordCount = about.words.length;
  return new Model({
    networks: Array.from({ length: network.count }, (_, number) => networkOf(arrays, `network${number}`, network)),
    ngrams: wide ? wide.parts.map((part) => ngramsOf(arrays, part.name, part, wordCount, labels.length, wide.seldom)) : [],
    scale: wide ? wide.scale : 1,
    intercepts: wide ? wide.intercepts : null,
    temperature, several,
  });
}

// ---------------------------------------------------------------- answering

class Engine {
  constructor({ about, arrays }) {
    this.about = about;
    this.model = modelOf(about, arrays);
    this.reader = new Reader(about.words, makeRules(about.rules, about.text.parted), about.text);
  }

  static async open(packed) { return new Engine(await unpack(packed)); }

  /** Read and classify one text. */
  answer(source) {
    const text = this.reader.read(source);
    const { logits } = this.model.readDocument(text.rows.map((ids) => this.model.readSentence(ids)));
    return { text, logits, likely: this.model.likely(logits) };
  }

  /** The numbers of the labels that the model gives: the likeliest, or of several those likelier than not. */
  chosen(likely) {
    const all = [...likely.keys()];
    return this.about.several ? all.filter((label) => likely[label] > 0.5) : [likely.indexOf(Math.max(...likely))];
  }

  /** The probabilities of a text without the words in some spans of it; the others stay in their sentences. */
  likelyWithout(source, spans) {
    const text = this.reader.readWords(source), eraser = new Eraser(this.model, text.rows, text.sizes);
    const kept = text.spans.map(([start, end]) => !spans.some(([first, last]) => first < end && start < last));
    return this.model.likely(eraser.keep("word", kept));
  }

  predict(source, without = []) {
    const { labels } = this.about, likely = without.length ? this.likelyWithout(source, without) : this.answer(source).likely;
    return {
      model: this.about.name, labels: this.chosen(likely).map((label) => String(labels[label])),
      probabilities: Object.fromEntries(labels.map((label, place) => [String(label), likely[place]])),
    };
  }

  async explain({ text: source, method, label, receipt }) {
    const { about, model } = this, text = this.reader.readWords(source), eraser = new Eraser(model, text.rows, text.sizes);
    const answer = eraser.whole(), likely = model.likely(answer.logits);
    const given = this.chosen(likely), asked = about.labels.map(String).indexOf(String(label));
    const ranked = [...likely.keys()].sort((one, other) => likely[other] - likely[one]);
    const holding = ranked.filter((one) => given.includes(one));
    const name = method in METHODS ? method : about.method, decisions = [], said = [];
    for (const chosen of asked >= 0 ? [asked] : holding.length ? holding : ranked.slice(0, 1)) {
      const weights = weigh(await METHODS[name](eraser, answer, chosen), text.spans, text.sentences);
      const measured = receipt ? await receiptOf(eraser, likely, chosen, weights) : null;
      const decision = { label: about.labels[chosen], probability: likely[chosen], weights, receipt: measured };
      const named = given.includes(chosen) ? "the answer" : `the label “${decision.label}”`;
      decisions.push(decision);
      said.push(sayAll(decision, text, about.sayings, named, given.length > 0));
    }
    return {
      model: about.name, source, method: name, decisions, said: said[0], also_said: said.slice(1),
      probabilities: about.labels.map((one, place) => [one, likely[place]]), unknown: text.unknown, read_as: text.readAs, unread: text.unread,
    };
  }

  describe() {
    const { name, labels, several, method, methods } = this.about;
    return {
      name, task: "classify", endpoints: ["predict", "explain"], labels: labels.map(String),
      several_labels: several, methods, default_method: method,
    };
  }
}
