"use strict";
// In the place of a server: the page asks this, and what it asks never leaves the page.

const insideModel = {
  engine: null,

  async open(element) {
    if (!globalThis.DecompressionStream) throw new Error("This page needs a browser of 2023 or later.");
    const packed = fromLetters(element.textContent, ALPHABET, Number(element.dataset.size));
    element.remove(); // its letters are not needed twice
    return Engine.open(packed);
  },

  async answer(path, asked) {
    this.engine ??= this.open(document.getElementById("packed"));
    const engine = await this.engine;
    const json = (value) => new Response(JSON.stringify(value));
    if (path === "models") return json({ models: [engine.describe()] });
    if (path === "predict") return json(engine.predict(asked.text, asked.without));
    if (path === "batch") return json({ model: engine.about.name, answers: asked.texts.map((text) => engine.predict(text)) });
    if (asked.format === "html") return new Response(pageOfAnswer(), { headers: { "content-type": "text/html" } });
    return json(await engine.explain(asked));
  },
};

/** The answer as it is drawn, as a page of its own in which nothing can be asked. */
function pageOfAnswer() {
  const shown = document.getElementById("results").cloneNode(true);
  for (const part of shown.querySelectorAll(".tools, .actions, .what-if, .labels")) part.remove();
  for (const part of shown.querySelectorAll(".of-label")) part.hidden = false;
  const style = document.querySelector("style").textContent;
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  return `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`
    + `<meta name="viewport" content="width=device-width, initial-scale=1"><title>Explanation</title><style>${style}</style></head>`
    + `<body><main>${shown.outerHTML}</main></body></html>`;
}
