import { cancelled, TdbError } from "./errors.js";
import { GoneError } from "./engine.js";
import { isSafe, Tree } from "./tree.js";
import type { Entry, HttpOptions, Source } from "./types.js";

/** The file that lists the files of a folder on a server. */
const MANIFEST = "tdb-manifest.txt";
/** The largest file that is read from a server that ignores ranges. */
const MOST_WITHOUT_RANGES = 8 << 20;
/** The largest manifest, as for the command. */
const MOST_MANIFEST = 64 << 20;
/** The bytes of files from such servers that are kept. */
const MOST_KEPT = 64 << 20;
const ATTEMPTS = 4;

/** Sends requests, up to a number at a time. */
export class Http {
  private readonly headers: Record<string, string>;
  private free: number;
  private readonly waiting: (() => void)[] = [];
  private readonly whole = new Map<string, Uint8Array>();
  private kept = 0;

  constructor({ headers = {}, concurrency = 32 }: HttpOptions) {
    this.headers = headers;
    this.free = Math.max(1, concurrency);
  }

  private async limited<T>(job: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resume) => this.waiting.push(resume));
    try {
      return await job();
    } finally {
      const next = this.waiting.shift();
      if (next !== undefined) next();
      else this.free += 1;
    }
  }

  /** Sends a request. Repeats it if the server is busy. */
  private async send(url: string, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
    const name = shown(url);
    for (let attempt = 1; ; attempt++) {
      let response: Response;
      try {
        response = await fetch(url, { headers: { ...this.headers, ...headers }, signal: signal ?? null });
      } catch (cause) {
        if (signal?.aborted) throw cancelled(cause);
        // Browsers report a refused origin and an unreachable server alike.
        const message = `${name}: cannot connect, or the server does not allow requests from this page (CORS)`;
        const hint = "check the address; let the server send Access-Control-Allow-Origin and expose Content-Range";
        throw new TdbError("unavailable", message, { path: name, cause, hint });
      }
      const isBusy = response.status === 429 || response.status >= 500;
      if (!isBusy || attempt === ATTEMPTS) return response;
      await response.body?.cancel();
      const asked = Number(response.headers.get("Retry-After")) * 1000;
      await pause(Math.min(asked > 0 ? asked : 100 * 4 ** attempt, 10_000), signal);
    }
  }

  /** Reads a file of up to `limit` bytes of text. Returns `undefined` if it does not exist. */
  text(url: string, limit: number): Promise<string | undefined> {
    return this.limited(async () => {
      const response = await this.send(url, {});
      if (isMissing(response)) return undefined;
      if (!response.ok) throw refused(url, response);
      const bytes = await body(url, response, limit);
      if (bytes.length > limit) throw changed(url, `the file exceeds ${limit} bytes`);
      return new TextDecoder().decode(bytes);
    });
  }

  /** Reads bytes of a file of `size` bytes, if known. */
  async read(url: string, start: number, end: number, size?: number, signal?: AbortSignal): Promise<Uint8Array> {
    if (start === end) return new Uint8Array();
    const whole = this.whole.get(url);
    if (whole !== undefined) return whole.subarray(start, end);
    return this.limited(async () => {
      const isWhole = start === 0 && end === size;
      const response = await this.send(url, isWhole ? {} : { Range: `bytes=${start}-${end - 1}` }, signal);
      if (isMissing(response)) throw new GoneError(url);
      if (response.status === 206) return this.part(url, response, start, end, signal);
      if (response.status === 416) {
        await response.body?.cancel();
        throw changed(url, `the server has no bytes ${start} to ${end}`);
      }
      if (!response.ok) throw refused(url, response);
      const length = size ?? Number(response.headers.get("Content-Length") ?? NaN);
      if (!isWhole && !(length <= MOST_WITHOUT_RANGES)) {
        await response.body?.cancel();
        const name = shown(url);
        const message = `${name}: the server ignores ranges, and the file is too large to be read as a whole`;
        throw new TdbError("unavailable", message, { path: name, hint: "serve the folder with `tdb serve`, or another server with byte ranges" });
      }
      const bytes = await body(url, response, size ?? MOST_WITHOUT_RANGES, signal);
      if (size !== undefined && bytes.length !== size) throw changed(url, `expected a file of ${size} bytes, found ${found(bytes, size)}`);
      if (size === undefined && bytes.length > MOST_WITHOUT_RANGES) throw changed(url, `the file exceeds ${MOST_WITHOUT_RANGES} bytes`);
      if (isWhole) return bytes;
      if (this.kept + bytes.length <= MOST_KEPT) {
        this.kept += bytes.length;
        this.whole.set(url, bytes);
      }
      return bytes.subarray(start, end);
    });
  }

  private async part(url: string, response: Response, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const range = response.headers.get("Content-Range");
    // Without the permission to read the header, only the length is checked.
    if (range !== null && !range.startsWith(`bytes ${start}-${end - 1}/`)) {
      await response.body?.cancel();
      throw changed(url, `asked for bytes ${start}-${end - 1}, found ${range}`);
    }
    const bytes = await body(url, response, end - start, signal);
    if (bytes.length !== end - start) {
      throw changed(url, `expected ${end - start} bytes at ${start}, found ${found(bytes, end - start)}`);
    }
    return bytes;
  }
}

