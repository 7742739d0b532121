"use strict";
// What all networks compute with.

/** out = bias + matrix · vector, which begins at a place of its array: four rows at a time, each number is loaded once. */
function multiply(matrix, bias, vector, at, size, out, to = 0) {
  const rows = bias.length;
  let row = 0;
  for (; row + 4 <= rows; row += 4) {
    const first = row * size, second = first + size, third = second + size, fourth = third + size;
    let one = bias[row], two = bias[row + 1], three = bias[row + 2], four = bias[row + 3];
    for (let column = 0; column < size; column += 1) {
      const number = vector[at + column];
      one += matrix[first + column] * number;
      two += matrix[second + column] * number;
      three += matrix[third + column] * number;
      four += matrix[fourth + column] * number;
    }
    out[to + row] = one;
    out[to + row + 1] = two;
    out[to + row + 2] = three;
    out[to + row + 3] = four;
  }
  for (; row < rows; row += 1) {
    let sum = bias[row];
    for (let column = 0; column < size; column += 1) sum += matrix[row * size + column] * vector[at + column];
    out[to + row] = sum;
  }
}

/** out += matrixᵀ · vector, with as many rows as the vector from `at` on has. */
function multiplyBack(matrix, vector, at, rows, out, to, size) {
  for (let row = 0, place = 0; row < rows; row += 1, place += size) {
    const amount = vector[at + row];
    for (let column = 0; column < size; column += 1) out[to + column] += amount * matrix[place + column];
  }
}

/** W x + b. */
class Linear {
  constructor(weight, bias) {
    this.weight = weight;
    this.bias = bias;
    this.inputSize = weight.length / bias.length;
  }

  /** What is made of a vector, which begins at a place of its array. */
  apply(vector, at = 0) {
    const out = new Float64Array(this.bias.length);
    multiply(this.weight, this.bias, vector, at, this.inputSize, out);
    return out;
  }

  /** From the slopes along what was made to those along the vector, which are added up from a place on. */
  back(slopes, out, to = 0) { multiplyBack(this.weight, slopes, 0, slopes.length, out, to, this.inputSize); }
}

const sigmoid = (number) => 1 / (1 + Math.exp(-number));

function softmax(scores) {
  const peak = scores.reduce((one, other) => Math.max(one, other), -Infinity);
  const grown = scores.map((score) => Math.exp(score - peak)), total = grown.reduce((one, other) => one + other, 0);
  return grown.map((amount) => amount / total);
}
