"use strict";
// Everything is drawn with text nodes and element properties: no text of a user becomes markup.

const $ = (id) => document.getElementById(id);
const state = { models: [], asked: 0, picture: null };
const canMark = document.documentElement.dataset.marks === "yes";
// As the other views: never a false zero or hundred.
const percent = (share) => {
  if (share >= 0.9995) return share >= 1 ? "100 %" : ">99.9 %";
  if (share < 0.0005) return share <= 0 ? "0 %" : "<0.1 %";
  return (100 * share).toFixed(1) + " %";
};

function make(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function tell(message, bad = false) {
  $("status").textContent = message;
  $("status").classList.toggle("bad", bad);
}

async function call(path, body, method = body ? "POST" : "GET") {
  if (globalThis.localModel) return localModel.answer(path, body); // a page that holds its model asks nobody
  const headers = { "content-type": "application/json" };
  const key = sessionStorage.getItem("regard-key");
  if (key) headers["authorization"] = "Bearer " + key;
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body ? JSON.stringify(body) : undefined });
  } catch {
    throw new Error("the server does not answer; is it still running?");
  }
  if (answer.status === 401 && (await askKey())) return call(path, body, method);
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Error(said.error || `the server answered ${answer.status}`);
  }
  return answer;
}

function askKey() {
  const dialog = $("key-dialog");
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    sessionStorage.setItem("regard-key", $("key").value);
    resolve(Boolean($("key").value));
  }, { once: true }));
}

// ---------------------------------------------------------------- what can be asked

async function start() {
  state.models = (await (await call("models")).json()).models;
  for (const model of state.models) $("model").append(make("option", { value: model.name }, model.name));
  $("model").addEventListener("change", suit);
  suit();
}

const PURPOSES = {
  explain: "Paste a text and see what the model answers, on which words it rests, and whether that is true.",
  translate: "Paste a text and see how the model translates it, where each piece looked, and whether that matters.",
  caption: "Give it a picture and see what the model writes about it, where each word looked, and whether that matters.",
};
const kindOf = (model) => Object.keys(PURPOSES).find((kind) => model.endpoints.includes(kind));

function suit() {
  const model = chosen(), kind = kindOf(model);
  const document_model = kind === "explain";
  $("purpose").textContent = PURPOSES[kind];
  for (const box of document.querySelectorAll(".of-labels")) box.hidden = !document_model;
  for (const box of document.querySelectorAll(".of-texts")) box.hidden = kind === "caption";
  for (const box of document.querySelectorAll(".of-pictures")) box.hidden = kind !== "caption";
  $("other").replaceChildren(make("option", { value: "" }, "none"));
  for (const other of state.models) {
    if (other.name !== model.name && other.task === model.task) {
      $("other").append(make("option", { value: other.name }, other.name));
    }
  }
  $("other-box").hidden = $("other").childElementCount < 2;
  if (!document_model) return;
  const usual = model.default_method.replaceAll("_", " ");
  $("label").replaceChildren(make("option", { value: "" }, "the answer"));
  for (const label of model.labels) $("label").append(make("option", { value: label }, label));
  $("method").replaceChildren(make("option", { value: "default" }, `as measured best (${usual})`));
  for (const method of model.methods) {
    $("method").append(make("option", { value: method }, method.replaceAll("_", " ")));
  }
}

const chosen = () => state.models.find((model) => model.name === $("model").value);

// Make a model that takes this the chosen one, unless it is; say whether there is any.
function choose(fits) {
  const model = fits(chosen()) ? chosen() : state.models.find(fits);
  if (!model) return false;
  if (model !== chosen()) { $("model").value = model.name; suit(); }
  return true;
}

// ---------------------------------------------------------------- asking

$("ask").addEventListener("submit", (event) => { event.preventDefault(); show(); });
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) show();
});
for (const id of ["label", "method", "receipt", "other"]) {
  $(id).addEventListener("change", () => { if ($("results").childElementCount) show(); });
}

