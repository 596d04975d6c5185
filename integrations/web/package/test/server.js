// A server of files in memory, with faults on demand.

import { createServer } from "node:http";

/** Starts a server. `answer(request, files)` may return a response instead of the server's own. */
export async function serve(files, options = {}) {
  const counted = { requests: 0 };
  const server = createServer((request, response) => {
    counted.requests += 1;
    const url = new URL(request.url, "http://localhost");
    const path = decodeURIComponent(url.pathname.slice(1));
    if (options.answer?.(request, response, path, url)) return;
    const bytes = files.get(path);
    if (bytes === undefined) {
      response.writeHead(404).end();
      return;
    }
    const range = options.ranges === false ? null : /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    if (range === null) {
      response.writeHead(200, { "Content-Length": bytes.length }).end(bytes);
      return;
    }
    const [start, end] = [Number(range[1]), Number(range[2]) + 1];
    if (start >= bytes.length) {
      response.writeHead(416).end();
      return;
    }
    const part = bytes.subarray(start, end);
    const headers = { "Content-Range": `bytes ${start}-${start + part.length - 1}/${bytes.length}`, "Content-Length": part.length };
    response.writeHead(206, headers).end(part);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  return { url, counted, close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}
