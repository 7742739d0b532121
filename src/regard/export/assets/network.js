"use strict";
// A network, forward and back: what regard.models.han computes, for one document at a time.

// A score reads states, which stand end to end, and gives each a number; `back` adds to the slopes along the states.

/** v · tanh(U h + b) of each state h. */
class TanhScore {
  constructor(parts) { Object.assign(this, parts); } // keyWeight, keyBias, query

  read(states, size) {
    const count = states.length / size, asked = this.query.length;
    const keys = new Float64Array(count * asked), scores = new Float64Array(count);
    for (let item = 0; item < count; item += 1) {
      multiply(this.keyWeight, this.keyBias, states, item * size, size, keys, item * asked);
      let score = 0;
      for (let place = item * asked, part = 0; part < asked; part += 1, place += 1) {
        keys[place] = Math.tanh(keys[place]);
        score += keys[place] * this.query[part];
      }
      scores[item] = score;
    }
    return { scores, keys };
  }

  back(keys, toScores, toStates, size) {
    const asked = this.query.length, toKey = new Float64Array(asked);
    for (let item = 0; item < toScores.length; item += 1) {
      for (let part = 0; part < asked; part += 1) {
        const key = keys[item * asked + part];
        toKey[part] = toScores[item] * this.query[part] * (1 - key * key);
      }
      multiplyBack(this.keyWeight, toKey, 0, asked, toStates, item * size, size);
    }
  }
}

/** v · h of each state h. */
class ProductScore {
  constructor({ query }) { this.query = query; }

  read(states, size) {
    const scores = new Float64Array(states.length / size);
    states.forEach((number, place) => { scores[Math.floor(place / size)] += number * this.query[place % size]; });
    return { scores, keys: null };
  }

  back(keys, toScores, toStates, size) {
    toScores.forEach((slope, item) => {
      for (let part = 0; part < size; part += 1) toStates[item * size + part] += slope * this.query[part];
    });
  }
}

/** The same for every state: the mean. */
class NoScore {
  read(states, size) { return { scores: new Float64Array(states.length / size), keys: null }; }
  back() {}
}

/** An encoder along a row, and attention on its states: one floor of the hierarchy. */
class Level {
  constructor(encoder, score, own) {
    this.encoder = encoder;
    this.score = score;
    this.own = own; // whether items are added up as they came, and not the states
    this.size = this.encoder.size;
  }

  /** What an item gives the encoder: the gates of a recurrence. */
  project(item) { return this.encoder.input.apply(item); }

  /**
   * Read a row of projected items: states, keys and weights, and with `tape` what the way back needs.
   * Weights that are imposed stand in the place of the level's own.
   */
  read(projected, tape = false, imposed = null) {
    const { states, tapes } = this.encoder.read(projected, tape);
    const { scores, keys } = this.score.read(states, this.size);
    return { states, tapes, keys, weights: imposed || softmax(scores) };
  }

  /** The sum of the items, or of the states, by their weights. */
  pool(found, items) {
    const size = this.own ? items[0].length : this.size, vector = new Float64Array(size);
    found.weights.forEach((weight, item) => {
      const from = this.own ? items[item] : found.states, at = this.own ? 0 : item * size;
      for (let part = 0; part < size; part += 1) vector[part] += weight * from[at + part];
    });
    return vector;
  }

  /** From the slope along the pooled vector to the slopes along what was projected, and along the items themselves. */
  back(found, items, slope) {
    const count = found.weights.length, size = this.size;
    const toStates = new Float64Array(count * size), toItems = items.map((item) => new Float64Array(item.length));
    const gains = new Float64Array(count);
    let mean = 0;
    for (let item = 0; item < count; item += 1) {
      const from = this.own ? items[item] : found.states, at = this.own ? 0 : item * size, weight = found.weights[item];
      const to = this.own ? toItems[item] : toStates;
      for (let part = 0; part < slope.length; part += 1) {
        gains[item] += slope[part] * from[at + part];
        to[at + part] += weight * slope[part];
      }
      mean += weight * gains[item];
    }
    this.score.back(found.keys, found.weights.map((weight, item) => weight * (gains[item] - mean)), toStates, size);
    return { toProjected: this.encoder.back(found.tapes, toStates), toItems, gains };
  }
}

const COMMON = 2000; // words, the commonest, whose projections are made when a network is opened

/** Words make sentences and sentences make documents, by a level each. */
class Network {
  constructor(parts, mostKept) {
    Object.assign(this, parts); // vectors, words, sentences, classify
    this.mostKept = mostKept; // projections of words that are not common
    this.kept = new Map();
    this.common = [];
    for (let id = 0; id < Math.min(COMMON, this.vectors.count); id += 1) this.common.push(this.project(id));
  }

  project(id) { return this.words.project(this.vectors.row(id)); }

  /** What a word gives the gates; kept, because words come again. */
  projectWord(id) {
    let found = this.common[id] || this.kept.get(id);
    if (!found) {
      found = this.project(id);
      if (this.kept.size >= this.mostKept) this.kept.clear();
      this.kept.set(id, found);
    }
    return found;
  }

  /** Read one sentence: all that its document needs of it. */
  readSentence(ids, tape = false, imposed = null) {
    const projected = Array.from(ids, (id) => this.projectWord(id));
    const found = this.words.read(projected, tape, imposed), vector = this.words.pool(found, projected);
    return { projected, found, vector, given: this.sentences.project(vector) };
  }

  /** Classify a document put together from sentences that were read. */
  readDocument(sentences, tape = false, imposed = null) {
    const { bias, weight } = this.classify, logits = Float64Array.from(bias);
    if (!sentences.length) return { logits, found: null };
    const found = this.sentences.read(sentences.map((sentence) => sentence.given), tape, imposed);
    const vector = this.sentences.pool(found, sentences.map((sentence) => sentence.vector));
    multiply(weight, bias, vector, 0, vector.length, logits);
    return { logits, found };
  }

  /** From slopes along the logits to those along the weights of both levels and along what every word gives the gates. */
  back(sentences, { found, logits }, slopes) {
    const { weight } = this.classify, width = weight.length / logits.length, toDocument = new Float64Array(width);
    multiplyBack(weight, slopes, 0, logits.length, toDocument, 0, width);
    const above = this.sentences.back(found, sentences.map((sentence) => sentence.vector), toDocument);
    const below = sentences.map((sentence, number) => {
      const toSentence = above.toItems[number];
      this.sentences.encoder.input.back(above.toProjected[number], toSentence);
      return this.words.back(sentence.found, sentence.projected, toSentence);
    });
    return {
      toSentenceWeights: above.gains, toWordWeights: below.map((level) => level.gains),
      toProjected: below.map((level) => level.toProjected),
    };
  }

  /** Gradient x input of the words of a sentence: the gates take W x + b, so what a vector itself gives them is all but the bias. */
  gradientInput({ projected }, toProjected) {
    const { bias } = this.words.encoder.input;
    return projected.map((given, word) =>
      toProjected[word].reduce((sum, slope, gate) => sum + slope * (given[gate] - bias[gate]), 0));
  }
}