async function show() {
  const text = $("text").value;
  if (kindOf(chosen()) === "caption") {
    if (!state.picture) return tell("There is no picture to look at yet.", true);
  } else if (!text.trim()) return tell("There is no text to read yet.", true);
  const turn = ++state.asked;
  const names = [$("model").value, $("other").value].filter(Boolean);
  tell("Reading ...");
  try {
    const drawn = [];
    for (const name of names) drawn.push(await ask(name, text));
    if (turn !== state.asked) return;
    $("results").classList.toggle("two", drawn.length === 2);
    $("results").replaceChildren(...drawn);
    tell("");
    $("results").focus({ preventScroll: true });
  } catch (problem) {
    if (turn === state.asked) tell(problem.message, true);
  }
}

async function ask(name, text) {
  const model = state.models.find((one) => one.name === name);
  const receipt = $("receipt").checked;
  if (kindOf(model) === "caption") {
    const asked = { picture: state.picture, model: name, receipt };
    return drawCaption(asked, await (await call("caption", asked)).json());
  }
  if (kindOf(model) === "translate") {
    const asked = { text, model: name, receipt };
    return drawTranslation(asked, await (await call("translate", asked)).json());
  }
  const question = {
    text, model: name, method: $("method").value, receipt,
    label: model.labels.includes($("label").value) ? $("label").value : null,
  };
  return drawExplanation(model, question, await (await call("explain", question)).json());
}

// ---------------------------------------------------------------- an explanation

function drawExplanation(model, question, found) {
  const said = [found.said, ...found.also_said];
  const drawn = found.decisions.map((decision, place) => drawDecision(model, found, decision, said[place]));
  return make("article", { className: "answer" }, make("h2", {}, model.name),
    drawn.length > 1 ? labelSwitch(found.decisions, drawn) : null, ...drawn, saving("explain", question));
}

// One label is shown at a time; each keeps what was erased from its text.
function labelSwitch(decisions, drawn) {
  const box = make("div", { className: "labels", role: "group", "aria-label": "Label that is explained" });
  const show = (chosen) => [...box.children].forEach((button, place) => {
    button.setAttribute("aria-pressed", String(place === chosen));
    drawn[place].hidden = place !== chosen;
  });
  decisions.forEach(({ label, probability }, place) => box.append(
    make("button", { type: "button", onclick: () => show(place) }, `${label} ${percent(probability)}`)));
  show(0);
  return box;
}

function drawDecision(model, found, decision, said) {
  const points = Array.from(found.source); // spans count characters, not UTF-16 units
  const section = make("div", { className: "of-label" });
  const bars = probabilityBars(found.probabilities, decision.label);
  section.append(
    make("p", { className: "lead" }, answerOf(model, found.probabilities).length ? null : "No label; the likeliest is ",
      make("b", {}, String(decision.label)), ` with ${percent(decision.probability)}`,
      decision.against === null || decision.against === undefined ? null : ` rather than ${decision.against}`),
  );
  if (said.conclusion) section.append(make("p", { className: "conclusion" }, said.conclusion));
  section.append(bars.node);
  const whatIf = make("div", { className: "what-if", role: "status", hidden: true });
  section.append(
    legend(decision), whatIf,
    drawText(points, decision, {
      label: String(decision.label), model: model.name, source: found.source,
      onErase: (erased) => tryWithout(model, found, decision, erased, whatIf, bars),
    }),
    make("div", { className: "columns" }, wordList(points, decision, 1, "Speaks for it"),
      wordList(points, decision, -1, "Speaks against it")),
  );
  for (const note of [said.finding, ...said.notes]) {
    if (note) section.append(make("p", { className: "muted" }, note));
  }
  if (decision.receipt) section.append(receipt(decision, said));
  return section;
}

const saving = (path, question) => make("div", { className: "actions" },
  make("button", { type: "button", onclick: () => save(path, question) }, "Save this as a file to send"));

