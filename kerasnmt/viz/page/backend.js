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
  window.kerasnmt.backend = {
    about: () => fetched("page/model"),
    ask: (question, body) => fetched(`page/${question}`, { method: "POST",
      headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  };
})();
