/** A value of a cell, of metadata, or a coordinate. Integers of 64 bits are `bigint`. */
export type Scalar = number | bigint | string | boolean | Uint8Array | null;

/** Where bytes come from. Paths are relative to the root, with `/` as separator. */
export interface Source {
  /** Stands before paths in messages, such as the URL. */
  readonly name: string;
  /** Lists a folder. Throws `GoneError` if the folder does not exist. */
  list(folder: string): Promise<Entry[]>;
  /** Reads bytes of a file. `end` is exclusive. Throws `GoneError` if the file does not exist. */
  read(path: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
}

export interface Entry {
  name: string;
  kind: "file" | "folder";
  /** The size of a file in bytes. */
  size?: number;
}

export interface HttpOptions {
  headers?: Record<string, string>;
  /** The maximum number of requests in flight. Default: 32. */
  concurrency?: number;
}

export interface Progress {
  requests: number;
  bytes: number;
  cells?: number;
}

export interface OpenOptions {
  /** Opens as of this millisecond since 1970. */
  at?: number;
  /** Reads only fragments within these milliseconds since 1970. */
  between?: [number, number];
  /** The AES-256 key of an encrypted array. */
  key?: Uint8Array;
  /** The bytes that a read may hold. Default: 256 MiB. */
  budget?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export type Metadata = Record<string, { datatype: string; value: Scalar | Scalar[] }>;

export interface Member {
  name: string | null;
  type: "array" | "group" | null;
  uri: string;
  /** The path below the group. `null` for a member outside of the group's folder. */
  path: string | null;
}

export interface Dimension {
  name: string;
  datatype: string;
  /** `null` for strings. */
  domain: [Scalar, Scalar] | null;
  extent: Scalar;
  filters: string[];
}

export interface Attribute {
  name: string;
  datatype: string;
  cellValNum: number | "var";
  nullable: boolean;
  fill: Scalar | Scalar[];
  enumeration: string | null;
  filters: string[];
}

export interface Schema {
  arrayType: "dense" | "sparse";
  formatVersion: number;
  allowsDuplicates: boolean;
  capacity: bigint;
  cellOrder: string;
  tileOrder: string;
  dimensions: Dimension[];
  attributes: Attribute[];
  labels: { name: string; dimension: string | null; datatype: string }[];
  enumerations: string[];
  currentDomain: [Scalar, Scalar][] | null;
  /** The schema as text of several lines. */
  text: string;
}

export interface Fragment {
  name: string;
  /** Milliseconds since 1970. */
  timestamps: [number, number];
  formatVersion: number;
  dense: boolean;
  cells: bigint | null;
  tiles: bigint;
  bytes: bigint;
  nonEmptyDomain: [Scalar, Scalar][];
  hasDeletes: boolean;
}

export interface Query {
  /** Default: all dimensions (sparse) and attributes. */
  columns?: string[];
  /** Inclusive ranges, several per dimension or label. `null` is the end of the domain. */
  ranges?: Record<string, [Scalar, Scalar][]>;
  /** A condition on attributes and dimensions. */
  where?: string;
  order?: "row-major" | "column-major" | "global" | "unordered";
  limit?: number;
  offset?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export interface Plan {
  /** The number of requests for cells, without those for metadata of fragments. */
  requests: number;
  bytes: number;
  tiles: number;
  /** The plan as text of several lines. */
  text: string;
}

export interface Aggregate {
  op: "count" | "sum" | "mean" | "min" | "max" | "nulls";
  column?: string;
}

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;