function probabilityBars(probabilities, label) {
  const ranked = [...probabilities].sort((one, other) => other[1] - one[1]).slice(0, 8);
  const marks = new Map();
  const node = make("ol", { className: "bars", "aria-label": "Probability of each label" });
  for (const [name, share] of ranked) {
    const fill = make("i"), was = make("b", { hidden: true });
    const number = make("span", { className: "number" }, percent(share));
    fill.style.width = `${100 * share}%`;
    was.style.width = `${100 * share}%`;
    marks.set(String(name), { fill, was, number, share });
    const title = make("span", { className: "name" }, String(name));
    if (String(name) === String(label)) title.style.fontWeight = "600";
    node.append(make("li", {}, title, make("span", { className: "bar" }, fill, was), number));
  }
  const update = (shares) => {
    for (const [name, mark] of marks) {
      const share = shares ? shares[name] : mark.share;
      mark.fill.style.width = `${100 * share}%`;
      mark.was.hidden = !shares;
      mark.number.textContent = percent(share);
    }
  };
  return { node, update };
}

function legend(decision) {
  const signed = decision.weights.some((weights) => weights.scores);
  const key = (kind, said) => make("span", {}, make("span", { className: "key " + kind }), said);
  return make("div", { className: "legend" },
    key("for", signed ? "word that speaks for it" : "word it looked at"),
    signed ? key("against", "word that speaks against it") : null,
    key("sentence", "weight of the sentence"),
    make("span", {}, "click a word or ✕ to erase it and see the answer change"));
}

function wordScores(decision) {
  // As the pages of regard explain do: word weight times sentence weight where both are shares.
  const words = decision.weights.find((weights) => weights.name === "word");
  const sentences = decision.weights.find((weights) => weights.name === "sentence");
  if (!words) return { words: null, sentences, scores: [] };
  let scores = words.scores || words.values;
  if (words.by === "sentence" && sentences) {
    let place = 0;
    scores = scores.map((score, number) => {
      while (place + 1 < sentences.pieces.length && words.pieces[number][0] >= sentences.pieces[place][1]) place += 1;
      return score * sentences.values[place];
    });
  }
  return { words, sentences, scores };
}

