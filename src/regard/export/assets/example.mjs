// What the model says of texts, and where it looked: node example.mjs "a text" "another"
// Needs ONNX Runtime alone: npm install onnxruntime-node
import { readFileSync } from "node:fs";
import * as ort from "onnxruntime-node";
import { createReader } from "./reader.mjs";

const load = (name) => readFileSync(new URL(name, import.meta.url));
const config = JSON.parse(load("config.json"));
const reader = await createReader(load("vocab.txt").toString(), config);
const session = await ort.InferenceSession.create(load("model.onnx"));

let texts = process.argv.slice(2);
if (!texts.length) texts = ["We loved it. The ending is superb!", "Two dull hours. No story at all."];
const read = reader.read(texts);
const tensor = (numbers) => new ort.Tensor("int64", BigInt64Array.from(numbers, BigInt), [numbers.length]);
const found = await session.run({
  word_ids: tensor(read.wordIds),
  sentence_lengths: tensor(read.sentenceLengths),
  document_lengths: tensor(read.documentLengths),
});

// The weights of words sum to one in each sentence, those of sentences in each document.
const weight = (output, place) => {
  if (!output) return 1; // a model that knows no sentences
  const columns = output.dims[1] ?? 1;
  const row = output.data.slice(place * columns, (place + 1) * columns);
  return row.reduce((sum, one) => sum + one, 0) / columns;
};
const classes = config.labels.length;
let word = 0, sentence = 0; // weights stand one behind the other, as words and sentences do
texts.forEach((text, place) => {
  const likely = Array.from(found.probabilities.data.slice(place * classes, (place + 1) * classes));
  const best = likely.indexOf(Math.max(...likely));
  const looked = [];
  for (const last = sentence + read.documentLengths[place]; sentence < last; sentence++)
    for (const end = word + read.sentenceLengths[sentence]; word < end; word++) {
      const [start, stop] = read.spans.slice(2 * word, 2 * word + 2);
      const share = weight(found.word_weights, word) * weight(found.sentence_weights, sentence);
      looked.push([share, text.slice(start, stop)]);
    }
  const heaviest = looked.sort((one, other) => other[0] - one[0]).slice(0, 5);
  const shown = heaviest.map(([share, written]) => `${written} ${share.toFixed(2)}`).join(", ");
  console.log(`${config.labels[best]} ${likely[best].toFixed(3)}  ${text}\n    looked at: ${shown}`);
});
