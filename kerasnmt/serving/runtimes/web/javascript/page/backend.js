// The backend of the page of a site: the model in the browser.
"use strict";
(() => {
  async function loaded() {
    const [{ load }, { Explorer }] = await Promise.all([import("../kerasnmt.js"), import("../explorer.js")]);
    const model = await load("./model");
    navigator.serviceWorker?.register("offline.js").catch(() => {}); // the page works without it
    return new Explorer(model);
  }
  const explorer = loaded();
  window.kerasnmt.backend = {
    async about() {
      const response = await fetch("page/model.json");
      return { ...(await response.json()), ...(await explorer).describe() };
    },
    ask: async (question, body) => (await explorer).ask(question, body),
  };
})();