function drawText(points, decision, reader) {
  const { words, sentences, scores } = wordScores(decision);
  const most = Math.max(1e-12, ...scores.map(Math.abs));
  const cut = (start, end) => points.slice(start, end).join("");
  const erased = new Set();
  const long = words && words.pieces.length > 3000; // then only what is in view is laid out
  const box = make("div", { className: long ? "text long" : "text", dir: "auto", role: "group", "aria-label": "The text, with what counted" });
  const all = sentences && sentences.pieces.length ? sentences.pieces : [[0, points.length]];
  const amounts = sentences ? sentences.scores || sentences.values : [];
  const strongest = Math.max(1e-12, ...amounts.map(Math.abs));
  const spans = [];
  let next = 0, done = 0;

  const changed = () => reader.onErase([...erased]);
  const toggle = (piece, node, name) => {
    if (!erased.delete(piece)) erased.add(piece);
    node.classList.toggle(name, erased.has(piece));
    return erased.has(piece);
  };

  all.forEach((piece, number) => {
    const [start, end] = piece;
    const said = make("span", { className: "said", dir: "auto" });
    // What stands between sentences, such as markup, is shown too: nothing of a text is hidden.
    const before = cut(done, start).trim();
    if (before) said.append(make("span", { className: "muted" }, before), " ");
    done = end;
    let at = start;
    while (words && next < words.pieces.length && words.pieces[next][0] < end) {
      const [from, to] = words.pieces[next];
      if (from > at) said.append(cut(at, from));
      const strength = Math.abs(scores[next]) / most;
      const span = make("span", { className: "w", role: "button", tabIndex: -1, title: "erase this word" }, cut(from, to));
      if (strength > 0.04) {
        span.style.backgroundColor = `rgba(var(--${scores[next] < 0 ? "against" : "for"}), ${strength.toFixed(2)})`;
      }
      span.setAttribute("aria-pressed", "false");
      span.addEventListener("click", () => {
        span.setAttribute("aria-pressed", String(toggle(words.pieces[spans.indexOf(span)], span, "gone")));
        changed();
      });
      spans.push(span);
      said.append(span);
      at = to;
      next += 1;
    }
    said.append(cut(at, end));
    if (number === all.length - 1) {
      const behind = cut(end, points.length).trim();
      if (behind) said.append(" ", make("span", { className: "muted" }, behind));
    }
    const weight = make("span", { className: "weight" });
    if (sentences) {
      const amount = amounts[number];
      const fill = make("i", { className: amount < 0 ? "against" : "" });
      fill.style.width = `${(100 * Math.abs(amount)) / strongest}%`;
      weight.append(fill);
      weight.title = `weight ${amount.toPrecision(2)}`;
    }
    const tools = make("span", { className: "tools" });
    const line = make("div", { className: "line" }, weight, said, tools);
    const wipe = make("button", { type: "button", title: "Erase this sentence" }, "✕");
    wipe.setAttribute("aria-label", `Erase sentence ${number + 1}`);
    wipe.setAttribute("aria-pressed", "false");
    wipe.addEventListener("click", () => {
      wipe.setAttribute("aria-pressed", String(toggle(piece, line, "erased")));
      changed();
    });
    tools.append(wipe);
    if (canMark) tools.append(...markButtons(piece, number, reader));
    box.append(line);
  });

  // One stop for the Tab key; arrows go from word to word.
  if (spans.length) spans[0].tabIndex = 0;
  box.addEventListener("keydown", (event) => {
    const place = spans.indexOf(document.activeElement);
    if (place < 0) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && spans[place + step]) {
      spans[place].tabIndex = -1;
      spans[place + step].tabIndex = 0;
      spans[place + step].focus();
      event.preventDefault();
    } else if (event.key === "Enter" || event.key === " ") {
      spans[place].click();
      event.preventDefault();
    }
  });
  return box;
}

function markButtons(piece, number, reader) {
  const kinds = { reason: "this is why", irrelevant: "irrelevant" };
  const buttons = [];
  for (const [kind, title] of Object.entries(kinds)) {
    const button = make("button", { type: "button" }, title);
    button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-label", `Sentence ${number + 1}: ${title}`);
    button.addEventListener("click", async () => {
      const remove = button.getAttribute("aria-pressed") === "true";
      try {
        await call("marks", { text: reader.source, start: piece[0], end: piece[1], kind,
          label: reader.label, model: reader.model, remove });
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button && !remove));
        tell(remove ? "Mark taken back." : "Mark kept. regard train --marks learns from it.");
      } catch (problem) { tell(problem.message, true); }
    });
    buttons.push(button);
  }
  return buttons;
}

// The labels that are the answer, which what is explained need not be.
function answerOf(model, probabilities) {
  if (model.several_labels) return probabilities.filter(([, share]) => share > 0.5).map(([name]) => String(name));
  const best = Math.max(...probabilities.map(([, share]) => share));
  return [String(probabilities.find(([, share]) => share === best)[0])];
}

// The text is sent as it is, with what was erased: cut out of it here, a full stop would join sentences.
async function tryWithout(model, explained, decision, erased, whatIf, bars) {
  const count = erased.length;
  const turn = (whatIf.turn = (whatIf.turn || 0) + 1);
  whatIf.hidden = !count;
  if (!count) return bars.update(null);
  try {
    const found = await (await call("predict", { text: explained.source, without: erased, model: model.name })).json();
    const before = answerOf(model, explained.probabilities);
    if (whatIf.turn !== turn) return;
    bars.update(found.probabilities);
    const now = found.probabilities[decision.label];
    const flips = found.labels.join("\n") !== before.join("\n");
    whatIf.textContent = `Without ${count} erased ${count === 1 ? "piece" : "pieces"}: ${decision.label} `
      + `${percent(decision.probability)} → ${percent(now)}`
      + (flips ? `; the answer becomes ${found.labels.join(", ") || "no label"}.` : ".");
  } catch (problem) { whatIf.textContent = problem.message; }
}

