// The page of a model: it asks the backend, and shows what the model thinks.
"use strict";
(() => {
  const { make, units, merges, alignment, wordButtons, confidenceLegend, choiceTable, searchTree, regions, hops, saveButtons, panel,
    number, sum, looks, byId, backend } = window.kerasnmt;
  const WAIT = 40; // milliseconds without a keystroke before the page asks
  const SLOW = 150; // milliseconds without an answer before its words are shown while they are made
  let about;
  const state = { request: {}, terms: "", prefix: [], result: null, chosen: 0, sentence: null, image: null };
  const part = {};

  // Requests. An answer is dropped if the same question or a search was asked after it.
  const latest = { search: 0, inspect: 0, words: 0 };
  async function ask(path, body) {
    const [number, searches] = [++latest[path], latest.search];
    const isLatest = () => number === latest[path] && searches === latest.search;
    try {
      const answer = await backend.ask(path, body);
      return isLatest() ? answer : null;
    } catch (error) {
      if (isLatest()) throw error;
      return null;
    }
  }
  let failure = "";
  async function attempt(action) {
    try {
      await action();
      if (failure && byId("status").textContent === failure) say("");
      failure = "";
    } catch (error) {
      failure = error.message;
      say(failure, true);
    }
  }
  function say(text, wrong = false) {
    byId("status").textContent = text;
    byId("status").classList.toggle("error", wrong);
  }
  let timer;
  function later(action) {
    clearTimeout(timer);
    timer = setTimeout(action, WAIT);
  }

  // Show the words of a slow answer while they are made. What this returns ends it.
  let endWords = () => {};
  function showWords(request) {
    if (!backend.stream || !about.inspects || state.prefix.length || state.terms) return () => {};
    const making = new AbortController();
    const show = (text, provisional) => {
      if (making.signal.aborted) return;
      part.answer.hidden = false;
      part.words.replaceChildren(make("p", {}, text, make("span", { class: "provisional" }, provisional)));
      part.facts.textContent = provisional ? "The gray words may still change." : "";
    };
    // The answer itself tells what is wrong.
    const begin = () => backend.stream(about.name, request, show, making.signal).catch(() => {});
    const waiting = setTimeout(begin, SLOW);
    return () => {
      clearTimeout(waiting);
      making.abort();
    };
  }
  function search() {
    remember();
    endWords();
    const request = { ...state.request };
    if (!Object.values(request).some((value) => value && value.trim())) return clear();
    const end = endWords = showWords(request);
    return attempt(async () => {
      const start = performance.now();
      const terms = state.terms && { terms: state.terms };
      const answer = await ask("search", { ...request, ...terms, prefix_ids: state.prefix }).finally(end);
      if (!answer) return;
      Object.assign(state, { result: answer, chosen: 0, sentence: answer.sentence, edited: null, open: null });
      show();
      const wrong = [answer.truncated, ...(answer.unmet ?? [])].filter(Boolean);
      if (wrong.length) say(wrong.join(" "), true);
      else say(`answered in ${Math.round(performance.now() - start)} ms, ${Math.round(1000 * answer.seconds)} ms of them in the model`);
    });
  }
  function choose(rank) {
    return attempt(async () => {
      const { ids } = state.result.hypotheses[rank];
      const sentence = about.inspects ? await ask("inspect", { ...state.request, target_ids: ids }) : null;
      if (about.inspects && !sentence) return;
      Object.assign(state, { chosen: rank, sentence, edited: null, open: null });
      show();
    });
  }
  function edit(text) {
    return attempt(async () => {
      const sentence = await ask("inspect", { ...state.request, target: text });
      if (!sentence) return;
      Object.assign(state, { sentence, edited: text, open: null });
      show();
    });
  }
  // Make the model begin with some tokens. The focus must not be lost with the element that had it.
  async function force(ids) {
    state.prefix = ids;
    await search();
    (ids.length ? part.release : part.words.querySelector("button"))?.focus();
  }
  function close() {
    state.open = null;
    showChoices();
  }
  // A click on a target word shows the most probable words in its place.
  function open(index) {
    const { sentence } = state;
    if (!about.inspects || !sentence) return undefined;
    const byWords = looks.byWords && merges(sentence);
    const unit = units(sentence.target, byWords)[index];
    if (state.open?.index === index) return close();
    const prefix = sentence.target.ids.slice(0, unit.start);
    return attempt(async () => {
      let choices = sentence.target.choices[unit.start];
      if (byWords && sentence.target.kind === "sentencepiece" && !unit.isEnd) {
        const answer = await ask("words", { ...state.request, prefix_ids: prefix });
        if (!answer) return;
        choices = answer.choices;
      }
      state.open = { index, unit, prefix, choices };
      showChoices();
    });
  }

  // The link of the page holds the sentence.
  function remember() {
    if (Object.values(about.widgets).includes("image")) return;
    const link = { ...state.request, ...(state.terms && { terms: state.terms }) };
    history.replaceState(null, "", `#${new URLSearchParams(link)}`);
  }

  function clear() {
    latest.search++;
    Object.assign(state, { result: null, sentence: null, open: null, prefix: [] });
    part.answer.hidden = part.details.hidden = true;
    say("");
  }
  function show() {
    part.answer.hidden = false;
    if (about.drawing === "hops") return showStory();
    showAnswer();
    showChoices();
    showHypotheses();
    const { sentence } = state;
    part.details.hidden = false;
    part.alignment.hidden = !sentence;
    if (sentence)
      part.drawing.replaceChildren(about.drawing === "regions"
        ? make("p", { class: "note" }, "Point at a word of the caption, or focus it, to see the regions that it looks at.")
        : alignment(sentence, about.inspects ? open : null));
    return undefined;
  }
  function showAnswer() {
    const { sentence, result, chosen } = state;
    const text = state.edited ?? result.hypotheses[chosen]?.text ?? "";
    const byWords = sentence && looks.byWords && merges(sentence);
    const point = (index) => {
      part.drawing.querySelector("svg")?.show(index === null ? null : "target", index);
      if (!part.regions) return;
      const unit = index === null ? null : units(sentence.target, byWords)[index];
      part.regions.show(unit && sentence.sources[0].weights[unit.start]);
    };
    part.words.replaceChildren(...(sentence ? wordButtons(sentence, byWords, open, point) : [text]));
    part.legend.replaceChildren(...[confidenceLegend(sentence, byWords)].filter(Boolean));
    const facts = [];
    const scores = sentence?.target.log_probability;
    if (scores) facts.push(`log-probability ${number(sum(scores))}`);
    const best = result.hypotheses[0] ? `; the model's best has ${number(result.hypotheses[0].score)}` : "";
    if (state.edited === null && result.hypotheses[chosen]) facts.push(`score ${number(result.hypotheses[chosen].score)}`);
    if (state.edited !== null) facts.push(sentence?.score ? `score of your text ${number(sentence.score)}${best}` : "your own text");
    part.facts.textContent = facts.join(" · ");
    part.release.hidden = !state.prefix.length;
    if (document.activeElement !== part.edit) part.edit.value = text;
  }
  function showChoices() {
    const holder = part.choices;
    [...part.words.children].forEach((word, index) => word.classList.toggle("chosen", index === state.open?.index));
    if (!state.open) return holder.replaceChildren();
    const { unit, prefix, choices } = state.open;
    const table = choiceTable(choices, unit.text, (choice) =>
      choice.text === "</s>" ? attempt(async () => {
        const sentence = await ask("inspect", { ...state.request, target_ids: [...prefix, ...choice.ids] });
        if (sentence) { Object.assign(state, { sentence, edited: sentence.text, open: null }); show(); }
      }) : force([...prefix, ...choice.ids]));
    holder.replaceChildren(make("h2", {}, `In place of “${unit.text}”`), table,
      make("p", { class: "note" }, "Choose a word, and the model continues from it. Escape closes the list."));
    holder.scrollIntoView({ block: "nearest" });
    return undefined;
  }
  function showHypotheses() {
    const { hypotheses, tree } = state.result;
    const rows = hypotheses.map((one, rank) => make("tr", {},
      make("td", { class: "number" }, String(rank + 1)),
      make("td", {}, make("button", { type: "button", class: rank === state.chosen && state.edited === null ? "chosen" : "",
        disabled: about.inspects || rank === 0 ? null : "", click: () => choose(rank) }, one.text || "(empty)")),
      make("td", { class: "number" }, number(one.score))));
    part.hypotheses.replaceChildren(make("table", { class: "bars" }, make("tbody", {}, rows)));
    part.tree.hidden = !tree?.length;
    if (tree?.length) part.branches.replaceChildren(searchTree(tree, state.edited === null ? state.chosen : -1, choose, force));
    part.ranked.querySelector("h2").textContent = state.prefix.length ? "Best answers that begin with the chosen words" : "Best answers";
  }
  function showStory() {
    const { sentence, result } = state;
    part.words.replaceChildren(result.hypotheses[0]?.text ?? "");
    part.facts.textContent = result.hypotheses[0]?.text ? `log-probability ${number(result.hypotheses[0].score)}` : "";
    part.choices.replaceChildren(...(sentence?.choices.length ? [make("h2", {}, "Most probable answers"), choiceTable(sentence.choices)] : []));
    part.details.hidden = !sentence;
    part.drawing.replaceChildren(...(sentence ? [hops(sentence),
      make("p", { class: "note" }, "How much each hop reads of each sentence.")] : []));
  }

  // Fields of the request.
  function textField(name) {
    const box = make("textarea", { id: `field-${name}`, dir: "auto", spellcheck: "false", autocomplete: "off", rows: about.widgets[name] === "lines" ? 6 : 2,
      input: () => { state.request[name] = box.value; state.prefix = []; later(search); } });
    part[name] = box;
    const label = name[0].toUpperCase() + name.slice(1) + (about.widgets[name] === "lines" ? ", one sentence per line" : "");
    return make("div", {}, make("label", { for: box.id }, label), box);
  }
  // A line of the box is a term.
  function termsField() {
    const box = make("textarea", { id: "terms", dir: "auto", spellcheck: "false", autocomplete: "off", rows: 2,
      "aria-describedby": "about-terms", input: () => { useTerms(box.value.replaceAll("\n", "\t")); later(search); } });
    part.terms = box;
    return make("details", {}, make("summary", {}, "Words that must appear"), make("label", { for: box.id }, "Words that must appear, one term per line"),
      box, make("p", { class: "note", id: "about-terms" }, "Write a|b if one of several words must appear, and !a if a word must not."));
  }
  function useTerms(terms) {
    state.terms = terms.trim();
    state.prefix = [];
  }
  function imageField() {
    const input = make("input", { type: "file", id: "field-image", accept: "image/png,image/jpeg", change: () => read(input.files[0]) });
    const read = (file) => {
      if (!file) return;
      const reader = new FileReader();
      reader.onload = () => useImage(reader.result);
      reader.readAsDataURL(file);
    };
    part.picture = make("div");
    const zone = make("div", { class: "drop",
      dragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
      dragleave: () => zone.classList.remove("over"),
      drop: (event) => { event.preventDefault(); zone.classList.remove("over"); read(event.dataTransfer.files[0]); },
    }, make("label", { for: "field-image" }, "Drop a PNG or JPEG image here, or choose a file"), input);
    return make("div", {}, zone, part.picture);
  }
  function useImage(address) {
    state.image = address;
    state.request.image = address.slice(address.indexOf(",") + 1);
    part.regions = regions(address, about.grid);
    part.picture.replaceChildren(part.regions.element);
    state.prefix = [];
    return search();
  }
  function useExample(example) {
    if (example.image) return useImage(`data:image/png;base64,${example.image}`);
    for (const field of about.fields) part[field].value = state.request[field] = example[field] ?? "";
    useTerms((about.terms && example.terms) || "");
    if (part.terms) part.terms.value = state.terms.replaceAll("\t", "\n");
    return search();
  }
  function exampleName(example, index) {
    const text = about.widgets[about.lead] === "image" ? `image ${index + 1}` : example[about.lead];
    return text.length > 44 ? `${text.slice(0, 42)}…` : text;
  }

  function build() {
    byId("name").textContent = about.name;
    document.title = `${about.name} · kerasnmt`;
    state.request = Object.fromEntries(about.fields.map((name) => [name, ""]));
    const said = [about.description, about.note].filter(Boolean).join(" ").split("`");
    byId("about").replaceChildren(...said.map((text, index) => (index % 2 ? make("code", {}, text) : text)));
    const fields = about.fields.map((name) => (about.widgets[name] === "image" ? imageField() : textField(name)));
    if (about.terms) fields.push(termsField());
    const examples = about.examples.map((example, index) =>
      make("button", { type: "button", click: () => useExample(example) }, exampleName(example, index)));
    part.words = make("div", { class: "words", dir: "auto", role: "group", "aria-label": "Answer" });
    part.legend = make("div");
    part.facts = make("p", { class: "note" });
    part.release = make("button", { type: "button", hidden: "", click: () => force([]) }, "Back to the model's own answer");
    part.edit = make("textarea", { id: "edit", dir: "auto", spellcheck: "false", input: () => later(() => edit(part.edit.value)) });
    part.choices = make("div", { class: "scroll" });
    const editor = make("details", {}, make("summary", {}, "Write a translation of your own, and see its score"),
      make("label", { for: "edit" }, "Your translation"), part.edit);
    part.answer = panel("Answer", part.words, part.legend, part.facts, part.release, part.choices,
      about.inspects && about.drawing === "alignment" ? editor : null);
    part.drawing = make("div");
    const data = () => ({ model: about.name, ...state.request, ...state.result, sentence: state.sentence });
    const drawn = about.drawing === "alignment";
    part.alignment = panel(drawn ? "Alignment" : "Where the model looks", part.drawing, saveButtons(drawn ? part.drawing : null, data));
    part.hypotheses = make("div");
    part.branches = make("div", { class: "scroll" });
    part.tree = panel("Search", part.branches, make("p", { class: "note" },
      "Each column is a word of the answer, from the first to the last. The search dropped the gray words. Choose a word to see the best answer with it."));
    part.ranked = panel("Best answers", part.hypotheses);
    part.details = make("div", {}, part.alignment, about.drawing === "hops" ? null : [part.ranked, part.tree]);
    byId("main").replaceChildren(
      panel("Ask", make("div", {}, fields), make("div", { class: "row", role: "group", "aria-label": "Examples" }, examples), byId("status")),
      part.answer, part.details);
    part.answer.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !state.open) return;
      const word = part.words.children[state.open.index];
      close();
      word?.focus();
    });
    part.answer.hidden = part.details.hidden = true;
    if (state.edited === undefined) state.edited = null;
  }

  function openLink() {
    const link = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    return about.fields.every((field) => field in link) ? useExample(link) : undefined;
  }
  async function start() {
    say("The model is loading.");
    about = await backend.about();
    say("");
    build();
    window.addEventListener("hashchange", openLink);
    return openLink() ?? (about.examples.length ? useExample(about.examples[0]) : undefined);
  }
  looks.changed = () => state.sentence && about.drawing !== "hops" && showAnswer();
  start().catch((error) => say(error.message, true));
})();