/** Receives a body. Stops after `limit` bytes, with more bytes than allowed as the result. Connections end early. */
async function body(url: string, response: Response, limit: number, signal?: AbortSignal): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader!.read()) {
      parts.push(part.value);
      length += part.value.length;
      if (length > limit) {
        await reader!.cancel();
        break;
      }
    }
    return joined(parts, length);
  } catch (cause) {
    if (signal?.aborted) throw cancelled(cause);
    const name = shown(url);
    throw new TdbError("unavailable", `${name}: the download ended early`, { path: name, cause, hint: "read again" });
  }
}

function joined(parts: Uint8Array[], length: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(length);
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

/** Describes the length of a body that is too short or too long. */
function found(bytes: Uint8Array, expected: number): string {
  return bytes.length > expected ? `${bytes.length} or more` : String(bytes.length);
}

/** Returns an address for messages: without its query, which may hold a signature. */
export function shown(url: string): string {
  return url.split("?", 1)[0]!;
}

/** Parses an address. Requests cannot send the name and the password of an address. */
export function parseAddress(text: string): URL {
  const base = typeof location === "undefined" ? undefined : location.href;
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw new TdbError("usage", `${shown(text)}: not a URL`);
  }
  if (url.username !== "" || url.password !== "") {
    const hint = "remove the part before @, and pass the header Authorization";
    throw new TdbError("usage", `${url.origin}: the address has a user name or a password`, { hint });
  }
  return url;
}

function isMissing({ status }: Response): boolean {
  return status === 404 || status === 410;
}

function refused(url: string, { status, statusText }: Response): TdbError {
  const hint = status === 401 || status === 403 ? "allow anonymous reads, or pass headers" : null;
  const name = shown(url);
  return new TdbError("unavailable", `${name}: the server answered ${status} ${statusText}`.trimEnd(), { path: name, hint });
}

function changed(url: string, what: string): TdbError {
  const hint = "renew the manifest if files have changed, and turn off compression of files by the server";
  const name = shown(url);
  return new TdbError("unavailable", `${name}: ${what}`, { path: name, hint });
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => { clearTimeout(timer); reject(cancelled(signal.reason)); }, { once: true });
  });
}