function wordList(points, decision, sign, title) {
  const { words, scores } = wordScores(decision);
  if (!words) return null;
  const best = new Map();
  scores.forEach((score, number) => {
    if (score * sign <= 0) return;
    const word = points.slice(...words.pieces[number]).join("");
    const known = best.get(word.toLowerCase());
    if (!known || Math.abs(score) > Math.abs(known.score)) best.set(word.toLowerCase(), { word, score });
  });
  const ranked = [...best.values()].sort((one, other) => Math.abs(other.score) - Math.abs(one.score)).slice(0, 6);
  if (!ranked.length) return null;
  const most = Math.max(...scores.map(Math.abs));
  const list = make("ol", { className: "bars" });
  for (const { word, score } of ranked) {
    const fill = make("i", { className: sign > 0 ? "for" : "against" });
    fill.style.width = `${(100 * Math.abs(score)) / most}%`;
    list.append(make("li", {}, make("span", { className: "name", dir: "auto" }, word),
      make("span", { className: "bar" }, fill), make("span", { className: "number" }, score.toPrecision(2))));
  }
  return make("section", {}, make("h3", {}, title), list);
}

// ---------------------------------------------------------------- a receipt

function receipt(decision, said) {
  const box = make("details", { open: true }, make("summary", {}, "Is this explanation true?"));
  for (const verdict of said.verdicts) box.append(make("p", {}, verdict));
  for (const line of said.receipt) box.append(make("p", { className: "muted" }, line));
  const charts = make("div", { className: "columns" });
  for (const curve of decision.receipt.curves) {
    if (curve.piece_count > 1) charts.append(chart(curve, decision));
  }
  box.append(charts);
  return box;
}

function chart(curve, decision) {
  const width = 320, height = 150, left = 34, bottom = 128, top = 10;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  const noun = curve.level + "s";
  svg.setAttribute("aria-label", `Probability while the heaviest ${noun} are erased, and while random ones are`);
  const add = (tag, given, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(given)) node.setAttribute(name, value);
    if (text) node.textContent = text;
    svg.append(node);
  };
  const x = (place) => left + ((width - left - 16) * place) / curve.taken.length;
  const y = (share) => bottom - (bottom - top) * share;
  const path = (values) => [decision.probability, ...values].map((share, place) => `${x(place)},${y(share)}`).join(" ");
  for (const share of [0, 0.5, 1]) {
    add("line", { x1: left, x2: width - 8, y1: y(share), y2: y(share), stroke: "var(--line)" });
    add("text", { x: left - 4, y: y(share) + 4, "text-anchor": "end" }, `${100 * share}%`);
  }
  add("polyline", { points: path(curve.random_without), fill: "none", stroke: "var(--muted)", "stroke-dasharray": "4 3", "stroke-width": 2 });
  add("polyline", { points: path(curve.without), fill: "none", stroke: "var(--blue)", "stroke-width": 2.5 });
  curve.taken.forEach((count, place) => add("text", { x: x(place + 1), y: height - 8, "text-anchor": "middle" }, String(count)));
  const caption = make("h3", {}, `Erasing the heaviest ${noun} (line) and random ones (dashes)`);
  return make("div", {}, caption, svg);
}

// ---------------------------------------------------------------- what was written

