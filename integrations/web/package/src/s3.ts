import { GoneError } from "./engine.js";
import { TdbError } from "./errors.js";
import { encoded, Http, parseAddress, shown } from "./http.js";
import { isSafe, Tree } from "./tree.js";
import type { Entry, HttpOptions, Source } from "./types.js";

/** The pages of a listing, with 1000 files each, that are read to list all folders at once. */
const PAGES_AT_ONCE = 4;
/** The pages of a folder. A listing without end fails. */
const MOST_PAGES = 1000;
/** The bytes of a page of 1000 files with encoded keys of 1024 bytes. */
const MOST_PAGE = 8 << 20;

/** A prefix of a bucket that anyone may read and list. `endpoint` is the URL of the store. */
export function s3Source(endpoint: string, bucket: string, prefix: string, options: HttpOptions = {}): Source {
  return new S3Source(endpoint, bucket, prefix, options);
}

interface Page {
  files: { key: string; size: number }[];
  folders: string[];
  next: string | undefined;
}

class S3Source implements Source {
  readonly name: string;
  private readonly bucket: string;
  private readonly prefix: string;
  private readonly http: Http;
  private readonly sizes = new Map<string, number>();
  /** All files, or `null` if there are too many. */
  private tree: Promise<Tree | null> | undefined;

  constructor(endpoint: string, bucket: string, prefix: string, options: HttpOptions) {
    parseAddress(endpoint);
    this.bucket = `${endpoint.replace(/\/+$/, "")}/${encodeURIComponent(bucket)}`;
    const inner = prefix.replace(/^\/+|\/+$/g, "");
    this.prefix = inner === "" ? "" : `${inner}/`;
    this.name = `s3://${bucket}/${inner}`;
    this.http = new Http(options);
  }

  private async page(folder: string, isDeep: boolean, token: string | undefined): Promise<Page> {
    const parameters = new URLSearchParams({ "list-type": "2", "encoding-type": "url", prefix: folder });
    if (!isDeep) parameters.set("delimiter", "/");
    if (token !== undefined) parameters.set("continuation-token", token);
    const url = `${this.bucket}?${parameters}`;
    const text = await this.http.text(url, MOST_PAGE);
    if (text === undefined) throw new TdbError("unavailable", `${this.bucket}: no such bucket`, { path: this.bucket });
    const page = parsePage(text, shown(url));
    if (page.next !== undefined && page.next === token) {
      const hint = "check the endpoint";
      throw new TdbError("unavailable", `${this.bucket}: the listing repeats a page`, { path: this.bucket, hint });
    }
    return page;
  }

  private async all(): Promise<Tree | null> {
    const tree = new Tree();
    let token: string | undefined;
    for (let pages = 0; pages < PAGES_AT_ONCE; pages++) {
      const page = await this.page(this.prefix, true, token);
      for (const { key, size } of page.files) this.add(tree, key, size);
      token = page.next;
      if (token === undefined) return tree;
    }
    return null;
  }

  private add(tree: Tree, key: string, size: number): void {
    const path = key.slice(this.prefix.length);
    // Some programs create an empty object for a folder.
    const isFolder = path.endsWith("/");
    const plain = isFolder ? path.slice(0, -1) : path;
    if (!isSafe(plain)) return;
    if (isFolder) tree.addFolder(plain);
    else tree.addFile(plain, size);
  }

  async list(folder: string): Promise<Entry[]> {
    this.tree ??= this.all();
    this.tree.catch(() => (this.tree = undefined));
    const tree = await this.tree;
    if (tree !== null) return tree.list(folder);
    const start = folder === "" ? this.prefix : `${this.prefix}${folder}/`;
    const entries: Entry[] = [];
    let token: string | undefined;
    let pages = 0;
    do {
      if (pages++ === MOST_PAGES) {
        const message = `${this.name}/${folder}: the folder has more than ${MOST_PAGES} pages of files`;
        throw new TdbError("unavailable", message, { path: folder, hint: "open a smaller folder" });
      }
      const page = await this.page(start, false, token);
      for (const { key, size } of page.files) {
        const name = key.slice(start.length);
        if (name === "") continue;
        entries.push({ name, kind: "file", size });
        this.sizes.set(key, size);
      }
      for (const name of page.folders) entries.push({ name: name.slice(start.length, -1), kind: "folder" });
      token = page.next;
    } while (token !== undefined);
    if (entries.length === 0) throw new GoneError(folder);
    return entries;
  }

  async read(path: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
    const key = this.prefix + path;
    const size = (await this.tree)?.size(path) ?? this.sizes.get(key);
    return this.http.read(`${this.bucket}/${encoded(key)}`, start, end, size, signal);
  }
}

/** Parses a page of a listing. Node has no parser of XML. */
function parsePage(text: string, url: string): Page {
  const wrong = (why: string): TdbError =>
    new TdbError("unavailable", `${url}: ${why}`, { path: url, hint: "check the endpoint" });
  if (!text.includes("<ListBucketResult")) throw wrong("not a listing of a store");
  const inner = (text: string, tag: string): string | undefined => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1];
  // Stores that do not know this encoding send plain keys.
  const isEncoded = inner(text, "EncodingType") === "url";
  const decoded = (found: string | undefined): string => {
    if (found === undefined) throw wrong("an entry of the listing has no name");
    const key = unescaped(found);
    if (!isEncoded) return key;
    try {
      return decodeURIComponent(key.replaceAll("+", "%20"));
    } catch {
      throw wrong(`cannot decode the key ${JSON.stringify(key.slice(0, 80))}`);
    }
  };
  // Time in proportion to the text, even if no element ends.
  const elements = (tag: string): string[] =>
    text.split(`<${tag}>`).slice(1).map((rest) => rest.split(`</${tag}>`, 1)[0]!);
  const files = elements("Contents").map((file) => ({ key: decoded(inner(file, "Key")), size: Number(inner(file, "Size") ?? NaN) }));
  const folders = elements("CommonPrefixes").map((folder) => decoded(inner(folder, "Prefix")));
  const isCut = inner(text, "IsTruncated");
  const token = isCut === "false" ? undefined : inner(text, "NextContinuationToken");
  if (isCut === "true" && !token) throw wrong("the listing is cut, and has no token for its next page");
  return { files, folders, next: token ? unescaped(token) : undefined };
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(#x?[0-9a-f]+|\w+);/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return ENTITIES[name] ?? whole;
    const code = name[1] === "x" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