/** Encodes the parts of a path for a URL. */
export function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** Parses a manifest: the tree of the files below its folder. The rules are those of the command. */
export function parseManifest(text: string, name: string): Tree {
  const wrong = (line: string, why: string): TdbError => {
    const message = `${name}: not a manifest: ${why}; found ${JSON.stringify(line.slice(0, 80))}`;
    return new TdbError("unavailable", message, { path: name, hint: "write it with `tdb manifest FOLDER`" });
  };
  const lines = text.split("\n");
  const [first = ""] = lines;
  if (first !== "tdb manifest 1") throw wrong(first, "expected `tdb manifest 1`");
  const end = lines.pop()!;
  if (end !== "" || lines.length === 0) throw wrong(end, "the last line has no end, and the file may be cut");
  const tree = new Tree();
  let last = "";
  for (const line of lines.slice(1)) {
    const match = LINE.exec(line);
    const path = match === null ? undefined : decoded(match[2]!);
    const size = Number(match?.[1]);
    if (path === undefined || !Number.isSafeInteger(size)) throw wrong(line, "expected a size, a space and a path");
    const isFolder = path.endsWith("/");
    const plain = isFolder ? path.slice(0, -1) : path;
    if (!isSafe(plain) || /[\\\0]/.test(plain) || plain.split("/").length - 1 > DEPTH || (isFolder && size !== 0)) {
      throw wrong(line, "the path is not allowed");
    }
    if (!isBefore(last, path)) throw wrong(line, "paths must be distinct and sorted bytewise");
    const isBelowEmpty = last.endsWith("/") && path.startsWith(last);
    if (isBelowEmpty || !tree.canHold(plain) || (isFolder && tree.size(plain) !== undefined)) {
      throw wrong(line, "a folder of the path is listed as a file or as empty");
    }
    last = path;
    if (isFolder) tree.addFolder(plain);
    else tree.addFile(plain, size);
  }
  return tree;
}

/** A size and a path. Control characters are encoded. */
const LINE = /^(\d+) ([^\p{Cc}\u2028\u2029]+)$/u;
/** The largest number of folders above a file. */
const DEPTH = 64;

/** Decodes a path. Returns `undefined` if it is malformed. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Returns `true` if a text precedes another in the order of their bytes in UTF-8. */
function isBefore(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length);
  for (let place = 0; place < length; place++) {
    const x = a.charCodeAt(place);
    const y = b.charCodeAt(place);
    if (x !== y) return rank(x) < rank(y);
  }
  return a.length < b.length;
}

/** Surrogates encode the last characters, but are not the last code units. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;
}

/** A folder on a server. The file `tdb-manifest.txt` in the folder lists its files. */
export function httpSource(url: string, options: HttpOptions = {}): Source {
  return new HttpSource(url, options);
}

class HttpSource implements Source {
  readonly name: string;
  private readonly url: URL;
  private readonly http: Http;
  private tree: Promise<Tree> | undefined;

  constructor(url: string, options: HttpOptions) {
    this.url = parseAddress(url);
    if (!this.url.pathname.endsWith("/")) this.url.pathname += "/";
    this.name = this.url.origin + this.url.pathname;
    this.http = new Http(options);
  }

  /** The query of the URL stays, for servers with signed URLs. */
  private of(path: string): string {
    const url = new URL(this.url);
    url.pathname += encoded(path);
    return url.href;
  }

  private manifest(): Promise<Tree> {
    this.tree ??= this.loaded();
    this.tree.catch(() => (this.tree = undefined));
    return this.tree;
  }

  private async loaded(): Promise<Tree> {
    const url = this.of(MANIFEST);
    const name = shown(url);
    const text = await this.http.text(url, MOST_MANIFEST);
    if (text !== undefined) return parseManifest(text, name);
    const hint = "write it with `tdb manifest FOLDER`, or serve the folder with `tdb serve FOLDER`";
    throw new TdbError("unavailable", `${name}: no manifest`, { path: name, hint });
  }

  async list(folder: string): Promise<Entry[]> {
    return (await this.manifest()).list(folder);
  }

  async read(path: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const size = (await this.manifest()).size(path);
    const url = this.of(path);
    try {
      return await this.http.read(url, start, end, size, signal);
    } catch (error) {
      if (size !== undefined && error instanceof GoneError) throw changed(url, "the manifest lists the file, but it does not exist");
      throw error;
    }
  }
}