// A text with its pieces as buttons: one stop for the Tab key, arrows go from piece to piece.
function sentence(text, spans, onChoose, given) {
  const points = Array.from(text), box = make("p", { className: "sentence", dir: "auto", ...given });
  const buttons = [];
  let done = 0;
  spans.forEach(([start, end], number) => {
    if (start < done || start === end) return; // white space, or inside the piece before
    box.append(points.slice(done, start).join(""));
    const piece = make("span", { className: "piece" }, points.slice(start, end).join(""));
    piece.number = number;
    if (onChoose) {
      piece.setAttribute("role", "button");
      piece.setAttribute("aria-pressed", "false");
      piece.tabIndex = buttons.length ? -1 : 0;
      for (const event of ["click", "pointerenter", "focus"]) piece.addEventListener(event, () => onChoose(number));
    }
    buttons.push(piece);
    box.append(piece);
    done = end;
  });
  box.append(points.slice(done).join(""));
  if (onChoose) box.addEventListener("keydown", (event) => {
    const place = buttons.indexOf(document.activeElement), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (place < 0 || !step || !buttons[place + step]) return;
    buttons[place].tabIndex = -1;
    buttons[place + step].tabIndex = 0;
    buttons[place + step].focus();
    event.preventDefault();
  });
  box.pieces = buttons;
  return box;
}

function press(box, number) {
  for (const piece of box.pieces) piece.setAttribute("aria-pressed", String(piece.number === number));
}

function judged(section, said) {
  const [first, ...rest] = said.verdict;
  if (first) section.append(make("p", { className: "conclusion" }, first));
  for (const note of [...rest, said.looks, said.remark]) {
    if (note) section.append(make("p", { className: "muted" }, note));
  }
}

// ---------------------------------------------------------------- translations

function drawTranslation(asked, found) {
  const section = make("article", { className: "answer" }, make("h2", {}, asked.model));
  for (const one of found.translations) {
    const told = make("p", { className: "muted", role: "status" }, "Point at a written piece, or go to it with the arrow keys, to see where it looked.");
    const source = sentence(one.source, one.source_spans, null, { className: "sentence of-source" });
    const written = sentence(one.target, one.target_spans, (number) => {
      press(written, number);
      const row = one.weights[number];
      for (const piece of source.pieces) {
        const weight = row[piece.number];
        piece.style.backgroundColor = weight < 0.01 ? "" : `rgba(var(--for), ${weight.toFixed(2)})`;
        piece.title = percent(weight);
      }
      const best = row.indexOf(Math.max(...row));
      const name = best < 0 ? "" : Array.from(one.source).slice(...one.source_spans[best]).join("");
      told.textContent = best < 0 ? "There was nothing to look at." : `Looked at “${name}” with ${percent(row[best])}.`
        + (one.said.losses.length ? ` Its probability: ${one.said.losses[number]}.` : "");
    });
    section.append(written, source, told, matrix(one));
    judged(section, one.said);
  }
  section.append(saving("translate", asked));
  return section;
}

function matrix(one) {
  const source = Array.from(one.source), target = Array.from(one.target);
  const head = make("tr", {}, make("th"));
  for (const span of one.source_spans) head.append(make("th", { scope: "col" }, source.slice(...span).join("")));
  const body = make("tbody");
  one.target_spans.forEach((span, row) => {
    const line = make("tr", {}, make("th", { scope: "row" }, target.slice(...span).join("") || "·"));
    for (const weight of one.weights[row]) {
      const cell = make("td", { title: percent(weight) });
      cell.style.backgroundColor = `rgba(var(--for), ${weight.toFixed(2)})`;
      line.append(cell);
    }
    body.append(line);
  });
  return make("details", { open: true }, make("summary", {}, "Where each written piece (rows) looked"),
    make("div", { className: "scroll", tabIndex: 0 }, make("table", { className: "matrix" }, make("thead", {}, head), body)));
}

// ---------------------------------------------------------------- captions

