// The backend of the page of `kerasnmt serve`: it asks the server.
"use strict";
(() => {
  async function fetched(path, options) {
    const response = await fetch(path, options).catch(() => {
      throw new Error("The server does not answer.");
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
    return answer;
  }
  // Call `show` with the words that are certain, and with those that may change, while an answer is made.
  async function streamed(name, request, show, signal) {
    const response = await fetch(`v1/models/${encodeURIComponent(name)}:stream`, { method: "POST", signal,
      headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...request, provisional: true }) });
    if (!response.ok) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let [text, rest] = ["", ""];
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const events = (rest + read.value).split("\n\n");
      rest = events.pop();
      for (const event of events.filter((one) => one.startsWith("data: "))) {
        const { piece, provisional } = JSON.parse(event.slice("data: ".length));
        text += piece;
        show(text, provisional);
      }
    }
  }
  window.kerasnmt.backend = {
    stream: streamed,
    about: () => fetched("page/model"),
    ask: (question, body) => fetched(`page/${question}`, { method: "POST",
      headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  };
})();
