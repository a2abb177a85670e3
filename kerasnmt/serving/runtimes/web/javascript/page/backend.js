// The backend of the page of a site: the model in the browser.
"use strict";
(() => {
  async function loaded() {
    const [{ load }, { Explorer }] = await Promise.all([import("../kerasnmt.js"), import("../explorer.js")]);
    return new Explorer(await load("./model"));
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
