import assert from "node:assert/strict";
import fs, { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as tdb from "../dist/index.js";
import { nodeSource } from "../dist/node.js";
import { parse, stringify } from "../dist/json.js";
import { parseManifest } from "../dist/http.js";
import { serve } from "./server.js";

const ARRAY = fileURLToPath(new URL("../../../../fixtures/v22-by-2.30.0-dense-2d-row-row/array", import.meta.url));

async function filesOf(folder) {
  const files = new Map();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile()) files.set(relative(folder, path).split("\\").join("/"), await readFile(path));
  }
  return files;
}

function manifestOf(files) {
  const escaped = (path) => path.replace(/[%\x00-\x1f]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
  const sorted = [...files].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const lines = sorted.map(([path, bytes]) => `${bytes.length} ${escaped(path)}\n`);
  return Buffer.from(`tdb manifest 1\n${lines.join("")}`);
}

async function served(options, change = () => {}) {
  const files = await filesOf(ARRAY);
  files.set("tdb-manifest.txt", manifestOf(files));
  change(files);
  return serve(files, options);
}

/** Checks that reading fails with an error. */
async function fails(url, category, message) {
  const read = async () => (await tdb.openArray(url)).read();
  await assert.rejects(read, (error) => {
    assert.ok(error instanceof tdb.TdbError, error.stack);
    assert.equal(error.category, category, error.message);
    assert.match(error.message, message);
    return true;
  });
}

async function cells(source) {
  const array = await tdb.openArray(source);
  const table = await array.read({ columns: ["y", "x", "a"], ranges: { y: [[0, 1]], x: [[3, 5]] } });
  const rows = Array.from({ length: table.rows }, (_, row) => table.columns.map((column) => column.get(row)));
  array.close();
  return rows;
}

test("all sources have the same cells", async () => {
  const expected = await cells(nodeSource(ARRAY));
  assert.deepEqual(expected.map(([y, x]) => [y, x]), [[0, 3], [0, 4], [0, 5], [1, 3], [1, 4], [1, 5]]);
  const server = await served();
  assert.deepEqual(await cells(server.url), expected);
  await server.close();
  const files = await filesOf(ARRAY);
  const list = [...files].map(([path, bytes]) => {
    const file = new File([bytes], path.split("/").at(-1));
    Object.defineProperty(file, "webkitRelativePath", { value: `array/${path}` });
    return file;
  });
  assert.deepEqual(await cells(tdb.folderSource(list)), expected);
  assert.deepEqual(await cells(tdb.folderSource(handle("array", files, ""))), expected);
});

test("a folder of the disk is listed without links that have no target", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tdb-"));
  await mkdir(join(folder, "a"));
  await writeFile(join(folder, "f"), "123");
  for (const [target, name] of [["f", "link"], ["a", "folder"], ["gone", "dangling"], ["loop", "loop"], ["f/x", "below"]]) {
    await symlink(target, join(folder, name));
  }
  const entries = (await nodeSource(folder).list("")).sort((a, b) => (a.name < b.name ? -1 : 1));
  assert.deepEqual(entries, [
    { name: "a", kind: "folder" },
    { name: "f", kind: "file", size: 3 },
    { name: "folder", kind: "folder" },
    { name: "link", kind: "file", size: 3 },
  ]);
  await assert.rejects(nodeSource(folder).list("gone"), tdb.GoneError);
  await rm(folder, { recursive: true });
});

test("a folder of the disk is listed again if a file disappears", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tdb-"));
  await writeFile(join(folder, "a"), "1");
  await writeFile(join(folder, "b"), "22");
  const { stat } = fs;
  let gone = 1;
  fs.stat = async (path) => {
    if (gone-- > 0) await rm(join(folder, "b"), { force: true });
    return path.endsWith("b") || gone > 0 ? Promise.reject(Object.assign(new Error("gone"), { code: "ENOENT" })) : stat(path);
  };
  syncBuiltinESMExports();
  try {
    assert.deepEqual(await nodeSource(folder).list(""), [{ name: "a", kind: "file", size: 1 }]);
    gone = 1000;
    await assert.rejects(nodeSource(folder).list(""), (error) => error instanceof tdb.TdbError && /disappear/.test(error.message));
  } finally {
    fs.stat = stat;
    syncBuiltinESMExports();
    await rm(folder, { recursive: true });
  }
});

