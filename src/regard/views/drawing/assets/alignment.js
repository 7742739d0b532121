// Pointing at a piece of either text lights what belongs to it in the other, and its row or column
// of the matrix; so do the arrow keys, and up and down go to the heaviest counterpart.
{
  const light = (part) => {
    part.dataset.ready = "yes";
    const table = part.querySelector(".rg-matrix"), said = part.querySelector(".rg-said");
    if (!table) return;
    const rows = [...table.tBodies[0].rows];
    const heads = {
      from: [...table.tHead.rows[0].cells].filter((at) => !at.matches("td, .rg-count")),
      to: rows.map((row) => row.cells[0]),
    };
    const texts = { from: part.querySelector(".rg-from"), to: part.querySelector(".rg-to") };
    const pieces = { from: [], to: [] };
    for (const side of ["from", "to"])
      for (const piece of texts[side].querySelectorAll("[data-n]"))
        pieces[side][piece.dataset.n] = piece;
    const usual = said.textContent;
    const cell = (from, to) => rows[to].cells[from + 1];
    const level = (at) => Number(/\d+/.exec(at.className)?.[0] ?? 0);
    // Isolated, so that a text from right to left does not turn the sentence around it.
    const name = (side, n) => `“\u2068${heads[side][n].textContent}\u2069”`;
    const share = (at) => (at.textContent ? `${at.textContent} %` : "at most 2 %");

    // The cells of one piece, in the order of the other text.
    const line = (side, n) =>
      side === "from" ? rows.map((_, to) => cell(n, to)) : heads.from.map((_, from) => cell(from, n));
    const ranked = (side, n) =>
      line(side, n)
        .map((at, place) => [at, place])
        .filter(([at]) => level(at))
        .sort(([a], [b]) => Number(b.textContent) - Number(a.textContent) || level(b) - level(a));

    const clear = () => {
      table.classList.remove("rg-lit");
      for (const at of part.querySelectorAll("[data-n], .rg-matrix :is(th, td)")) {
        at.classList.remove("rg-on", "rg-lit", "rg-here", "rg-cross");
        if (at.matches("[data-n], th"))
          at.className = at.className.replace(/\bx\d+\b/g, "").trim();
      }
      said.textContent = usual;
    };
    const here = (side, n) => {
      pieces[side][n]?.classList.add("rg-here");
      heads[side][n].classList.add("rg-here");
      for (const at of line(side, n)) at.classList.add("rg-on");
      if (side === "to") rows[n].cells[heads.from.length + 1].classList.add("rg-on");
    };
    const show = (spot) => {
      clear();
      table.classList.add("rg-lit");
      for (const side of ["from", "to"]) if (side in spot) here(side, spot[side]);
      if ("from" in spot && "to" in spot) {
        const at = cell(spot.from, spot.to);
        at.classList.add("rg-cross");
        said.textContent = `${name("to", spot.to)} looked at ${name("from", spot.from)}: ${share(at)}`;
        return;
      }
      const side = "from" in spot ? "from" : "to", other = side === "from" ? "to" : "from";
      const found = ranked(side, spot[side]);
      for (const [at, place] of found) {
        pieces[other][place]?.classList.add(`x${level(at)}`);
        heads[other][place].classList.add("rg-lit", `x${level(at)}`);
      }
      const list = found.slice(0, 5).map(([at, place]) => `${name(other, place)} ${share(at)}`);
      const deed = side === "from" ? "was looked at by" : "looked at";
      said.textContent = `${name(side, spot[side])} ${deed} ${list.join(", ") || "nothing in particular"}`;
    };

    const spot = (target) => {
      const piece = target.closest("[data-n]");
      if (piece) return { [piece.closest(".rg-from") ? "from" : "to"]: Number(piece.dataset.n) };
      const at = target.closest("th, td");
      if (!at || !table.contains(at)) return null;
      const from = heads.from.indexOf(at), row = rows.indexOf(at.parentElement);
      if (from >= 0) return { from };
      if (row < 0) return null;
      const column = at.cellIndex - 1;
      return column >= 0 && column < heads.from.length ? { from: column, to: row } : { to: row };
    };
    const focused = () =>
      part.contains(document.activeElement) && document.activeElement.matches("[data-n]");
    const settle = () => (focused() ? show(spot(document.activeElement)) : clear());
    part.addEventListener("pointerover", (event) => {
      const found = spot(event.target);
      if (found) show(found);
      else settle();
    });
    part.addEventListener("pointerleave", settle);
    part.addEventListener("focusin", settle);
    part.addEventListener("focusout", (event) => {
      if (!part.contains(event.relatedTarget)) clear();
    });

    // One stop of the tab key for each text; inside it the arrows walk.
    const walks = { from: pieces.from.filter(Boolean), to: pieces.to.filter(Boolean) };
    for (const side of ["from", "to"])
      walks[side].forEach((piece, place) => (piece.tabIndex = place ? -1 : 0));
    const go = (side, piece) => {
      if (!piece) return;
      for (const one of walks[side]) one.tabIndex = one === piece ? 0 : -1;
      piece.focus();
      // The matrix follows in its own box; the page stays, or the text would leave the window.
      const box = table.parentElement, frame = box.getBoundingClientRect();
      const head = heads[side][Number(piece.dataset.n)].getBoundingClientRect();
      if (side === "from") box.scrollLeft += head.left - frame.left - frame.width / 2;
      else box.scrollTop += head.top - frame.top - frame.height / 2;
    };
    part.addEventListener("keydown", (event) => {
      if (!focused() || event.ctrlKey || event.metaKey || event.altKey) return;
      const piece = document.activeElement, [[side, n]] = Object.entries(spot(piece));
      const walk = walks[side], place = walk.indexOf(piece);
      const turned = getComputedStyle(texts[side]).direction === "rtl" ? -1 : 1;
      const steps = { ArrowRight: turned, ArrowLeft: -turned };
      const other = side === "from" ? "to" : "from";
      if (event.key in steps) go(side, walk[place + steps[event.key]]);
      else if (event.key === "Home") go(side, walk[0]);
      else if (event.key === "End") go(side, walk.at(-1));
      else if (event.key === (side === "from" ? "ArrowDown" : "ArrowUp"))
        go(other, ranked(side, n).map(([, at]) => pieces[other][at]).find(Boolean));
      else if (event.key === "Escape") piece.blur();
      else return;
      event.preventDefault();
    });
  };
  for (const part of document.querySelectorAll(".rg-wrote:not([data-ready])")) light(part);
}
