/** Caches the files of the page, and nothing else: no byte of an array is stored. */

// The types of workers declare `self` as a worker of any kind.
const scope = self as unknown as ServiceWorkerGlobalScope;

/** The build replaces both. */
const VERSION = "__VERSION__";
const FILES = "__FILES__".split("\n");

/** Viewers in other folders of the host have other caches. */
const PREFIX = `tdb-viewer ${scope.registration.scope} `;
const CACHE = PREFIX + VERSION;

scope.addEventListener("install", (event) => {
  const store = async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: "reload" })));
    await scope.skipWaiting();
  };
  event.waitUntil(store());
});

scope.addEventListener("activate", (event) => {
  const clean = async () => {
    const names = await caches.keys();
    await Promise.all(
      names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)),
    );
    await scope.clients.claim();
  };
  event.waitUntil(clean());
});

const own = new Set(FILES.map((file) => new URL(file, scope.location.href).href));

scope.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  url.hash = "";
  if (event.request.method !== "GET" || !own.has(url.href) || event.request.headers.has("range")) {
    return;
  }
  const cached = async () => (await caches.open(CACHE)).match(url.href);
  const answer = async () => {
    if (event.request.mode !== "navigate") {
      return (await cached()) ?? fetch(event.request);
    }
    try {
      // Another program may use the address by now, such as `tdb serve`.
      return await fetch(event.request);
    } catch (error) {
      const page = await cached();
      if (page) {
        return page;
      }
      throw error;
    }
  };
  event.respondWith(answer());
});

export {};