// The picture, and what a word did not look at under a veil.
function seen(found, number) {
  const image = make("img", { src: "data:image/jpeg;base64," + found.picture, alt: "", width: found.width, height: found.height });
  const box = make("div", { className: "seen", role: "img" }, image);
  const show = (word) => {
    box.replaceChildren(image);
    if (word === null) return box.setAttribute("aria-label", "The picture");
    const row = found.weights[word], most = Math.max(1e-12, ...row), peak = row.indexOf(Math.max(...row));
    const veil = make("canvas", { width: found.columns, height: found.rows });
    const cells = new ImageData(found.columns, found.rows);
    row.forEach((weight, cell) => { cells.data[4 * cell + 3] = 205 * (1 - weight / most); });
    veil.getContext("2d").putImageData(cells, 0, 0);
    const frame = make("span", { className: "peak" });
    frame.style.left = `${(100 * (peak % found.columns)) / found.columns}%`;
    frame.style.top = `${(100 * Math.floor(peak / found.columns)) / found.rows}%`;
    frame.style.width = `${100 / found.columns}%`;
    frame.style.height = `${100 / found.rows}%`;
    box.append(veil, frame);
    box.setAttribute("aria-label", `Where “${wordOf(found, word)}” looked: most at the ${found.said.places[word]}`);
  };
  show(number);
  return { box, show };
}

const wordOf = (found, number) => Array.from(found.text).slice(...found.spans[number]).join("");

function drawCaption(asked, found) {
  const section = make("article", { className: "answer" }, make("h2", {}, asked.model));
  const large = seen(found, null);
  const told = make("p", { className: "muted", role: "status" }, "Point at a word, or go to it with the arrow keys, to see where it looked.");
  const choices = [];
  const choose = (number) => {
    large.show(number);
    press(written, number);
    choices.forEach((choice, place) => choice.setAttribute("aria-pressed", String(place === number)));
    const most = Math.max(...found.weights[number]);
    told.textContent = `“${wordOf(found, number)}” looked most at the ${found.said.places[number]}, with ${percent(most)} on one cell.`
      + (found.said.losses.length ? ` Its probability: ${found.said.losses[number]}.` : "");
  };
  const written = sentence(found.text, found.spans, choose);
  const looks = make("ol", { className: "looks", "aria-label": "Where each word looked" });
  found.spans.forEach((_, number) => {
    const most = Math.max(...found.weights[number]);
    const choice = make("button", { type: "button", onclick: () => choose(number) }, seen(found, number).box,
      make("b", {}, wordOf(found, number)), " ", make("small", {}, `${percent(most)} ${found.said.places[number]}`));
    choice.setAttribute("aria-pressed", "false");
    choices.push(choice);
    looks.append(make("li", {}, choice));
  });
  const right = make("div", {}, written, told);
  judged(right, found.said);
  section.append(make("div", { className: "stage" }, large.box, right), looks,
    make("p", { className: "muted" }, "Clear cells were looked at most, dark ones hardly or not at all; the heaviest is framed."),
    saving("caption", asked));
  return section;
}

// ---------------------------------------------------------------- files

async function save(path, question) {
  try {
    const answer = await call(path, { ...question, format: "html" });
    const link = make("a", { href: URL.createObjectURL(await answer.blob()), download: path + ".html" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  } catch (problem) { tell(problem.message, true); }
}

for (const kind of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files[0]) open(event.dataTransfer.files[0]);
  });
}
for (const id of ["file", "picture"]) {
  $(id).addEventListener("change", () => { if ($(id).files[0]) open($(id).files[0]); });
}

async function open(file) {
  if (file.type.startsWith("image/")) return openPicture(file);
  if (!choose((model) => kindOf(model) !== "caption")) return tell("The models here read pictures, no texts.", true);
  if (file.size > 20e6) return tell(`${file.name} is too large for this page; use regard predict.`, true);
  const text = await file.text();
  $("rows").replaceChildren();
  if (/\.(csv|tsv)$/i.test(file.name)) return openTable(file.name, readTable(text));
  $("text").value = /\.html?$/i.test(file.name)
    ? new DOMParser().parseFromString(text, "text/html").body.innerText : text;
  show();
}

