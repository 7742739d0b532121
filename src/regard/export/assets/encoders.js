"use strict";
// What reads a row of items, forward and back: the encoders of regard.nn.encoders.

// An item is projected by `input` first, which may be kept: it depends on the item alone. `read` gives the states of a row of such
// items, end to end, and with `tape` what the way back needs.

/** Layers of a recurrence, each of which reads the states of the one below it. */
class RecurrentEncoder {
  constructor(layers) {
    this.layers = layers;
    this.input = layers[0].input;
    this.size = layers.at(-1).size;
  }

  read(projected, tape = false) {
    const tapes = [];
    let given = projected, states = null;
    for (const layer of this.layers) {
      if (states) given = projected.map((_, item) => layer.input.apply(states, item * layer.input.inputSize));
      const found = layer.read(given, tape);
      states = found.states;
      tapes.push(found.tapes);
    }
    return { states, tapes };
  }

  /** From the slopes along the states of the last layer to those along what was projected. */
  back(tapes, toStates) {
    let slopes = toStates;
    for (let number = this.layers.length - 1; ; number -= 1) {
      const layer = this.layers[number], toProjected = layer.back(tapes[number], slopes), size = layer.input.inputSize;
      if (number === 0) return toProjected;
      slopes = new Float64Array(toProjected.length * size);
      toProjected.forEach((slope, item) => layer.input.back(slope, slopes, item * size));
    }
  }
}

/** Leaves every item as it was projected, so that attention sees the words themselves. */
class NoEncoder {
  constructor(input) {
    this.input = input;
    this.size = input.bias.length;
  }

  read(projected) {
    const states = new Float64Array(projected.length * this.size);
    projected.forEach((item, place) => states.set(item, place * this.size));
    return { states, tapes: null };
  }

  back(tapes, toStates) {
    return Array.from({ length: toStates.length / this.size }, (_, item) => toStates.slice(item * this.size, (item + 1) * this.size));
  }
}
