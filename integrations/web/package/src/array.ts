import { Files, guarded, type Operation, type RunOptions } from "./engine.js";
import { TdbError } from "./errors.js";
import { stringify } from "./json.js";
import { httpSource } from "./http.js";
import { Table } from "./table.js";
import type { Aggregate, Fragment, Member, Metadata, OpenOptions, Plan, Query, Scalar, Schema, Source } from "./types.js";
import { OpenArray, OpenGroup, type Cursor } from "./wasm/tdb_wasm.js";

type Opening = OpenOptions & { path?: string };

function sourceOf(source: Source | string): Source {
  return typeof source === "string" ? httpSource(source) : source;
}

function uriOf(source: Source, path: string): string {
  return path === "" ? source.name : `${source.name.replace(/\/+$/, "")}/${path}`;
}

/** Returns the kind of object in a folder of a source. */
export async function objectType(source: Source, path = "", options: RunOptions = {}): Promise<"array" | "group" | null> {
  const files = await Files.of(source);
  try {
    return await files.operation(options).run(() => files.session.kind(path));
  } finally {
    files.session.free();
  }
}

/** Opens an array. Text as source is the URL of a folder with a manifest. */
export async function openArray(source: Source | string, options: Opening = {}): Promise<TileArray> {
  const { path = "", at, between, budget, key } = options;
  const files = await Files.of(sourceOf(source));
  const native = guarded(() => new OpenArray(files.session, path, stringify({ at, between, budget }), key, Date.now()));
  const operation = files.operation(options);
  try {
    const schema = await operation.run<Schema>(() => native.open());
    return new TileArray(files, native, schema, uriOf(files.source, path), options);
  } catch (error) {
    native.free();
    throw error;
  } finally {
    operation.end();
  }
}

/** A group: its members and its metadata. */
export interface Group {
  readonly members: Member[];
  readonly metadata: Metadata;
  close(): void;
}

/** Opens a group. Text as source is the URL of a folder with a manifest. */
export async function openGroup(source: Source | string, options: Opening = {}): Promise<Group> {
  const { path = "", at, between, key } = options;
  const files = await Files.of(sourceOf(source));
  const native = guarded(() => new OpenGroup(files.session, path, stringify({ at, between }), key, Date.now()));
  const operation = files.operation(options);
  try {
    const { members, metadata } = await operation.run<{ members: Member[]; metadata: Metadata }>(() => native.open());
    return { members, metadata, close: () => undefined };
  } finally {
    native.free();
    operation.end();
  }
}

/** An array at a point in time. */
export class TileArray {
  readonly schema: Schema;
  readonly uri: string;
  private readonly files: Files;
  private readonly options: RunOptions;
  private native: OpenArray | null;
  private readonly enumerations = new Map<string, Scalar[]>();

  /** @internal */
  constructor(files: Files, native: OpenArray, schema: Schema, uri: string, options: RunOptions) {
    this.files = files;
    this.native = native;
    this.schema = schema;
    this.uri = uri;
    this.options = options;
  }

  private open(): OpenArray {
    if (this.native === null) throw new TdbError("usage", `${this.uri}: the array is closed`);
    return this.native;
  }

  private operation(options: RunOptions = {}): Operation {
    const { signal = this.options.signal, onProgress = this.options.onProgress } = options;
    return this.files.operation({ signal, onProgress });
  }

  private async call<T>(call: (native: OpenArray, operation: number) => string, options?: RunOptions): Promise<T> {
    const operation = this.operation(options);
    try {
      return await operation.run<T>(() => call(this.open(), operation.id));
    } finally {
      operation.end();
    }
  }

  fragments(): Promise<Fragment[]> {
    return this.call((native) => native.fragments());
  }

  nonEmptyDomain(): Promise<[Scalar, Scalar][] | null> {
    return this.call((native) => native.non_empty_domain());
  }

  metadata(): Promise<Metadata> {
    return this.call((native) => native.metadata());
  }

  async enumeration(name: string): Promise<Scalar[]> {
    const known = this.enumerations.get(name);
    if (known !== undefined) return known;
    const values = await this.call<Scalar[]>((native) => native.enumeration(name));
    this.enumerations.set(name, values);
    return values;
  }

  /** Returns the definition of the array in TOML, with the values of enumerations. */
  toml(): Promise<string> {
    return this.call((native) => native.toml());
  }

  /** Returns the tiles, requests and bytes of a query, without reading cells. */
  plan(query: Query = {}): Promise<Plan> {
    const text = textOf(query);
    return this.call((native) => native.plan(text), query);
  }

  /** Computes aggregates, per group of equal values in `by`. */
  aggregate(query: Query, aggregates: Aggregate[], by: string[] = []): Promise<Record<string, Scalar>[]> {
    const [text, list, keys] = [textOf(query), stringify(aggregates), stringify(by)];
    return this.call((native, operation) => native.aggregate(text, list, keys, operation), query);
  }

  /** Reads all cells of a query into a table. */
  async read(query: Query = {}): Promise<Table> {
    for await (const table of this.tables(query, true)) return table;
    throw new TdbError("internal", "the read returned no table");
  }

  /** Reads the cells of a query in batches, for results of any size. */
  batches(query: Query = {}): AsyncIterable<Table> {
    return this.tables(query, false);
  }

  private async *tables(query: Query, isWhole: boolean): AsyncGenerator<Table> {
    const operation = this.operation(query);
    const text = textOf(query);
    const cursor: Cursor = guarded(() => this.open().read(text, operation.id, isWhole));
    try {
      for (;;) {
        const found = await operation.run<{ rows: number; shape: number[] | null } | null>(() => cursor.step());
        if (found === null) return;
        operation.count(found.rows);
        const native = cursor.take();
        if (native === undefined) return;
        const names = (JSON.parse(native.columns()) as { enumeration: string | null }[]).map((column) => column.enumeration);
        for (const name of names) if (name !== null) await this.enumeration(name);
        yield new Table(native, isWhole ? found.shape : null, this.enumerations);
      }
    } finally {
      cursor.free();
      operation.end();
    }
  }

  close(): void {
    this.native?.free();
    this.native = null;
  }
}

function textOf({ columns, ranges, where, order, limit, offset }: Query): string {
  return stringify({ columns, ranges, where, order, limit, offset });
}
