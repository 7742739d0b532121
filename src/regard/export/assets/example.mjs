// What the model says of texts, and where it looked: node example.mjs "a text" "another"
// Needs ONNX Runtime alone: npm install onnxruntime-node
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-node";
import { createReader } from "./reader.mjs";

const load = (name) => readFileSync(new URL(name, import.meta.url));
const config = JSON.parse(load("config.json"));
const reader = await createReader(load("vocab.txt").toString(), config);
const session = await ort.InferenceSession.create(load("model.onnx"));

const shown = ["We loved it. The ending is superb!", "Two dull hours. No story at all."];
const texts = process.argv.length > 2 ? process.argv.slice(2) : shown;
const read = reader.read(texts);
const tensor = (numbers) => new ort.Tensor("int64", BigInt64Array.from(numbers, BigInt), [numbers.length]);
const found = await session.run({
  word_ids: tensor(read.wordIds),
  sentence_lengths: tensor(read.sentenceLengths),
  document_lengths: tensor(read.documentLengths),
});

const count = config.labels.length;
const mean = (numbers) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const weigh = ({ data, dims: [, width = 1] }, n) => mean(data.slice(n * width, (n + 1) * width));
const heaviest = (pairs, most) => pairs.sort((a, b) => b[0] - a[0]).slice(0, most);
const told = (pairs, digits) => pairs.map(([part, name]) => `${name} ${part.toFixed(digits)}`).join(", ");
let word = 0, sentence = 0; // weights stand one behind the other, as words and sentences do
texts.forEach((text, place) => {
  const likely = [...found.probabilities.data.slice(place * count, (place + 1) * count)];
  const least = config.multilabel ? 0.5 : Math.max(...likely);
  const said = likely.map((part, n) => [part, config.labels[n]]).filter(([part]) => part >= least);
  const looked = []; // a word weighs what it does in its sentence, times what that does in the document
  for (const last = sentence + read.documentLengths[place]; sentence < last; sentence++)
    for (const end = word + read.sentenceLengths[sentence]; word < end; word++) {
      let weight = weigh(found.word_weights, word);
      if (found.sentence_weights) weight *= weigh(found.sentence_weights, sentence);
      looked.push([weight, text.slice(...read.spans.slice(2 * word, 2 * word + 2))]);
    }
  console.log(`${told(said, 3) || "no label"}  ${text}\n    looked at: ${told(heaviest(looked, 5), 2)}`);
});
