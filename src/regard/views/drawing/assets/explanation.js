// Keys for long texts: n and p walk through the sentences that count, d goes to the heaviest of
// the text in view, f folds and unfolds what is quiet.
document.documentElement.classList.add("rg-keys");
const lines = [...document.querySelectorAll(".rg-loud")];
const middle = (line) => {
  const box = line.getBoundingClientRect();
  return (box.top + box.bottom) / 2;
};
const go = (line) => {
  if (!line) return;
  line.scrollIntoView({ block: "center" });
  line.focus({ preventScroll: true });
};
const beyond = (step) => {
  const here = lines.indexOf(document.activeElement);
  if (here >= 0) return lines[here + step];
  const half = innerHeight / 2;
  return step > 0
    ? lines.find((line) => middle(line) > half)
    : lines.findLast((line) => middle(line) < half);
};
const inView = () => {
  const articles = [...document.querySelectorAll(".regard:has(.rg-overview)")];
  return (
    document.activeElement.closest(".regard:has(.rg-overview)") ??
    articles.find((article) => article.getBoundingClientRect().bottom > innerHeight / 3) ??
    articles.at(-1)
  );
};
const heaviest = () => {
  const link = inView()?.querySelector(".rg-overview p a:not(.rg-minus)");
  return link && document.getElementById(link.hash.slice(1));
};
const turn = () => {
  const folds = [...document.querySelectorAll(".rg-fold")];
  const closed = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = closed;
};
const deeds = {
  n: () => go(beyond(1)),
  p: () => go(beyond(-1)),
  d: () => go(heaviest()),
  f: turn,
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !deeds[event.key]) return;
  event.preventDefault();
  deeds[event.key]();
});
