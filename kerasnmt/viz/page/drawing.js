// Drawings of attention, for the page of `kerasnmt serve` and the files of `attention_page`.
"use strict";
(() => {
  const PAD = 12;
  const FONT = '15px system-ui, "Noto Sans", sans-serif';
  const byId = (id) => document.getElementById(id);
  const percent = (p) =>
    p >= 0.0995 ? `${Math.round(100 * p)}%` : p >= 0.0005 || p === 0 ? `${(100 * p).toFixed(1)}%` : "<0.1%";
  const number = (x) => x.toFixed(2).replace("-0.00", "0.00").replace("-", "−");
  const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

  // Elements. Texts become text nodes, so HTML in a sentence stays text.
  function make(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }
  function draw(tag, attributes = {}, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  }
  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }
  const pen = document.createElement("canvas").getContext("2d");
  function width(text, bold = false) {
    pen.font = bold ? `bold ${FONT}` : FONT;
    return pen.measureText(text).width;
  }

  // Words or tokens of a side. Each has a text, and the range of its tokens.
  function units(side, byWords) {
    const merged = [];
    side.tokens.forEach((token, index) => {
      const word = byWords && side.words ? side.words[index] : index;
      const last = merged[merged.length - 1];
      if (word >= 0 && last?.word === word) {
        last.text += token;
        last.end = index + 1;
      } else {
        merged.push({ word, text: token, start: index, end: index + 1, isEnd: token === "</s>" });
      }
    });
    for (const unit of merged) {
      if (byWords && side.kind === "words_and_punctuation") unit.text = unit.text.replaceAll("￭", "");
      else if (byWords && side.kind !== "words") unit.text = unit.text.replaceAll("▁", "");
      unit.text = unit.isEnd ? "end" : ["", "▁", " "].includes(unit.text) ? "␣" : unit.text;
    }
    return merged;
  }
  // Whether most letters are from a script that is written from right to left.
  function rightToLeft(units) {
    const text = units.map((unit) => (unit.isEnd ? "" : unit.text)).join("");
    const count = (letters) => (text.match(letters) ?? []).length;
    return 2 * count(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g) > count(/\p{L}/gu);
  }
  const merges = (sentence) =>
    [...sentence.sources, sentence.target].some((side) =>
      ["sentencepiece", "words_and_punctuation"].includes(side.kind));

  // The weights between units: summed over the tokens of a source word, averaged over those of a
  // target word.
  function between(weights, target, source) {
    return target.map((row) =>
      source.map((column) => {
        let total = 0;
        for (let t = row.start; t < row.end; t++) total += sum(weights[t].slice(column.start, column.end));
        return total / (row.end - row.start);
      })
    );
  }
  function grid(sentence, byWords, head) {
    const target = units(sentence.target, byWords);
    const columns = [];
    const rows = target.map(() => []);
    sentence.sources.forEach((side) => {
      const source = units(side, byWords);
      const weights = head ? sentence.heads[head[0]][head[1]] : side.weights;
      between(weights, target, source).forEach((row, index) => rows[index].push(...row));
      columns.push(...source.map((unit, index) => ({ ...unit, side: side.name, first: index === 0 })));
    });
    return { target, source: columns, weights: rows };
  }

  // Highlights of two sets of elements: `rows` of the target and `columns` of the source.
  function linked(svg, marks, source, target, weights) {
    const show = (side, index) => {
      for (const { element, row, column } of marks) {
        const own = side === null || (side === "target" ? row : column) === index;
        element.classList.toggle("away", !own);
      }
      const share = (one) => (side === "target" ? weights[index][one] : weights[one][index]);
      for (const [words, name] of [[source, "source"], [target, "target"]]) {
        words.forEach(({ element, note }, one) => {
          const other = side !== null && side !== name;
          element.classList.toggle("lit", side === name && one === index);
          note.textContent = other && share(one) >= 0.005 ? percent(share(one)) : "";
          element.classList.toggle("away", Boolean(other && share(one) < 0.005));
        });
      }
    };
    for (const [words, name] of [[source, "source"], [target, "target"]]) {
      words.forEach(({ element }, index) => {
        for (const event of ["mouseenter", "focus"]) element.addEventListener(event, () => show(name, index));
        for (const event of ["mouseleave", "blur"]) element.addEventListener(event, () => show(null));
      });
    }
    svg.show = show;
  }

  function label(unit, weights, others, attributes) {
    const best = others
      .map((other, index) => [weights[index], other.text])
      .sort((one, two) => two[0] - one[0])
      .slice(0, 3)
      .map(([weight, text]) => `${text} ${percent(weight)}`);
    return draw(
      "text",
      { ...attributes, tabindex: 0, role: "img", "aria-label": `${unit.text}: ${best.join(", ")}`,
        class: unit.isEnd ? "token end" : "token" },
      unit.text
    );
  }

  // Two rows of words with ribbons. The width and the darkness of a ribbon show its weight.
  function ribbons({ source, target, weights }, onChoose) {
    const [top, bottom] = [44, 200];
    const layOut = (words) => {
      let x = PAD;
      return words.map((unit) => {
        if (unit.first && x > PAD) x += 36;
        const room = Math.max(width(unit.text), 30);
        x += room + 22;
        return x - room / 2 - 22;
      });
    };
    const [upper, lower] = [layOut(source), layOut(target)];
    const ends = [upper, lower].map((positions) => (positions.length ? positions[positions.length - 1] + 60 : 0));
    const size = Math.max(...ends, 200);
    upper.forEach((_, i) => (upper[i] += (size - ends[0]) / 2));
    lower.forEach((_, i) => (lower[i] += (size - ends[1]) / 2));
    for (const [words, positions] of [[source, upper], [target, lower]])
      if (rightToLeft(words)) positions.forEach((x, i) => (positions[i] = size - x));
    const svg = draw("svg", { width: size, height: 232, viewBox: `0 0 ${size} 232`, role: "group",
      "aria-label": "Source words above, target words below, with ribbons between them" });
    const marks = [];
    weights.forEach((row, j) =>
      row.forEach((weight, i) => {
        if (weight < 0.02) return;
        const middle = (top + bottom) / 2;
        const d = `M${upper[i]},${top + 8}C${upper[i]},${middle} ${lower[j]},${middle} ${lower[j]},${bottom - 20}`;
        const element = draw("path", { class: "band", d, "stroke-width": 2 + 14 * weight, "stroke-opacity": 0.12 + 0.75 * weight },
          draw("title", {}, `${target[j].text} → ${source[i].text}: ${percent(weight)}`));
        marks.push({ element, row: j, column: i });
        svg.append(element);
      })
    );
    const written = (words, positions, y, noteY, weightsOf, others) =>
      words.map((unit, index) => {
        const element = label(unit, weightsOf(index), others, { x: positions[index], y, "text-anchor": "middle" });
        const note = draw("text", { x: positions[index], y: noteY, class: "small", "text-anchor": "middle" });
        svg.append(element, note);
        return { element, note };
      });
    const above = written(source, upper, top, top - 20, (i) => weights.map((row) => row[i]), target);
    const below = written(target, lower, bottom, bottom + 18, (j) => weights[j], source);
    source.forEach((unit, i) => {
      if (unit.first && unit.side !== "source")
        svg.append(draw("text", { x: upper[i], y: 12, class: "small", "text-anchor": "middle" }, unit.side));
    });
    linked(svg, marks, above, below, weights);
    if (onChoose) choosable(below, onChoose);
    return svg;
  }

  // A cell for each pair of words; the darkness shows the weight.
  function heatMap({ source, target, weights }, onChoose) {
    const cell = 28;
    const left = Math.max(...target.map((unit) => width(unit.text)), 40) + 2 * PAD + 34;
    const above = Math.max(...source.map((unit) => width(unit.text)), 40) * 0.8 + 30;
    const [w, h] = [left + cell * source.length + 70, above + cell * target.length + PAD];
    const svg = draw("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "group",
      "aria-label": "Heat map: a row for each target word, a column for each source word" });
    const marks = [];
    const backwards = rightToLeft(source);
    const edge = (i) => left + cell * (backwards ? source.length - 1 - i : i);
    weights.forEach((row, j) =>
      row.forEach((weight, i) => {
        const element = draw("rect", { class: "cell", x: edge(i), y: above + cell * j, width: cell,
          height: cell, "fill-opacity": weight },
          draw("title", {}, `${target[j].text} → ${source[i].text}: ${percent(weight)}`));
        marks.push({ element, row: j, column: i });
        svg.append(element);
      })
    );
    const columns = source.map((unit, i) => {
      const [x, y] = [edge(i) + cell / 2 + 4, above - 22];
      const element = label(unit, weights.map((row) => row[i]), target, { x, y, transform: `rotate(-50 ${x} ${y})` });
      const note = draw("text", { x: edge(i) + cell / 2, y: above - 6, class: "small", "text-anchor": "middle" });
      svg.append(element, note);
      return { element, note };
    });
    const rows = target.map((unit, j) => {
      const y = above + cell * (j + 0.5) + 5;
      const element = label(unit, weights[j], source, { x: left - 38, y, "text-anchor": "end" });
      const note = draw("text", { x: left - 34, y, class: "small" });
      svg.append(element, note);
      return { element, note };
    });
    linked(svg, marks, columns, rows, weights);
    if (onChoose) choosable(rows, onChoose);
    return svg;
  }
  function choosable(words, onChoose) {
    words.forEach(({ element }, index) => {
      element.setAttribute("role", "button");
      element.addEventListener("click", () => onChoose(index));
      element.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          onChoose(index);
        }
      });
    });
  }

  // Buttons for a choice: one of them is pressed.
  function switcher(name, options, value, onChange) {
    const buttons = options.map(([key, text]) =>
      make("button", { type: "button", "aria-pressed": String(key === value), click: () => {
        for (const button of buttons) button.setAttribute("aria-pressed", "false");
        buttons[options.findIndex(([one]) => one === key)].setAttribute("aria-pressed", "true");
        onChange(key);
      } }, text)
    );
    return make("span", { role: "group", "aria-label": name, class: "row" }, buttons);
  }

  // The switches, which stay as they are for the next sentence.
  const looks = { shape: "ribbons", byWords: true, head: null, changed() {} };

  // The attention of a sentence, with its switches.
  function alignment(sentence, onChoose) {
    if (!sentence.sources[0].weights)
      return make("p", { class: "note" }, "This model has no attention, so there is nothing to draw here.");
    const holder = make("div", { class: "scroll" });
    const redraw = () => {
      const byWords = looks.byWords && merges(sentence);
      const parts = grid(sentence, byWords, sentence.heads ? looks.head : null);
      const svg = (looks.shape === "ribbons" ? ribbons : heatMap)(parts, onChoose);
      holder.replaceChildren(svg);
    };
    const change = (name) => (value) => {
      looks[name] = value;
      redraw();
      looks.changed();
    };
    const shapes = [["ribbons", "Ribbons"], ["map", "Heat map"]];
    const tools = [switcher("Drawing", shapes, looks.shape, change("shape"))];
    if (merges(sentence))
      tools.push(switcher("Units", [[true, "Words"], [false, "Pieces"]], looks.byWords, change("byWords")));
    if (sentence.heads) tools.push(headPicker(sentence.heads, change("head")));
    redraw();
    return make("div", {}, make("div", { class: "row" }, tools), holder,
      make("p", { class: "note" }, "Point at a word, or focus it, to see its weights: the share of its attention that each word of the translation pays to each word of the text."));
  }
  function headPicker(heads, onChange) {
    // See `TransformerDecoder` for the layer.
    const options = [make("option", { value: "" }, `mean of layer ${Math.max(heads.length - 1, 1)}`)];
    heads.forEach((layer, l) =>
      layer.forEach((_, h) => options.push(make("option", { value: `${l},${h}`,
        selected: looks.head && looks.head[0] === l && looks.head[1] === h ? "" : null },
        `layer ${l + 1}, head ${h + 1}`)))
    );
    return make("label", { class: "row" }, "Head",
      make("select", { change: (event) => onChange(event.target.value ? event.target.value.split(",").map(Number) : null) }, options));
  }

  const hasWords = (sentence, byWords) => byWords || sentence.target.kind === "words";
  // How sure the model is of a word: the probability that it is right or, without a calibration, the
  // model's own. A calibration is for words, not for their pieces.
  function confidence(sentence, unit, byWords) {
    const { log_probability: scores, calibration } = sentence.target;
    if (!scores) return {};
    const own = Math.exp(sum(scores.slice(unit.start, unit.end)));
    if (!calibration || unit.isEnd || !hasWords(sentence, byWords)) return { own, sure: own };
    const p = Math.min(Math.max(own, 1e-6), 1 - 1e-6);
    const logit = calibration.word_slope * Math.log(p / (1 - p)) + calibration.word_bias;
    return { own, sure: 1 / (1 + Math.exp(-logit)), calibrated: true };
  }
  // Levels of confidence, which differ in line and in shade, so that they need no color.
  const LEVELS = [[0.9, ""], [0.7, "unsure"], [0.4, "doubtful"], [0, "dubious"]];
  const level = (sure) => LEVELS.find(([least]) => sure >= least || least === 0)[1];
  function confidenceLegend(sentence, byWords) {
    if (!sentence?.target.log_probability) return null;
    const calibrated = sentence.target.calibration && hasWords(sentence, byWords);
    const range = (least, above) =>
      (above === undefined ? `${percent(least)} or more` : least ? `${percent(least)} to ${percent(above)}` : `below ${percent(above)}`);
    return make("p", { class: "legend" }, calibrated ? "Probability that a word is right: " : "The model's probability of a word: ",
      LEVELS.map(([least, name], index) => make("span", { class: name }, range(least, LEVELS[index - 1]?.[0]))));
  }

  // The target words as buttons, with a line under those that the model is less sure of. Those that
  // it copied are marked.
  function wordButtons(sentence, byWords, onChoose, onPoint = () => {}) {
    return units(sentence.target, byWords).map((unit, index) => {
      const copied = unit.isEnd ? null : share(sentence, unit);
      const { own, sure, calibrated } = confidence(sentence, unit, byWords);
      const facts = [own === undefined ? null : `probability ${percent(own)}`,
        calibrated ? `right with ${percent(sure)}` : null, copied].filter(Boolean);
      const classes = [unit.isEnd ? "end" : own === undefined ? "" : level(sure), copied && copied.startsWith("copied") ? "copied" : ""];
      return make("button", {
        type: "button", class: classes.join(" "),
        title: facts.join(", "), "aria-label": [unit.text, ...facts].join(", "),
        click: () => onChoose(index), mouseenter: () => onPoint(index), mouseleave: () => onPoint(null),
        focus: () => onPoint(index), blur: () => onPoint(null),
      }, unit.text);
    });
  }
  // "copied from the source (97%)" or "generated (99%)", or null for a model that does not copy.
  function share(sentence, unit) {
    const mean = (numbers) => sum(numbers.slice(unit.start, unit.end)) / (unit.end - unit.start);
    const sides = sentence.sources.filter((side) => side.copied);
    if (!sides.length) return null;
    const best = sides.map((side) => [mean(side.copied), side.name]).sort((one, two) => two[0] - one[0])[0];
    const total = sum(sides.map((side) => mean(side.copied)));
    return total >= 0.5 ? `copied from the ${best[1]} (${percent(total)})` : `generated (${percent(1 - total)})`;
  }

  // The probabilities of the words that the model could have chosen.
  function choiceTable(choices, chosen, onChoose) {
    const rows = choices.map((choice) => {
      const p = Math.exp(choice.log_probability);
      const text = choice.text === "</s>" ? "end" : choice.text.replaceAll("▁", " ").trim() || "␣";
      const name = onChoose
        ? make("button", { type: "button", class: text === chosen ? "chosen" : "", click: () => onChoose(choice) }, text)
        : text;
      const bar = make("div", { role: "meter", "aria-valuemax": 1, "aria-valuenow": p, "aria-label": `${text}: ${percent(p)}` });
      bar.style.setProperty("--share", `${100 * p}%`);
      return make("tr", {}, make("td", {}, name), make("td", {}, bar),
        make("td", { class: "number" }, percent(p)), make("td", { class: "more" }, choice.best ?? ""));
    });
    return make("table", { class: "bars" }, make("tbody", {}, rows));
  }

  // The search from left to right: each column is a step, each node a sequence that was kept.
  function searchTree(nodes, chosen, onChoose, onForce) {
    const children = new Map();
    nodes.forEach((node, index) => {
      if (!children.has(node.parent)) children.set(node.parent, []);
      children.get(node.parent).push(index);
    });
    const order = (index) => nodes[index].rank ?? 1e6 - nodes[index].log_probability;
    const y = [];
    let leaves = 0;
    const visit = (index) => {
      const below = (children.get(index) ?? []).sort((one, two) => order(one) - order(two));
      below.forEach(visit);
      y[index] = below.length ? (y[below[0]] + y[below[below.length - 1]]) / 2 : 20 + 24 * leaves++;
    };
    const roots = (children.get(-1) ?? []).sort((one, two) => order(one) - order(two));
    roots.forEach(visit);
    const shown = (token) => (token === "</s>" ? "end" : token.replace(/^▁(?=.)/, "").replace("▁", "␣"));
    const steps = Math.max(...nodes.map((node) => node.step), 0) + 1;
    const columns = Array.from({ length: steps }, (_, step) =>
      Math.max(...nodes.filter((node) => node.step === step).map((node) => width(shown(node.token), true)), 20) + 44);
    const x = columns.map((_, step) => PAD + sum(columns.slice(0, step)));
    const [w, h] = [PAD * 2 + sum(columns), 24 * leaves + 24];
    const path = new Set();
    nodes.forEach((node, index) => {
      if (node.rank !== chosen || node.rank === null) return;
      for (let one = index; one >= 0; one = nodes[one].parent) path.add(one);
    });
    const idsUpTo = (index) => (index < 0 ? [] : [...idsUpTo(nodes[index].parent), nodes[index].id]);
    const svg = draw("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "group",
      "aria-label": "Tree of the search, from the first word on the left to the end on the right" });
    nodes.forEach((node, index) => {
      if (node.parent < 0) return;
      const from = nodes[node.parent];
      const [x0, y0] = [x[from.step] + width(shown(from.token), path.has(node.parent)) + 4, y[node.parent] - 5];
      const [x1, y1] = [x[node.step] - 4, y[index] - 5];
      const middle = (x0 + x1) / 2;
      svg.append(draw("path", { class: path.has(index) ? "edge chosen" : "edge", d: `M${x0},${y0}C${middle},${y0} ${middle},${y1} ${x1},${y1}` }));
    });
    nodes.forEach((node, index) => {
      const known = node.rank !== null;
      const name = known ? `in answer ${node.rank + 1}` : "dropped by the search";
      const take = () => (known ? onChoose(node.rank) : onForce(idsUpTo(index)));
      const text = draw("text", {
        x: x[node.step], y: y[index], class: [known ? "" : "dropped", path.has(index) ? "lit" : ""].join(" "),
        tabindex: 0, role: "button", "aria-label": `${shown(node.token)}, ${name}`, click: take,
        keydown: (event) => event.key === "Enter" && take(),
      }, shown(node.token), draw("title", {}, `${name}; log-probability up to here ${number(node.log_probability)}`));
      svg.append(text);
    });
    return svg;
  }

  // A picture with the regions that a word looks at.
  function regions(address, [rows, columns]) {
    const squares = [];
    const svg = draw("svg", { viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < columns; c++) squares.push(draw("rect", { x: c, y: r, width: 1, height: 1, "fill-opacity": 0 }));
    svg.append(...squares);
    const element = make("div", { class: "picture" }, make("img", { src: address, alt: "The image to caption" }), svg);
    const show = (weights) => {
      const most = weights ? Math.max(...weights) : 1;
      squares.forEach((square, index) => square.setAttribute("fill-opacity", weights ? 0.8 * (1 - weights[index] / most) : 0));
    };
    return { element, show };
  }

  // The sentences of a story with the weights of each hop.
  function hops({ sentences, weights }) {
    const head = make("tr", {}, make("th", { scope: "col" }, "sentence"),
      weights.map((_, hop) => make("th", { scope: "col" }, `hop ${hop + 1}`)));
    const rows = sentences.map((sentence, index) => make("tr", {}, make("th", { scope: "row" }, sentence),
      weights.map((of) => {
        const cell = make("td", {}, percent(of[index]));
        cell.style.background = `color-mix(in srgb, var(--weight) ${Math.round(55 * of[index])}%, transparent)`;
        return cell;
      })));
    return make("table", { class: "hops" }, make("tbody", {}, head, rows));
  }

  // Files that the browser saves.
  function save(name, blob) {
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  // A copy of a drawing with its colors, which are otherwise in the style sheet.
  function standalone(svg) {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const kept = ["fill", "stroke", "stroke-width", "font", "font-weight", "opacity"];
    const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
    from.forEach((element, index) => {
      const look = getComputedStyle(element);
      for (const name of kept) to[index].style.setProperty(name, look.getPropertyValue(name));
      to[index].removeAttribute("tabindex");
    });
    const paper = draw("rect", { width: "100%", height: "100%" });
    paper.style.fill = getComputedStyle(document.body).backgroundColor;
    copy.prepend(paper);
    return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  }
  async function savePicture(svg) {
    const image = new Image();
    const address = URL.createObjectURL(standalone(svg));
    await new Promise((done, failed) => Object.assign(image, { onload: done, onerror: failed, src: address }));
    const canvas = make("canvas", { width: 2 * svg.width.baseVal.value, height: 2 * svg.height.baseVal.value });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => save("attention.png", blob));
  }
  function saveButtons(holder, data) {
    const first = () => holder.querySelector("svg");
    const button = (text, action) => make("button", { type: "button", click: action }, text);
    const ofDrawing = [
      button("Save SVG", () => save("attention.svg", standalone(first()))),
      button("Save PNG", () => savePicture(first())),
    ];
    return make("div", { class: "row" }, holder ? ofDrawing : [],
      button("Save JSON", () => save("attention.json", new Blob([JSON.stringify(data(), null, 1)], { type: "application/json" }))));
  }
  const panel = (title, ...children) => make("section", {}, make("h2", {}, title), children);

  window.kerasnmt = { make, units, merges, alignment, wordButtons, confidenceLegend, choiceTable, searchTree, regions, hops, saveButtons, panel,
    percent, number, sum, looks, byId };
})();
