// The backend of the page of a site: the model in the browser.
"use strict";
(() => {
  async function loaded() {
    if (location.protocol === "file:")
      throw new Error(
        "Expected this page from a web server. Received: a file. " +
          "Run python -m http.server in its folder.",
      );
    const { load } = await import("../kerasnmt.js");
    const { explorerOf } = await import("../explorer.js");
    const model = await load("./model");
    navigator.serviceWorker?.register("offline.js").catch(() => {}); // the page works without it
    return explorerOf(model);
  }
  const explorer = loaded();
  explorer.catch(() => {}); // about() and ask() report a failure
  // The last search tells its words to the last listener.
  let [listener, searches] = [() => {}, 0];
  window.kerasnmt.backend = {
    async about() {
      const { page } = (await explorer).model;
      return { ...(await (await fetch("page/model.json")).json()), ...page };
    },
    async stream(name, request, show) {
      listener = show;
    },
    async ask(question, body) {
      if (question === "search") searches++;
      const number = searches;
      const show = (...words) => number === searches && listener(...words);
      return (await explorer).ask(question, body, show);
    },
  };
})();