async function openPicture(file) {
  if (!choose((model) => kindOf(model) === "caption")) return tell("No model here writes about pictures.", true);
  const written = (blob) => new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(blob);
  });
  try {
    state.picture = await written(await smaller(file));
    $("picture-name").textContent = `${file.name}; drop another,`;
    show();
  } catch (problem) { tell(problem.message, true); }
}

// A photograph of a phone is larger than a server takes; a network looks at far fewer pixels.
async function smaller(file) {
  if (file.size < 2e6) return file;
  const image = await createImageBitmap(file).catch(() => null);
  if (!image) return file; // the server may know the kind
  const scale = Math.min(1, 1600 / Math.max(image.width, image.height));
  const canvas = make("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
  const context = canvas.getContext("2d");
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob || file), "image/jpeg", 0.9));
}

function readTable(text) {
  // Quotes as RFC 4180 has them; the separator is the one that is most frequent in the head.
  const head = text.slice(0, text.search(/\r|\n|$/));
  const separator = [",", ";", "\t"].sort((one, other) => head.split(other).length - head.split(one).length)[0];
  const rows = [];
  let row = [], cell = "", quoted = false;
  for (let place = 0; place < text.length; place += 1) {
    const letter = text[place];
    if (quoted) {
      if (letter === '"' && text[place + 1] === '"') { cell += '"'; place += 1; }
      else if (letter === '"') quoted = false;
      else cell += letter;
    } else if (letter === '"' && !cell) quoted = true;
    else if (letter === separator) { row.push(cell); cell = ""; }
    else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && text[place + 1] === "\n") place += 1;
      row.push(cell);
      if (row.some(Boolean)) rows.push(row);
      row = []; cell = "";
    } else cell += letter;
  }
  row.push(cell);
  if (row.some(Boolean)) rows.push(row);
  return rows;
}

async function openTable(name, rows) {
  const model = chosen();
  if (!model.endpoints.includes("predict")) return tell("Tables are for models that label texts.", true);
  if (rows.length < 2) return tell(`${name} has no rows below its head.`, true);
  const head = rows.shift();
  const most = 200;
  const lengths = head.map((_, column) => rows.reduce((sum, row) => sum + (row[column] || "").length, 0));
  let column = head.findIndex((title) => /^(text|review|comment|message|body|content)$/i.test(title.trim()));
  if (column < 0) column = lengths.indexOf(Math.max(...lengths));
  const texts = rows.slice(0, most).map((row) => row[column] || "");
  tell(`Labelling ${texts.length} rows of ${name} by the column ${head[column] || column + 1} ...`);
  try {
    const found = [];
    for (let place = 0; place < texts.length; place += 50) {
      const some = { texts: texts.slice(place, place + 50), model: model.name };
      found.push(...(await (await call("batch", some)).json()).answers);
    }
    const body = make("tbody");
    texts.forEach((text, number) => {
      const { labels, probabilities } = found[number];
      const read = make("button", { type: "button", onclick: () => { $("text").value = text; show(); } },
        text.length > 90 ? text.slice(0, 89) + "…" : text || "(empty)");
      body.append(make("tr", {}, make("td", {}, labels.join(", ") || "none"),
        make("td", {}, labels.length ? percent(probabilities[labels[0]]) : ""), make("td", {}, read)));
    });
    const titles = make("tr", {}, make("th", {}, "label"), make("th", {}, "probability"), make("th", {}, head[column]));
    $("rows").replaceChildren(make("div", { className: "scroll", tabIndex: 0 },
      make("table", {}, make("thead", {}, titles), body)));
    tell(rows.length > most ? `The first ${most} of ${rows.length} rows; regard predict labels them all.` : "Choose a row to see why.");
  } catch (problem) { tell(problem.message, true); }
}

start().catch((problem) => tell(problem.message, true));
