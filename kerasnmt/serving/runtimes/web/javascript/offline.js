/** Service worker of the page: it keeps the files of the site, for visits without a network. */

const kept = () => caches.open("kerasnmt");

async function keep() {
  const files = await (await fetch("files.json")).json();
  await (await kept()).addAll(files);
}

/** Ask the server whether a file has changed, so that no visitor stays with an old model. */
async function answer(event) {
  try {
    const response = await fetch(event.request, { cache: "no-cache" });
    if (response.ok) event.waitUntil(replace(event.request, response.clone()));
    return response;
  } catch {
    return (await caches.match(event.request)) ?? Response.error();
  }
}

async function replace(request, response) {
  const cache = await kept();
  await cache.put(request, response).catch(() => {}); // fails if the disk is full
}

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("fetch", (event) => event.respondWith(answer(event)));
