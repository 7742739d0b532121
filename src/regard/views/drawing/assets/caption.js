// Pointing at a word, or at its small picture, shows in the large one where it looked.
{
  const light = (part) => {
    part.dataset.ready = "yes";
    const stage = part.querySelector(".rg-stage .rg-pic"), said = part.querySelector(".rg-said");
    const words = [...part.querySelectorAll(".rg-sentence [data-n]")];
    const looks = [...part.querySelectorAll(".rg-looks li")];
    const usual = said.textContent;
    const show = (n) => {
      stage.replaceChildren();
      for (const word of words) word.classList.toggle("rg-here", word.dataset.n === n);
      for (const look of looks) look.classList.toggle("rg-now", look.dataset.n === n);
      const look = looks.find((one) => one.dataset.n === n);
      if (look) stage.append(look.querySelector(".rg-veil").cloneNode(true));
      said.textContent = look ? look.querySelector("p").textContent : usual;
    };
    for (const at of [...words, ...looks]) {
      at.addEventListener("pointerenter", () => show(at.dataset.n));
      at.addEventListener("focus", () => show(at.dataset.n));
      at.addEventListener("pointerleave", () => show(null));
      at.addEventListener("blur", () => show(null));
    }
  };
  for (const part of document.querySelectorAll(".rg-captioned:not([data-ready])")) light(part);
}
