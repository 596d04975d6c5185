/** The messages between the page and its worker. */

import type { Entry, Fragment, Metadata, Scalar, Schema } from "tdb-array";

/** A place that the worker can open. Folders carry handles or files, which links cannot hold. */
export type OpenSource =
  | { kind: "http"; url: string }
  | { kind: "s3"; endpoint: string; bucket: string; prefix: string }
  | { kind: "handle"; name: string; handle: FileSystemDirectoryHandle }
  | { kind: "files"; name: string; files: { path: string; file: File }[] };

/** An array or group at a point in time. */
export interface Ref {
  source: number;
  path: string;
  /** Milliseconds since 1970, or `null` for the newest state. */
  at: number | null;
}

export type ObjectType = "array" | "group" | "folder";

export interface Child {
  name: string;
  type: ObjectType;
  /** `null` if the member is outside of the source. */
  path: string | null;
  uri: string;
}

export interface GroupDescription {
  children: Child[];
  metadata: Metadata;
}

export interface ArrayDescription {
  schema: Schema;
  fragments: Fragment[];
  nonEmptyDomain: [Scalar, Scalar][] | null;
  metadata: Metadata;
}

export type Ranges = Record<string, [Scalar, Scalar][]>;
export type Order = "row-major" | "column-major" | "global" | "unordered";

/** The cells that the table shows. */
export interface Selection {
  columns: string[];
  ranges: Ranges;
  where: string;
  order: Order;
}

export type Cell = Scalar | Scalar[];

export interface Rows {
  columns: { name: string; datatype: string; cells: Cell[] }[];
  rows: number;
}

/** A rectangle of a dense array, with the other dimensions fixed. Indexes count from the origin of each dimension. */
export interface RasterQuery {
  attribute: string;
  x: { dimension: string; from: number; to: number };
  y: { dimension: string; from: number; to: number };
  /** One index for each remaining dimension, except for the stacked dimension. */
  fixed: Record<string, number>;
  /** A dimension whose coordinates become planes, such as the channels of an image. */
  stack: { dimension: string; from: number; to: number } | null;
  /** Neighboring coordinates of `x` that form one pixel: red, green and blue side by side. Usually 1. */
  interleave: number;
  /** First coordinate of each dimension. */
  origin: Record<string, Scalar>;
  /** The worker averages blocks of cells until the result has at most this width and height. */
  maxWidth: number;
  maxHeight: number;
}

export type PlaneValues =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

export interface Plane {
  values: PlaneValues;
  /** One byte per cell, zero for null. `null` if all cells have values. */
  validity: Uint8Array | null;
}

export interface Raster {
  width: number;
  height: number;
  /** Cells per pixel in both directions. */
  step: number;
  /** First indexes of the rectangle. */
  x: number;
  y: number;
  planes: Plane[];
}

export interface PointsQuery {
  x: string;
  y: string;
  color: string | null;
  ranges: Ranges;
  where: string;
  /** Coordinates that map to zero, and the extent of the plot relative to them. */
  origin: [Scalar, Scalar];
  view: { x0: number; x1: number; y0: number; y1: number };
  bins: { width: number; height: number };
  /** Points to keep. All points count in the bins. */
  keep: number;
}

export interface Points {
  x: Float64Array;
  y: Float64Array;
  color: Float64Array | null;
  bins: Uint32Array;
  count: number;
}

export interface Estimate {
  requests: number;
  bytes: number;
  tiles: number;
}

export interface Methods {
  open: { params: { source: OpenSource }; result: { id: number; name: string } };
  key: { params: { source: number; key: Uint8Array | null }; result: null };
  type: { params: Ref; result: ObjectType };
  children: { params: Ref; result: Child[] };
  group: { params: Ref; result: GroupDescription };
  array: { params: Ref; result: ArrayDescription };
  enumeration: { params: { ref: Ref; name: string }; result: Scalar[] };
  rows: { params: { ref: Ref; selection: Selection; offset: number; limit: number }; result: Rows };
  count: { params: { ref: Ref; ranges: Ranges; where: string }; result: number };
  estimate: { params: { ref: Ref; columns: string[]; ranges: Ranges; where: string }; result: Estimate };
  raster: { params: { ref: Ref; query: RasterQuery }; result: Raster };
  points: { params: { ref: Ref; query: PointsQuery }; result: Points };
  export: {
    params: { ref: Ref; selection: Selection; limit: number; format: "csv" | "arrow" };
    result: { bytes: Uint8Array; rows: number };
  };
  close: { params: { source: number }; result: null };
}

export type Method = keyof Methods;

export interface Progress {
  requests: number;
  bytes: number;
  /** Between 0 and 1, if the amount of work is known. */
  fraction: number | null;
  note: string | null;
}

export interface Failure {
  category: string;
  message: string;
  path: string | null;
  field: string | null;
  hint: string | null;
}

export type ToWorker =
  | { [M in Method]: { kind: "call"; id: number; method: M; params: Methods[M]["params"] } }[Method]
  | { kind: "cancel"; id: number };

export type FromWorker =
  | { kind: "result"; id: number; result: Methods[Method]["result"] }
  | { kind: "progress"; id: number; progress: Progress }
  | { kind: "failure"; id: number; failure: Failure };

export type { Entry, Fragment, Metadata, Scalar, Schema };
