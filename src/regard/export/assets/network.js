"use strict";
// The network, forward and back, with its n-grams: what regard.models computes, for one document at a time.

/** Recurrence along a row, and attention on its states: one floor of the hierarchy. */
class Level {
  constructor(parts, own) {
    Object.assign(this, parts); // encoder, keyWeight, keyBias, query
    this.own = own; // whether items are added up as they came, and not the states
    this.size = this.encoder.size;
  }

  /** What an item gives the gates. */
  project(item) { return this.encoder.project(item); }

  /** Read a row of projected items: states, keys and weights, and with `tape` what the way back needs. */
  read(projected, tape = false) {
    const { states, tapes } = this.encoder.read(projected, tape);
    const count = projected.length, asked = this.query.length, keys = new Float64Array(count * asked), scores = new Float64Array(count);
    for (let item = 0; item < count; item += 1) {
      multiply(this.keyWeight, this.keyBias, states, item * this.size, this.size, keys, item * asked);
      let score = 0;
      for (let place = item * asked, part = 0; part < asked; part += 1, place += 1) {
        keys[place] = Math.tanh(keys[place]);
        score += keys[place] * this.query[part];
      }
      scores[item] = score;
    }
    return { states, tapes, keys, weights: softmax(scores) };
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
    const count = found.weights.length, size = this.size, asked = this.query.length;
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
    const toKey = new Float64Array(asked);
    for (let item = 0; item < count; item += 1) {
      const toScore = found.weights[item] * (gains[item] - mean);
      for (let part = 0; part < asked; part += 1) {
        const key = found.keys[item * asked + part];
        toKey[part] = toScore * this.query[part] * (1 - key * key);
      }
      multiplyBack(this.keyWeight, toKey, 0, asked, toStates, item * size, size);
    }
    return { toProjected: this.encoder.back(found.tapes, toStates), toItems, gains };
  }
}

// ---------------------------------------------------------------- the model

const COMMON = 2000; // words, the commonest, whose projections are made when a model is opened
const MOST_KEPT = 30000; // others whose projections are kept

class Model {
  constructor(parts) {
    Object.assign(this, parts); // vectors, words, sentences, classify, ngrams, scale, intercepts, temperature, several
    this.classCount = this.classify.bias.length;
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
      if (this.kept.size >= MOST_KEPT) this.kept.clear();
      this.kept.set(id, found);
    }
    return found;
  }

  /** Read one sentence: all that its document needs of it. */
  readSentence(ids, tape = false) {
    const projected = Array.from(ids, (id) => this.projectWord(id));
    const found = this.words.read(projected, tape), vector = this.words.pool(found, projected);
    return { ids, projected, found, vector, given: this.sentences.project(vector), hits: this.ngrams.map((table) => table.find(ids)) };
  }

  /** Classify a document put together from sentences that were read. */
  readDocument(sentences, tape = false) {
    const { bias, weight } = this.classify, logits = Float64Array.from(bias);
    let found = null;
    if (sentences.length) {
      const vectors = sentences.map((sentence) => sentence.vector);
      found = this.sentences.read(sentences.map((sentence) => sentence.given), tape);
      const vector = this.sentences.pool(found, vectors);
      multiply(weight, bias, vector, 0, vector.length, logits);
    }
    if (this.ngrams.length) {
      const shares = this.ngrams.map((table, place) => table.weigh(sentences.map((sentence) => sentence.hits[place])));
      for (let label = 0; label < this.classCount; label += 1) {
        logits[label] = this.scale * logits[label] + this.intercepts[label] + shares.reduce((sum, share) => sum + share[label], 0);
      }
    }
    return { logits, found };
  }

  likely(logits) {
    const scaled = logits.map((logit) => logit / this.temperature);
    return this.several ? scaled.map(sigmoid) : softmax(scaled);
  }

  /** log p / (1 - p) of one label. */
  logOdds(logits, label) {
    const scaled = logits.map((logit) => logit / this.temperature);
    if (this.several || scaled.length === 1) return scaled[label];
    const others = scaled.filter((_, place) => place !== label), peak = Math.max(...others);
    return scaled[label] - peak - Math.log(others.reduce((sum, logit) => sum + Math.exp(logit - peak), 0));
  }

  /** How the log-odds of one label slope along the logits. */
  slopes(logits, label) {
    if (this.several || logits.length === 1) return logits.map((_, place) => Number(place === label) / this.temperature);
    const others = softmax(logits.map((logit, place) => place === label ? -Infinity : logit / this.temperature));
    return others.map((share, place) => (Number(place === label) - share) / this.temperature);
  }

  /** The slopes of one label's log-odds, down to what every word gives the gates, and what n-grams add beside them. */
  differentiate(rows, label) {
    const sentences = rows.map((ids) => this.readSentence(ids, true)), { logits, found } = this.readDocument(sentences, true);
    const slopes = this.slopes(logits, label), { weight } = this.classify, width = weight.length / this.classCount;
    const scale = this.ngrams.length ? this.scale : 1, toDocument = new Float64Array(width);
    multiplyBack(weight, slopes.map((slope) => slope * scale), 0, this.classCount, toDocument, 0, width);
    const above = this.sentences.back(found, sentences.map((sentence) => sentence.vector), toDocument);
    const tables = this.ngrams.map((table, place) =>
      table.wordShares(sentences.map((sentence) => sentence.hits[place]), rows.map((ids) => ids.length), slopes));
    const below = sentences.map((sentence, number) => {
      const toSentence = above.toItems[number];
      this.sentences.encoder.projectBack(above.toProjected[number], toSentence);
      return this.words.back(sentence.found, sentence.projected, toSentence);
    });
    const shares = rows.map((ids, number) =>
      Float64Array.from(ids, (_, word) => tables.reduce((sum, table) => sum + table[number][word], 0)));
    return { sentences, found, above, below, shares };
  }

  /** Gradient x input of every word, sentence by sentence: its own share of the slope, and that of its n-grams. */
  gradientInput(rows, label) {
    if (!rows.length) return [];
    const { sentences, below, shares } = this.differentiate(rows, label), bias = this.words.encoder.inputBias;
    // The gates take W x + b, so what the vector itself gives them is all but the bias.
    return sentences.map((sentence, number) => shares[number].map((share, word) =>
      below[number].toProjected[word].reduce((sum, slope, gate) => sum + slope * (sentence.projected[word][gate] - bias[gate]), share)));
  }

  /** Attention x gradient: every weight times what the answer would gain from more of it, of words and of sentences. */
  attentionGradient(rows, label) {
    if (!rows.length) return { words: [], sentences: [] };
    const { sentences, found, above, below, shares } = this.differentiate(rows, label);
    return {
      words: sentences.map((sentence, number) =>
        shares[number].map((share, word) => share + sentence.found.weights[word] * below[number].gains[word])),
      sentences: rows.map((_, number) =>
        shares[number].reduce((sum, share) => sum + share, found.weights[number] * above.gains[number])),
    };
  }
}
