"use strict";
// The recurrence along a row, forward and back: the cells that regard.nn.recurrence defines, their gates in torch's order.

// A cell makes a step of all units at once. `given` is what an item gives the gates, from `first` on, and `fed` what the state before
// gives them. The carry goes from step to step and is changed in place. Where there is a tape, a step writes on it what the way back
// needs, from `at` on. `back` turns the slopes in the carry into slopes along what was given and fed, and leaves in the carry those
// that reach the step before on other ways than through what was fed.

/** h' = tanh(x + W h + b). */
const RNN = {
  gates: 1,
  taped: 1, // numbers of a unit

  step(given, first, fed, { state }, tape, at) {
    for (let unit = 0; unit < state.length; unit += 1) {
      state[unit] = Math.tanh(given[first + unit] + fed[unit]);
      if (tape) tape[at + unit] = state[unit];
    }
  },

  back(tape, at, { state }, toGiven, first, toFed) {
    for (let unit = 0; unit < state.length; unit += 1) {
      toGiven[first + unit] = toFed[unit] = state[unit] * (1 - tape[at + unit] ** 2);
      state[unit] = 0;
    }
  },
};

/** h' = (1 - z) n + z h, with n = tanh(x_n + r (W_n h + b_n)). */
const GRU = {
  gates: 3,
  taped: 5,

  step(given, first, fed, { state }, tape, at) {
    const hidden = state.length;
    for (let unit = 0; unit < hidden; unit += 1) {
      const reset = sigmoid(given[first + unit] + fed[unit]);
      const update = sigmoid(given[first + hidden + unit] + fed[hidden + unit]);
      const fresh = Math.tanh(given[first + 2 * hidden + unit] + reset * fed[2 * hidden + unit]);
      if (tape) {
        const place = at + 5 * unit;
        tape[place] = reset;
        tape[place + 1] = update;
        tape[place + 2] = fresh;
        tape[place + 3] = fed[2 * hidden + unit];
        tape[place + 4] = state[unit];
      }
      state[unit] = (1 - update) * fresh + update * state[unit];
    }
  },

  back(tape, at, { state }, toGiven, first, toFed) {
    const hidden = state.length;
    for (let unit = 0, place = at; unit < hidden; unit += 1, place += 5) {
      const reset = tape[place], update = tape[place + 1], fresh = tape[place + 2], old = tape[place + 3], past = tape[place + 4];
      const slope = state[unit], toFresh = slope * (1 - update) * (1 - fresh * fresh);
      toGiven[first + unit] = toFed[unit] = toFresh * old * reset * (1 - reset);
      toGiven[first + hidden + unit] = toFed[hidden + unit] = slope * (past - fresh) * update * (1 - update);
      toGiven[first + 2 * hidden + unit] = toFresh;
      toFed[2 * hidden + unit] = toFresh * reset;
      state[unit] = slope * update;
    }
  },
};

/** c' = f c + i g, h' = o tanh(c'). */
const LSTM = {
  gates: 4,
  taped: 6,

  step(given, first, fed, { state, memory }, tape, at) {
    const hidden = state.length;
    for (let unit = 0; unit < hidden; unit += 1) {
      const input = sigmoid(given[first + unit] + fed[unit]);
      const forget = sigmoid(given[first + hidden + unit] + fed[hidden + unit]);
      const fresh = Math.tanh(given[first + 2 * hidden + unit] + fed[2 * hidden + unit]);
      const output = sigmoid(given[first + 3 * hidden + unit] + fed[3 * hidden + unit]);
      const past = memory[unit];
      memory[unit] = forget * past + input * fresh;
      const shown = Math.tanh(memory[unit]);
      if (tape) {
        const place = at + 6 * unit;
        tape[place] = input;
        tape[place + 1] = forget;
        tape[place + 2] = fresh;
        tape[place + 3] = output;
        tape[place + 4] = past;
        tape[place + 5] = shown;
      }
      state[unit] = output * shown;
    }
  },

  back(tape, at, { state, memory }, toGiven, first, toFed) {
    const hidden = state.length;
    for (let unit = 0, place = at; unit < hidden; unit += 1, place += 6) {
      const input = tape[place], forget = tape[place + 1], fresh = tape[place + 2], output = tape[place + 3];
      const past = tape[place + 4], shown = tape[place + 5];
      const slope = memory[unit] + state[unit] * output * (1 - shown * shown);
      toGiven[first + unit] = toFed[unit] = slope * fresh * input * (1 - input);
      toGiven[first + hidden + unit] = toFed[hidden + unit] = slope * past * forget * (1 - forget);
      toGiven[first + 2 * hidden + unit] = toFed[2 * hidden + unit] = slope * input * (1 - fresh * fresh);
      toGiven[first + 3 * hidden + unit] = toFed[3 * hidden + unit] = state[unit] * shown * output * (1 - output);
      memory[unit] = slope * forget;
      state[unit] = 0;
    }
  },
};

const CELLS = { rnn: RNN, gru: GRU, lstm: LSTM };

/** A cell along a row, in one direction or two. */
class Recurrence {
  constructor(parts) {
    Object.assign(this, parts); // cell, input, and of each direction hiddenWeights, hiddenBiases
    this.directions = this.hiddenWeights.length;
    this.hidden = this.hiddenBiases[0].length / this.cell.gates;
    this.gates = this.cell.gates * this.hidden;
    this.size = this.directions * this.hidden; // of a state
  }

  /** Read a row of projected items: their states, and with `tape` what the way back needs. */
  read(projected, tape = false) {
    const { cell, hidden } = this, states = new Float64Array(projected.length * this.size);
    const tapes = tape ? this.hiddenWeights.map(() => new Float64Array(projected.length * cell.taped * hidden)) : null;
    for (let direction = 0; direction < this.directions; direction += 1) {
      this.run(projected, direction, states, tapes && tapes[direction]);
    }
    return { states, tapes };
  }

  run(projected, direction, states, tape) {
    const { cell, hidden, gates, size } = this, weight = this.hiddenWeights[direction], bias = this.hiddenBiases[direction];
    const fed = new Float64Array(gates), carry = { state: new Float64Array(hidden), memory: new Float64Array(hidden) };
    for (let step = 0, count = projected.length; step < count; step += 1) {
      const item = direction ? count - 1 - step : step;
      multiply(weight, bias, carry.state, 0, hidden, fed);
      cell.step(projected[item], direction * gates, fed, carry, tape, item * cell.taped * hidden);
      states.set(carry.state, item * size + direction * hidden);
    }
  }

  /** From the slopes along the states to those along what was projected. */
  back(tapes, toStates) {
    const count = toStates.length / this.size;
    const toProjected = Array.from({ length: count }, () => new Float64Array(this.input.bias.length));
    for (let direction = 0; direction < this.directions; direction += 1) this.runBack(tapes[direction], direction, toStates, toProjected);
    return toProjected;
  }

  runBack(tape, direction, toStates, toProjected) {
    const { cell, hidden, gates, size } = this, weight = this.hiddenWeights[direction];
    const toFed = new Float64Array(gates), carry = { state: new Float64Array(hidden), memory: new Float64Array(hidden) };
    for (let count = toProjected.length, step = count - 1; step >= 0; step -= 1) {
      const item = direction ? count - 1 - step : step, place = item * size + direction * hidden;
      for (let unit = 0; unit < hidden; unit += 1) carry.state[unit] += toStates[place + unit];
      cell.back(tape, item * cell.taped * hidden, carry, toProjected[item], direction * gates, toFed);
      multiplyBack(weight, toFed, 0, gates, carry.state, 0, hidden);
    }
  }
}