/** A directory handle as browsers have it. */
function handle(name, files, prefix) {
  const inner = [...files.keys()].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  const names = new Set(inner.map((path) => path.split("/")[0]));
  const notFound = () => Object.assign(new Error("not found"), { name: "NotFoundError" });
  const child = (name) => {
    const bytes = files.get(prefix + name);
    if (bytes === undefined) return handle(name, files, `${prefix}${name}/`);
    return { kind: "file", name, getFile: async () => new File([bytes], name) };
  };
  const get = (kind) => async (name) => {
    if (!names.has(name) || child(name).kind !== kind) throw notFound();
    return child(name);
  };
  return {
    kind: "directory",
    name,
    getDirectoryHandle: get("directory"),
    getFileHandle: get("file"),
    async *[Symbol.asyncIterator]() {
      for (const name of names) yield [name, child(name)];
    },
  };
}

/** Serves a bucket with pages of five keys. `encode` and `parts` form the XML. */
async function store(encode, parts, change = (page) => page) {
  const files = await filesOf(ARRAY);
  const keys = [...files.keys()].map((path) => `some folder/${path}`).sort();
  const answer = (request, response, path, url) => {
    if (path !== "bucket") return false;
    const start = keys.findIndex((key) => key > (url.searchParams.get("continuation-token") ?? ""));
    const page = keys.slice(start, start + 5);
    const contents = page.map((key) => {
      const size = files.get(key.slice("some folder/".length)).length;
      return `<Contents><Key>${encode(key)}</Key><Size>${size}</Size></Contents>`;
    });
    const text = `<?xml version="1.0"?><ListBucketResult>${parts(start + 5 < keys.length, page.at(-1))}${contents.join("")}</ListBucketResult>`;
    response.writeHead(200).end(change(text));
    return true;
  };
  const stored = new Map(keys.map((key) => [`bucket/${key}`, files.get(key.slice("some folder/".length))]));
  assert.ok(keys.length > 5 && keys.length <= 20);
  return serve(stored, { answer });
}

const token = (isCut, last) => (isCut ? `<NextContinuationToken>${last}</NextContinuationToken>` : "");
const encodedKey = (key) => encodeURIComponent(key).replaceAll("%20", "+");
const encodedParts = (isCut, last) => `<EncodingType>url</EncodingType><IsTruncated>${isCut}</IsTruncated>${token(isCut, last)}`;

test("an anonymous S3 store is listed", async () => {
  const plainKey = (key) => key.replaceAll("&", "&amp;");
  for (const [encode, parts] of [[encodedKey, encodedParts], [plainKey, token]]) {
    const server = await store(encode, parts);
    assert.deepEqual(await cells(tdb.s3Source(server.url, "bucket", "/some folder/")), await cells(nodeSource(ARRAY)));
    await server.close();
  }
});

test("plain keys of an S3 store keep plus and percent signs", async () => {
  const list = "<ListBucketResult><Contents><Key>p/a+b%41</Key><Size>3</Size></Contents></ListBucketResult>";
  const server = await serve(new Map(), { answer: (_, response) => response.writeHead(200).end(list) });
  assert.deepEqual(await tdb.s3Source(server.url, "bucket", "p").list(""), [{ name: "a+b%41", kind: "file", size: 3 }]);
  await server.close();
});

