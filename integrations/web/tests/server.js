// A static server with byte ranges, and with the faults that the tests need.

import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".json": "application/json",
};

/** Returns the text of a manifest: the size and the path of each file below a folder, sorted by path. */
async function manifest(folder) {
  const entries = (await entriesOf(folder)).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const lines = entries.map(([path, size]) => `${size} ${path.split("/").map(encodeURIComponent).join("/")}\n`);
  return `tdb manifest 1\n${lines.join("")}`;
}

/** Returns the path and the size of each file, and of each empty folder. */
async function entriesOf(folder, prefix = "") {
  const entries = [];
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    const path = prefix ? `${prefix}/${entry.name}` : entry.name;
    if (entry.isDirectory()) {
      const inner = await entriesOf(folder, path);
      entries.push(...(inner.length > 0 ? inner : [[`${path}/`, 0]]));
    } else {
      const { size } = await stat(join(folder, path));
      entries.push([path, size]);
    }
  }
  return entries;
}

/**
 * Starts a server of a folder.
 *
 * `hasRanges`, `hasCors` and `hasManifest` turn features off. `delay` is in milliseconds. `cut` is the
 * number of bytes that a truncated answer lacks. `list` is the answer at `/data/`. `isMarked` marks the page as
 * `tdb serve` does. All can be changed later.
 */
export async function serve(root, options = {}) {
  const settings = { hasRanges: true, hasCors: true, hasManifest: true, delay: 0, cut: 0, list: [], isMarked: false, ...options };
  const log = [];
  const answer = async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    let path = normalize(decodeURIComponent(url.pathname));
    log.push({ path, range: request.headers.range ?? null });
    if (settings.hasCors) {
      response.setHeader("Access-Control-Allow-Origin", "*");
      response.setHeader("Access-Control-Allow-Headers", "Range");
      response.setHeader("Access-Control-Expose-Headers", "Content-Range, Content-Length, Accept-Ranges");
    }
    if (request.method === "OPTIONS") {
      response.writeHead(settings.hasCors ? 204 : 403).end();
      return;
    }
    if (path === "/data/" && settings.list) {
      // The list of `tdb serve`.
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(settings.list));
      return;
    }
    if (path.endsWith("/")) {
      path += "index.html";
    }
    const isData = path.startsWith("/data/") || path.includes("__") || path.endsWith(".txt");
    if (settings.delay > 0 && isData) {
      await new Promise((resume) => setTimeout(resume, settings.delay));
    }
    if (path.endsWith("/tdb-manifest.txt") && settings.hasManifest) {
      try {
        const text = await manifest(join(root, path, ".."));
        response.writeHead(200, { "Content-Type": "text/plain" }).end(text);
        return;
      } catch {
        // The folder does not exist.
      }
    }
    const file = join(root, path);
    let size;
    try {
      const found = await stat(file);
      if (!found.isFile()) {
        throw new Error("a folder");
      }
      size = found.size;
    } catch {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("not found");
      return;
    }
    if (settings.isMarked && path === "/index.html") {
      const text = (await readFile(file, "utf8")).replace("<head>", '<head><meta name="tdb-serve" content="1">');
      response.writeHead(200, { "Content-Type": TYPES[".html"] }).end(text);
      return;
    }
    const headers = { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" };
    const range = settings.hasRanges && /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    if (settings.cut > 0 && isData && file.endsWith(".tdb") && size > 1000) {
      const bytes = await readFile(file);
      const [from, to] = range ? [Number(range[1]), Math.min(Number(range[2]) + 1, size)] : [0, size];
      const part = bytes.subarray(from, Math.max(from, to - settings.cut));
      response.writeHead(range ? 206 : 200, headers).end(part);
      return;
    }
    if (range) {
      const from = Number(range[1]);
      const to = Math.min(Number(range[2]), size - 1);
      response.writeHead(206, { ...headers, "Content-Length": to - from + 1, "Content-Range": `bytes ${from}-${to}/${size}` });
      createReadStream(file, { start: from, end: to }).pipe(response);
    } else {
      response.writeHead(200, { ...headers, "Content-Length": size });
      createReadStream(file).pipe(response);
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  return {
    url: `http://127.0.0.1:${port}`,
    settings,
    log,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(closed);
      }),
  };
}
