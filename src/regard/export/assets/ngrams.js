"use strict";
// N-grams beside a network: what regard.models.ngrams computes, for one document at a time.

const UNKNOWN = 1;

/** Runs of one to three words that are features, as a tree: the words, those behind each, those behind each pair. */
class NGrams {
  constructor(parts, classCount) {
    Object.assign(this, parts); // words, second, secondStarts, third, thirdStarts, rarity, weights (features x columns), emphasis, marking
    this.columns = this.weights.length / Math.max(this.rarity.length, 1);
    this.classCount = classCount;
    this.counts = new Int32Array(this.rarity.length);
    this.heights = new Float64Array(this.rarity.length);
  }

  /** How much a sentence counts by where it stands in its text, and by its looks. */
  height(hits, number, count) {
    const { first, last } = this.emphasis, place = (number + 0.5) / count;
    return hits.looks * (1 + first * (1 - place) ** 2 + last * place ** 2);
  }

  /** How much a sentence counts that is so like those that people marked; one, where nobody did. */
  looks(ids) {
    if (!this.marking) return 1;
    let sum = 0;
    for (const id of ids) sum += this.marking[id];
    return 1 / (1 + Math.exp(this.seldom - sum / Math.max(ids.length, 1)));
  }

  /** The features of one sentence where they occur: [feature, first word, words, ...]. */
  find(ids) {
    const hits = [], pairs = this.second.length, singles = this.singles;
    for (let at = 0; at < ids.length; at += 1) {
      const first = ids[at] > UNKNOWN ? this.words[ids[at]] : -1;
      if (first >= 0) hits.push(first, at, 1);
      if (!pairs || at + 1 >= ids.length || ids[at] <= UNKNOWN || ids[at + 1] <= UNKNOWN) continue;
      const two = search(this.second, this.secondStarts[ids[at]], this.secondStarts[ids[at] + 1], ids[at + 1]);
      if (two < 0) continue;
      hits.push(singles + two, at, 2);
      if (at + 2 >= ids.length || ids[at + 2] <= UNKNOWN) continue;
      const three = search(this.third, this.thirdStarts[two], this.thirdStarts[two + 1], ids[at + 2]);
      if (three >= 0) hits.push(singles + pairs + three, at, 3);
    }
    return Object.assign(Int32Array.from(hits), { looks: this.looks(ids) });
  }

  /** What a document's features are worth: (1 + ln n) times the rarity and what their sentences count, as a vector of length one. */
  value(sentences) {
    const { counts, heights, rarity } = this, features = [];
    sentences.forEach((hits, number) => {
      const height = this.height(hits, number, sentences.length);
      for (let at = 0; at < hits.length; at += 3) {
        if (counts[hits[at]] === 0) features.push(hits[at]);
        counts[hits[at]] += 1;
        heights[hits[at]] += height;
      }
    });
    let squares = 0;
    const values = new Float64Array(features.length), counted = new Float64Array(features.length);
    features.forEach((feature, place) => {
      counted[place] = heights[feature];
      values[place] = ((1 + Math.log(counts[feature])) * rarity[feature] * heights[feature]) / counts[feature];
      squares += values[place] ** 2;
      counts[feature] = heights[feature] = 0;
    });
    const length = Math.sqrt(squares);
    return { features, counted, values: values.map((value) => value / length) };
  }

  /** Add up the weights of a document's features, a number a class. */
  weigh(sentences) {
    const { features, values } = this.value(sentences), sums = new Float64Array(this.columns);
    features.forEach((feature, place) => {
      for (let column = 0; column < this.columns; column += 1) sums[column] += values[place] * this.weights[feature * this.columns + column];
    });
    return this.spread(sums);
  }

  /** Of two labels one number is kept, how much more the second gets than the first: half for it, half against it. */
  spread(sums) {
    return this.columns === this.classCount ? sums : Float64Array.of(-sums[0] / 2, sums[0] / 2);
  }

  /** What each word of the sentences adds along the slopes of the logits; an occurrence gets as much as its sentence counts. */
  wordShares(sentences, lengths, slopes) {
    const { features, counted, values } = this.value(sentences), worth = new Map();
    features.forEach((feature, place) => {
      const sums = new Float64Array(this.columns);
      for (let column = 0; column < this.columns; column += 1) sums[column] = this.weights[feature * this.columns + column];
      const along = this.spread(sums).reduce((sum, weight, label) => sum + weight * slopes[label], 0);
      worth.set(feature, (values[place] * along) / counted[place]);
    });
    return sentences.map((hits, number) => {
      const shares = new Float64Array(lengths[number]), height = this.height(hits, number, sentences.length);
      for (let at = 0; at < hits.length; at += 3) {
        const share = (worth.get(hits[at]) * height) / hits[at + 2];
        for (let word = 0; word < hits[at + 2]; word += 1) shares[hits[at + 1] + word] += share;
      }
      return shares;
    });
  }
}

function search(sorted, start, end, wanted) {
  let low = start, high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low < end && sorted[low] === wanted ? low : -1;
}