test("incomplete listings of an S3 store are refused", async () => {
  for (const [change, message] of [
    [(text) => text.replace(/<NextContinuationToken>.*<.NextContinuationToken>/, ""), /has no token/],
    [(text) => text.replace(/<Key>/, "<Key>%zz"), /cannot decode the key "%zz/],
    [(text) => text.replace(/<Key>.*?<.Key>/, ""), /has no name/],
  ]) {
    const server = await store(encodedKey, encodedParts, change);
    await fails(tdb.s3Source(server.url, "bucket", "some folder"), "unavailable", message);
    await server.close();
  }
});

test("a server without ranges sends whole files, if they are small", async () => {
  const server = await served({ ranges: false });
  assert.deepEqual(await cells(server.url), await cells(nodeSource(ARRAY)));
  await server.close();
  const size = 9 << 20;
  const large = await serve(new Map([["tdb-manifest.txt", Buffer.from(`tdb manifest 1\n${size} f\n`)], ["f", Buffer.alloc(size)]]), { ranges: false });
  const source = tdb.httpSource(large.url);
  await assert.rejects(source.read("f", 5, 10), /ignores ranges, and the file is too large/);
  assert.equal((await source.read("f", 0, size)).length, size);
  await large.close();
});

test("faults of servers give errors that say what to do", async () => {
  const data = (path) => path.startsWith("__fragments/") && path.endsWith("a0.tdb");
  const faults = [
    [{ answer: (_, response, path) => path.startsWith("__schema/") && response.writeHead(403).end() }, "unavailable", /answered 403/],
    [{ answer: (_, response, path) => data(path) && response.writeHead(206, { "Content-Range": "bytes 7-9/99" }).end("abc") }, "unavailable", /asked for bytes|expected a file/],
    [{ answer: (_, response, path) => data(path) && response.writeHead(206).end("abc") }, "unavailable", /expected \d+ bytes at \d+, found 3/],
    [{ answer: (_, response, path) => data(path) && response.writeHead(200).end("abc") }, "unavailable", /expected a file of \d+ bytes, found 3/],
    [{ answer: (_, response, path) => data(path) && response.writeHead(404).end() }, "unavailable", /a0\.tdb: the manifest lists the file, but it does not exist/],
    [{ answer: (_, response, path) => data(path) && response.writeHead(416).end() }, "unavailable", /has no bytes/],
    [{ answer: (_, response, path) => data(path) && (response.writeHead(206, { "Content-Length": 99999 }).write("abc"), setTimeout(() => response.destroy(), 20)) }, "unavailable", /ended early/],
  ];
  for (const [options, category, message] of faults) {
    const server = await served(options);
    await fails(server.url, category, message);
    await server.close();
  }
  const empty = await serve(new Map());
  await fails(empty.url, "unavailable", /no manifest/);
  await empty.close();
  const page = await serve(new Map([["tdb-manifest.txt", Buffer.from("<html>")]]));
  await fails(page.url, "unavailable", /not a manifest: .*; found "<html>"/);
  await page.close();
  await fails(page.url, "unavailable", /cannot connect/);
  const bare = await serve(new Map([["tdb-manifest.txt", Buffer.from("tdb manifest 1\n3 f\n")]]));
  await fails(bare.url, "unavailable", /not an array/);
  await bare.close();
});

test("addresses with a password are refused, and messages hide queries", async () => {
  for (const open of [
    () => tdb.httpSource("https://user:secret@host/a"),
    () => tdb.s3Source("https://user:secret@host", "bucket", "p"),
    () => tdb.httpSource("http://[?secret"),
  ]) {
    assert.throws(open, (error) => error instanceof tdb.TdbError && error.category === "usage" && !error.message.includes("secret"));
  }
  const data = (path) => path.startsWith("__fragments/") && path.endsWith("a0.tdb");
  const faults = [
    [(_, response) => response.writeHead(403).end(), /answered 403/],
    [(_, response) => response.writeHead(404).end(), /no manifest/],
    [(_, response) => response.writeHead(200).end("<html>"), /not a manifest/],
    [(_, response, path) => data(path) && response.writeHead(404).end(), /does not exist/],
    [(_, response, path) => data(path) && response.writeHead(206).end("abc"), /expected/],
    [(_, response) => response.destroy(), /cannot connect/],
  ];
  for (const [answer, message] of faults) {
    const server = await served({ answer });
    const error = await (async () => (await tdb.openArray(`${server.url}?signature=secret`)).read())().catch((error) => error);
    assert.match(error.message, message);
    assert.doesNotMatch(`${error.message} ${error.path}`, /secret/);
    await server.close();
  }
});

test("answers without end are cut off", async () => {
  const data = (path) => path.startsWith("__fragments/") && path.endsWith("a0.tdb");
  const endless = (response, status) => {
    response.writeHead(status);
    const more = () => response.destroyed || response.write(Buffer.alloc(1 << 16), () => setImmediate(more));
    more();
    return true;
  };
  for (const status of [200, 206]) {
    const server = await served({ answer: (_, response, path) => data(path) && endless(response, status) });
    await fails(server.url, "unavailable", /expected .* bytes.*, found \d+ or more/);
    await server.close();
  }
  const store = await serve(new Map(), { answer: (_, response) => endless(response, 200) });
  await fails(tdb.s3Source(store.url, "bucket", "p"), "unavailable", /exceeds \d+ bytes/);
  await store.close();
});

test("listings without end are cut off", async () => {
  let page = 0;
  let next = () => page++;
  const text = () => `<ListBucketResult><NextContinuationToken>${next()}</NextContinuationToken><Contents><Key>p/f${page}</Key><Size>1</Size></Contents></ListBucketResult>`;
  const server = await serve(new Map(), { answer: (_, response) => response.writeHead(200).end(text()) });
  await assert.rejects(tdb.s3Source(server.url, "bucket", "p").list(""), /more than 1000 pages/);
  next = () => 7;
  await assert.rejects(tdb.s3Source(server.url, "bucket", "p").list(""), /repeats a page/);
  await server.close();
  const hostile = await serve(new Map(), { answer: (_, response) => response.writeHead(200).end(`<ListBucketResult>${"<Contents>".repeat(700_000)}`) });
  await assert.rejects(tdb.s3Source(hostile.url, "bucket", "p").list(""), /has no name/);
  await hostile.close();
});

test("busy servers are asked again", async () => {
  let busy = 2;
  const server = await served({ answer: (_, response, path) => path.startsWith("__schema/") && busy-- > 0 && response.writeHead(503).end() });
  assert.equal((await cells(server.url)).length, 6);
  await server.close();
});

test("reads are cancelled", async () => {
  for (const folder of ["__schema/", "__fragments/"]) {
    const controller = new AbortController();
    const { signal } = controller;
    // The server never answers a request of this folder.
    const server = await served({ answer: (_, __, path) => path.startsWith(folder) && (controller.abort(), true) });
    const read = async () => (await tdb.openArray(server.url, { signal })).read();
    await assert.rejects(read, (error) => error instanceof tdb.TdbError && error.category === "cancelled");
    await server.close();
  }
});

test("manifests are parsed strictly", () => {
  const tree = parseManifest("tdb manifest 1\n0 __labels/\n12 a%25b/c d\n3 e\n", "m");
  assert.deepEqual(tree.list("").map(({ name, kind }) => [name, kind]), [["__labels", "folder"], ["a%b", "folder"], ["e", "file"]]);
  assert.equal(tree.size("a%b/c d"), 12);
  assert.deepEqual(tree.list("__labels"), []);
  for (const line of ["x", "1", "-1 f", "1 ../f", "1 /f", "1 a//b", "1 %zz", "99999999999999999999 f", "1 a\tb", "1 a%5Cb", "1 a%00", "1 a/", `1 ${"a/".repeat(65)}b`]) {
    assert.throws(() => parseManifest(`tdb manifest 1\n${line}\n`, "m"), tdb.TdbError, line);
  }
  const parsed = (lines) => () => parseManifest(`tdb manifest 1\n${lines.map((line) => `${line}\n`).join("")}`, "m");
  for (const lines of [["1 b", "1 a"], ["1 a", "1 a"], ["1 \u{1f600}", "1 \uff21"]]) assert.throws(parsed(lines), /sorted/);
  for (const lines of [["1 a", "1 a/b"], ["1 a", "1 a-b", "1 a/b/c"], ["1 a", "0 a/"], ["0 a/", "1 a/b"]]) {
    assert.throws(parsed(lines), /listed as a file or as empty/);
  }
  parsed(["1 \uff21", "1 \u{1f600}", `1 \u{1f600}${"/a".repeat(64)}`].toSpliced(1, 1))();
  parsed([])();
  for (const text of ["", "tdb manifest 1", "tdb manifest 1\n3 f", "tdb manifest 2\n"]) {
    assert.throws(() => parseManifest(text, "m"), /not a manifest/, text);
  }
});

test("values survive JSON", () => {
  const value = { a: 2n ** 63n, b: Uint8Array.of(0, 255), c: [Infinity, -Infinity, NaN, -0.5] };
  assert.deepEqual(parse(stringify(value)), value);
});
