/** Service worker of the page: it keeps the files of the site, for visits without a network. */

const kept = caches.open("kerasnmt");

async function keep() {
  const files = await (await fetch("files.json")).json();
  await (await kept).addAll(files);
}

/** Ask the network first, so that a newer site replaces the files. */
async function answer(event) {
  const cache = await kept;
  try {
    const response = await fetch(event.request);
    const copy = response.clone();
    const put = () => cache.put(event.request, copy).catch(() => {}); // fails if the disk is full
    if (response.ok) event.waitUntil(put());
    return response;
  } catch {
    return (await cache.match(event.request)) ?? Response.error();
  }
}

self.addEventListener("install", (event) => event.waitUntil(keep()));
self.addEventListener("fetch", (event) => event.respondWith(answer(event)));
