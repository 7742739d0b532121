// Pointing at a word, in the text or in the matrix, lights what it looked at; a click keeps it lit,
// and the arrow keys walk from word to word. The numbers of a head are unpacked when it is chosen.
for (const part of document.querySelectorAll(".rg-heads")) {
  const few = Number(part.dataset.few), count = Number(part.dataset.words);
  const choice = part.querySelector(".rg-head"), back = part.querySelector(".rg-back");
  const text = part.querySelector(".rg-words"), said = part.querySelector(".rg-said");
  const canvas = part.querySelector("canvas"), usual = said.textContent;
  const words = [...text.querySelectorAll("[data-n]")];
  const unpacked = new Map();
  let lit = [], kept = null, at = null;

  const unpack = (packed) => {
    const raw = atob(packed), bytes = new Uint8Array(raw.length);
    for (let n = 0; n < raw.length; n++) bytes[n] = raw.charCodeAt(n);
    const view = new DataView(bytes.buffer), numbers = new Uint16Array(bytes.length / 2);
    for (let n = 0; n < numbers.length; n++) numbers[n] = view.getUint16(2 * n, true);
    return numbers;
  };
  const head = () => {
    const option = choice.selectedOptions[0];
    if (!unpacked.has(option))
      unpacked.set(option, { targets: unpack(option.dataset.targets), shares: unpack(option.dataset.shares) });
    return unpacked.get(option);
  };
  // What a word looked at, or who looked at it: pairs of a place and a share, the heaviest first.
  const looks = (n) => {
    const { targets, shares } = head(), found = [];
    if (back.checked) {
      for (let place = 0; place < targets.length; place++)
        if (targets[place] === n && shares[place]) found.push([Math.floor(place / few), shares[place] / 1000]);
    } else
      for (let place = n * few; place < (n + 1) * few; place++)
        if (shares[place]) found.push([targets[place], shares[place] / 1000]);
    return found.sort((one, other) => other[1] - one[1]);
  };
  // Isolated, so that a text from right to left does not turn the sentence around it.
  const name = (n) => `“\u2068${words[n].textContent}\u2069”`;
  const clear = () => {
    for (const word of lit) { word.style.removeProperty("--look"); word.classList.remove("rg-here"); }
    lit = [];
  };
  const show = (n) => {
    clear();
    at = n;
    const found = looks(n), most = found.length ? found[0][1] : 1;
    for (const [place, share] of found) {
      words[place].style.setProperty("--look", (0.75 * share / most).toFixed(3));
      lit.push(words[place]);
    }
    words[n].classList.add("rg-here");
    lit.push(words[n]);
    const told = found.slice(0, 6).map(([place, share]) => `${name(place)} ${(100 * share).toFixed(0)} %`);
    const verb = back.checked ? "was looked at by" : "looked at";
    said.textContent = told.length ? `${name(n)} ${verb} ${told.join(", ")}` : `${name(n)} ${verb} nothing that is shown`;
  };
  const rest = () => {
    clear();
    said.textContent = usual;
    if (kept !== null) show(kept);
  };
  const draw = () => {
    const size = Math.max(1, Math.min(count, canvas.width)), scale = size / count;
    const { targets, shares } = head(), heat = new Float32Array(size * size);
    for (let place = 0; place < targets.length; place++) {
      const row = Math.floor(Math.floor(place / few) * scale), column = Math.floor(targets[place] * scale);
      const value = shares[place] / 1000;
      if (value > heat[row * size + column]) heat[row * size + column] = value;
    }
    const [red, green, blue] = getComputedStyle(document.documentElement)
      .getPropertyValue("--orange-rgb").split(",").map(Number);
    const small = new OffscreenCanvas(size, size), pen = small.getContext("2d");
    const image = pen.createImageData(size, size);
    for (let n = 0; n < heat.length; n++)
      image.data.set([red, green, blue, Math.round(255 * Math.sqrt(heat[n]))], 4 * n);
    pen.putImageData(image, 0, 0);
    const paper = canvas.getContext("2d");
    paper.imageSmoothingEnabled = false;
    paper.clearRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(small, 0, 0, canvas.width, canvas.height);
    part.dataset.drawn = choice.value;
  };
  const choose = () => {
    for (const section of part.querySelectorAll(".rg-of-head")) section.hidden = section.dataset.head !== choice.value;
    draw();
    rest();
  };

  const number = (event) => event.target.closest?.("[data-n]")?.dataset.n;
  text.addEventListener("mouseover", (event) => { if (number(event) !== undefined) show(Number(number(event))); });
  text.addEventListener("mouseleave", rest);
  text.addEventListener("click", (event) => {
    const n = number(event);
    kept = n === undefined || Number(n) === kept ? null : Number(n);
    rest();
  });
  text.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { kept = null; rest(); }
    if (!step || !count) return;
    event.preventDefault();
    kept = Math.min(count - 1, Math.max(0, (at ?? -step) + step));
    show(kept);
    words[kept].scrollIntoView({ block: "nearest" });
  });
  const row = (event) => {
    const box = canvas.getBoundingClientRect();
    return Math.min(count - 1, Math.max(0, Math.floor(count * (event.clientY - box.top) / box.height)));
  };
  if (count) {
    canvas.addEventListener("mousemove", (event) => show(row(event)));
    canvas.addEventListener("mouseleave", rest);
    canvas.addEventListener("click", (event) => { kept = row(event); show(kept); words[kept].scrollIntoView({ block: "nearest" }); });
  }
  choice.addEventListener("change", choose);
  back.addEventListener("change", rest);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
