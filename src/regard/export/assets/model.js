"use strict";
// The whole model: one network or several that answer together, with n-grams beside them.

const sumOf = (rows) => rows[0].map((_, place) => rows.reduce((sum, row) => sum + row[place], 0));
const meanOf = (rows) => (rows.length === 1 ? rows[0] : sumOf(rows).map((sum) => sum / rows.length));

// ---------------------------------------------------------------- several networks as one

const logSigmoid = (number) => (number < 0 ? number : 0) - Math.log1p(Math.exp(-Math.abs(number)));
const logLikely = (logits) => logits.map(logSigmoid); // of labels that are each given or not
const logUnlikely = (logits) => logits.map((logit) => logSigmoid(-logit));

function logSumExp(numbers) {
  const peak = numbers.reduce((one, other) => Math.max(one, other), -Infinity);
  return peak + Math.log(numbers.reduce((sum, number) => sum + Math.exp(number - peak), 0));
}

function logSoftmax(logits) {
  const total = logSumExp(logits);
  return logits.map((logit) => logit - total);
}

/** The logits of the mean of what networks think likely, of the logits of each: what regard.models.ensemble computes. */
function logitsTogether(logits, several) {
  if (logits.length === 1) return logits[0];
  const mean = (rows) => rows[0].map((_, label) => logSumExp(rows.map((row) => row[label])) - Math.log(rows.length));
  if (!several) return mean(logits.map(logSoftmax));
  const likely = mean(logits.map(logLikely)), unlikely = mean(logits.map(logUnlikely));
  return likely.map((number, label) => number - unlikely[label]);
}

/** From slopes along the logits of the mean to those along the logits of each network. */
function slopesApart(logits, several, slopes) {
  if (logits.length === 1) return [slopes];
  // Who thinks a label likelier than others do moves the mean more.
  const shares = (rows) => { // of the networks, label by label
    const columns = Array.from(slopes, (_, label) => softmax(rows.map((row) => row[label])));
    return rows.map((_, place) => columns.map((column) => column[place]));
  };
  if (several) {
    const likely = shares(logits.map(logLikely)), unlikely = shares(logits.map(logUnlikely));
    return logits.map((row, place) => slopes.map((slope, label) =>
      slope * (likely[place][label] * sigmoid(-row[label]) + unlikely[place][label] * sigmoid(row[label]))));
  }
  const weighed = shares(logits.map(logSoftmax)).map((row) => row.map((share, label) => share * slopes[label]));
  return logits.map((row, place) => {
    const total = weighed[place].reduce((sum, slope) => sum + slope, 0), likely = softmax(row);
    return weighed[place].map((slope, label) => slope - likely[label] * total);
  });
}

// ---------------------------------------------------------------- the model

/** What one of the networks made of sentences that all of them have read. */
const readingsBy = (sentences, place) => sentences.map((sentence) => sentence.readings[place]);

class Model {
  constructor(parts) {
    Object.assign(this, parts); // networks, ngrams, scale, intercepts, temperature, several
    this.classCount = this.networks[0].classify.bias.length;
  }

  /** Read one sentence: all that its document needs of it. */
  readSentence(ids, tape = false, imposed = null) {
    const readings = this.networks.map((network) => network.readSentence(ids, tape, imposed));
    const weights = meanOf(readings.map((reading) => reading.found.weights));
    return { ids, readings, weights, hits: this.ngrams.map((table) => table.find(ids)) };
  }

  /** Classify a document put together from sentences that were read. */
  readDocument(sentences, tape = false, imposed = null) {
    const readings = this.networks.map((network, place) => network.readDocument(readingsBy(sentences, place), tape, imposed));
    const weights = sentences.length ? meanOf(readings.map((reading) => reading.found.weights)) : [];
    let logits = logitsTogether(readings.map((reading) => reading.logits), this.several);
    if (this.ngrams.length) {
      const shares = this.ngrams.map((table, place) => table.weigh(sentences.map((sentence) => sentence.hits[place])));
      logits = logits.map((logit, label) =>
        this.scale * logit + this.intercepts[label] + shares.reduce((sum, share) => sum + share[label], 0));
    }
    return { logits, readings, weights };
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

  /**
   * The slopes of one label's log-odds, network by network, and what n-grams add beside them, word by word.
   * Weights that are imposed, of the words of all sentences or of the sentences, stand in the place of the networks' own.
   */
  differentiate(rows, label, { words = null, sentences = null } = {}) {
    const read = rows.map((ids, number) => this.readSentence(ids, true, words && words[number]));
    const { logits, readings } = this.readDocument(read, true, sentences), slopes = this.slopes(logits, label);
    const apart = slopesApart(readings.map((reading) => reading.logits), this.several, slopes.map((slope) => slope * this.scale));
    const found = this.networks.map((network, place) => network.back(readingsBy(read, place), readings[place], apart[place]));
    const tables = this.ngrams.map((table, place) =>
      table.wordShares(read.map((sentence) => sentence.hits[place]), rows.map((ids) => ids.length), slopes));
    const shares = rows.map((ids, number) =>
      Float64Array.from(ids, (_, word) => tables.reduce((sum, table) => sum + table[number][word], 0)));
    return { read, found, shares };
  }

  /** Gradient x input of every word, sentence by sentence: its own share of the slope, and that of its n-grams. */
  gradientInput(rows, label) {
    if (!rows.length) return [];
    const { read, found, shares } = this.differentiate(rows, label);
    return read.map(({ readings }, number) => sumOf([shares[number], ...this.networks.map((network, place) =>
      network.gradientInput(readings[place], found[place].toProjected[number]))]));
  }

  /** Attention x gradient: every weight times what the answer would gain from more of it, of words and of sentences. */
  attentionGradient(rows, label, weights) {
    if (!rows.length) return { words: [], sentences: [] };
    // Networks that answer together are asked what they gain from more of the weight that they share.
    const below = this.differentiate(rows, label, { words: weights.words });
    const above = this.differentiate(rows, label, { sentences: weights.sentences });
    const gains = sumOf(above.found.map((network) => network.toSentenceWeights));
    return {
      words: rows.map((_, number) => {
        const slopes = sumOf(below.found.map((network) => network.toWordWeights[number]));
        return below.shares[number].map((share, word) => share + weights.words[number][word] * slopes[word]);
      }),
      sentences: rows.map((_, number) =>
        above.shares[number].reduce((sum, share) => sum + share, weights.sentences[number] * gains[number])),
    };
  }
}
