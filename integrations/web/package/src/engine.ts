import { cancelled, checkAborted, TdbError, type ErrorCategory } from "./errors.js";
import { parse } from "./json.js";
import type { Progress, Source } from "./types.js";
import init, { Session, type InitInput, type InitOutput } from "./wasm/tdb_wasm.js";

let loading: Promise<InitOutput> | undefined;
let loaded: InitOutput | undefined;

/**
 * Loads the WebAssembly module. Reads load it on demand, from the folder of this package.
 * Call this function first to load the module from elsewhere.
 */
export async function initialize(module?: InitInput | Promise<InitInput>): Promise<void> {
  loading ??= load(module);
  try {
    loaded = await loading;
  } catch (cause) {
    loading = undefined;
    const hint = "serve the file tdb_wasm_bg.wasm, or pass its URL to `initialize`";
    throw new TdbError("unavailable", `cannot load the WebAssembly module: ${String(cause)}`, { cause, hint });
  }
}

async function load(module?: InitInput | Promise<InitInput>): Promise<InitOutput> {
  if (module === undefined) {
    const url = new URL("./wasm/tdb_wasm_bg.wasm", import.meta.url);
    // Node cannot fetch files. Bundlers must not follow this import.
    const files = "node:fs/promises";
    module = url.protocol === "file:" ? (await import(/* @vite-ignore */ files)).readFile(url) : url;
  }
  return init({ module_or_path: module as InitInput | Promise<InitInput> });
}

/** The memory of the WebAssembly module. It moves when it grows. */
export function memory(): ArrayBuffer {
  if (loaded === undefined) throw new TdbError("usage", "the WebAssembly module is not loaded");
  return loaded.memory.buffer as ArrayBuffer;
}

interface Needs {
  folders: string[];
  ranges: [path: string, start: number, end: number][];
  /** Windows read so far. */
  windows: number;
}

interface Failure {
  category: ErrorCategory;
  message: string;
  path: string | null;
  field: string | null;
  hint: string | null;
}

export interface RunOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** Requests in flight for sources without an own limit. */
const CONCURRENCY = 64;

let operations = 0;

/** A source with the fetched parts of its files. */
export class Files {
  readonly session: Session;
  readonly source: Source;
  private readonly listings = new Map<string, Promise<void>>();

  private constructor(source: Source) {
    this.source = source;
    this.session = new Session(source.name);
  }

  static async of(source: Source): Promise<Files> {
    await initialize();
    return new Files(source);
  }

  operation(options: RunOptions): Operation {
    operations = (operations + 1) >>> 0;
    return new Operation(this, operations, options);
  }

  list(folder: string): Promise<void> {
    let listing = this.listings.get(folder);
    if (listing === undefined) {
      listing = this.listed(folder);
      this.listings.set(folder, listing);
      // A failed listing is requested again.
      listing.catch(() => this.listings.delete(folder));
    }
    return listing;
  }

  private async listed(folder: string): Promise<void> {
    let entries;
    try {
      entries = await this.source.list(folder);
    } catch (error) {
      if (!isGone(error)) throw error;
      this.session.supply_folder(folder, undefined);
      return;
    }
    const list = entries.map((entry) => {
      if (entry.kind === "folder") return [entry.name, null];
      if (!Number.isSafeInteger(entry.size)) {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        throw new TdbError("unavailable", `${this.source.name}: no size of ${path}`, { path });
      }
      return [entry.name, entry.size];
    });
    this.session.supply_folder(folder, JSON.stringify(list));
  }
}

/** The error of a source for a file or folder that does not exist. */
export class GoneError extends Error {}

export function isGone(error: unknown): boolean {
  return error instanceof GoneError;
}

/** A call of the engine, repeated until all needed parts are fetched. */
export class Operation {
  readonly files: Files;
  readonly id: number;
  private readonly options: RunOptions;
  private readonly progress: Progress = { requests: 0, bytes: 0 };

  constructor(files: Files, id: number, options: RunOptions) {
    this.files = files;
    this.id = id;
    this.options = options;
  }

  /** Adds cells to the progress. */
  count(cells: number): void {
    this.progress.cells = (this.progress.cells ?? 0) + cells;
    this.report();
  }

  private report(): void {
    this.options.onProgress?.({ ...this.progress });
  }

  async run<T>(call: () => string): Promise<T> {
    let before = "";
    for (;;) {
      checkAborted(this.options.signal);
      const text = guarded(call);
      const outcome = parse(text) as { done?: T; need?: Needs; error?: Failure };
      if (outcome.error) throw failed(outcome.error);
      if (!outcome.need) return outcome.done as T;
      if (text === before) {
        throw new TdbError("internal", `the same parts are missing again: ${text.slice(0, 500)}`);
      }
      before = text;
      await this.fetch(outcome.need);
    }
  }

  /** Frees the fetched bytes. */
  end(): void {
    this.files.session.release(this.id);
  }

  private async fetch({ folders, ranges }: Needs): Promise<void> {
    const { signal } = this.options;
    const jobs: (() => Promise<void>)[] = folders.map((folder) => () => this.files.list(folder));
    for (const [path, start, end] of ranges) jobs.push(() => this.read(path, start, end));
    let next = 0;
    let failed = false;
    const worker = async (): Promise<void> => {
      for (let job = jobs[next++]; job !== undefined && !failed; job = jobs[next++]) {
        checkAborted(signal);
        try {
          await job();
        } catch (error) {
          failed = true;
          throw error;
        }
      }
    };
    const workers = Array.from({ length: Math.min(CONCURRENCY, jobs.length) }, worker);
    await Promise.all(workers);
  }

  private async read(path: string, start: number, end: number): Promise<void> {
    const { source, session } = this.files;
    const { signal } = this.options;
    let bytes;
    try {
      bytes = await source.read(path, start, end, signal);
    } catch (error) {
      if (signal?.aborted) throw cancelled(error);
      if (!isGone(error)) throw error;
      session.supply_gone(path);
      return;
    }
    if (bytes.length !== end - start) {
      const message = `${source.name}/${path}: expected ${end - start} bytes at ${start}, found ${bytes.length}`;
      throw new TdbError("unavailable", message, { path, hint: "read again; if it persists, check the server" });
    }
    this.progress.requests += 1;
    this.progress.bytes += bytes.length;
    this.report();
    guarded(() => session.supply(this.id, path, start, bytes));
  }
}

/** Calls the engine. A trap ends the module, because its memory may be inconsistent. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    if (!(cause instanceof WebAssembly.RuntimeError)) throw cause;
    const message = `the engine stopped: ${cause.message}; it has no memory left, or a defect`;
    throw new TdbError("internal", message, { cause, hint: "reload, and read less at a time" });
  }
}

export function failed({ category, message, path, field, hint }: Failure): TdbError {
  return new TdbError(category, message, { path, field, hint });
}
