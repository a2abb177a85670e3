// The page of a file: it shows the sentences that the file contains.
"use strict";
(() => {
  const { make, units, merges, alignment, wordButtons, confidenceLegend, choiceTable, saveButtons, panel, number, sum, looks, byId } =
    window.kerasnmt;
  const sentences = JSON.parse(byId("sentences").textContent);

  function section(sentence, index) {
    const words = make("div", { class: "words", dir: "auto", role: "group", "aria-label": "Target" });
    const choices = make("div", { class: "scroll" });
    const drawing = make("div");
    const open = (index) => {
      const unit = units(sentence.target, looks.byWords && merges(sentence))[index];
      const known = sentence.target.choices?.[unit.start];
      if (known)
        choices.replaceChildren(make("h2", {}, `In place of “${unit.text}”`), choiceTable(known, unit.text));
    };
    const point = (index) => drawing.querySelector("svg")?.show(index === null ? null : "target", index);
    const legend = make("div");
    const show = () => {
      const byWords = looks.byWords && merges(sentence);
      words.replaceChildren(...wordButtons(sentence, byWords, open, point));
      legend.replaceChildren(...[confidenceLegend(sentence, byWords)].filter(Boolean));
    };
    show();
    drawing.append(alignment(sentence, sentence.target.choices ? open : null));
    const source = units(sentence.sources[0], true).filter((unit) => !unit.isEnd).map((unit) => unit.text)
      .join(" ").replaceAll(" ␣ ", " ");
    const scores = sentence.target.log_probability;
    const facts = scores ? make("p", { class: "note" }, `log-probability ${number(sum(scores))}`) : null;
    const element = panel(source || `Sentence ${index + 1}`, words, legend, facts, choices, drawing,
      saveButtons(drawing, () => sentence));
    return { element, show };
  }

  const sections = sentences.map(section);
  looks.changed = () => sections.forEach(({ show }) => show());
  byId("main").replaceChildren(...sections.map(({ element }) => element));
})();
