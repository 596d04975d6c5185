/** The state of the page, and its text form in the fragment of the address. */

import type { Order } from "./protocol";

export type View = "schema" | "fragments" | "metadata" | "cells" | "heatmap" | "image" | "points";

export const VIEWS: readonly View[] = ["schema", "fragments", "metadata", "cells", "heatmap", "image", "points"];

/** A source as a link holds it. A folder has no address: the person must open it again. */
export type LinkSource =
  | { kind: "http"; url: string }
  | { kind: "s3"; endpoint: string; bucket: string; prefix: string }
  | { kind: "folder"; name: string };

/** A part of a plot, in coordinates. */
export interface Window {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

export interface State {
  source: LinkSource | null;
  path: string;
  view: View | null;
  /** Milliseconds since 1970, or `null` for the newest state. */
  at: number | null;
  columns: string[] | null;
  where: string;
  order: Order | null;
  row: number;
  /** Text of the range or index of each dimension. */
  slices: Record<string, string>;
  x: string | null;
  y: string | null;
  attribute: string | null;
  map: string | null;
  window: Window | null;
  range: [number, number] | null;
  level: number | null;
  channels: string | null;
}

export const EMPTY: State = {
  source: null,
  path: "",
  view: null,
  at: null,
  columns: null,
  where: "",
  order: null,
  row: 0,
  slices: {},
  x: null,
  y: null,
  attribute: null,
  map: null,
  window: null,
  range: null,
  level: null,
  channels: null,
};

const ORDERS: readonly string[] = ["row-major", "column-major", "global", "unordered"];

/** Returns the state of an address fragment. Ignores unknown and malformed parts. */
export function parseLink(fragment: string): State {
  const params = new URLSearchParams(fragment.replace(/^#/, ""));
  const get = (name: string) => params.get(name);
  const view = get("view") as View | null;
  const order = get("order");
  const slices: Record<string, string> = Object.create(null);
  for (const [name, value] of params) {
    if (name.startsWith("s.")) {
      slices[name.slice(2)] = value;
    }
  }
  const window = numbers(get("window"), 4);
  const range = numbers(get("range"), 2);
  const columns = params.getAll("col");
  return {
    source: parseSource(params),
    path: get("path") ?? "",
    view: view && VIEWS.includes(view) ? view : null,
    at: integer(get("at")),
    columns: columns.length > 0 ? columns : null,
    where: get("where") ?? "",
    order: order && ORDERS.includes(order) ? (order as Order) : null,
    row: integer(get("row")) ?? 0,
    slices,
    x: get("x"),
    y: get("y"),
    attribute: get("attr"),
    map: get("map"),
    window: window && { x0: window[0]!, x1: window[1]!, y0: window[2]!, y1: window[3]! },
    range: range && [range[0]!, range[1]!],
    level: integer(get("level")),
    channels: get("channels"),
  };
}

function parseSource(params: URLSearchParams): LinkSource | null {
  const url = params.get("url");
  if (url) {
    return isHttp(url) ? { kind: "http", url } : null;
  }
  const endpoint = params.get("s3");
  if (endpoint) {
    const bucket = params.get("bucket") ?? "";
    return isHttp(endpoint) && bucket ? { kind: "s3", endpoint, bucket, prefix: params.get("prefix") ?? "" } : null;
  }
  const folder = params.get("folder");
  return folder ? { kind: "folder", name: folder } : null;
}

/** Returns `true` for addresses that the viewer may read: never `javascript:`, `file:` or `data:`. */
export function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function integer(text: string | null): number | null {
  const value = text === null || text === "" ? Number.NaN : Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function numbers(text: string | null, count: number): number[] | null {
  const values = (text ?? "").split(",").map((part) => (part === "" ? Number.NaN : Number(part)));
  return values.length === count && values.every(Number.isFinite) ? values : null;
}

/** Returns the address fragment of a state. It never holds keys. */
export function formatLink(state: State): string {
  const params = new URLSearchParams();
  const set = (name: string, value: string | number | null) => {
    if (value !== null && value !== "") {
      params.append(name, String(value));
    }
  };
  const { source, window, range } = state;
  if (source?.kind === "http") {
    set("url", source.url);
  } else if (source?.kind === "s3") {
    set("s3", source.endpoint);
    set("bucket", source.bucket);
    set("prefix", source.prefix);
  } else if (source) {
    set("folder", source.name);
  }
  set("path", state.path);
  set("view", state.view);
  set("at", state.at);
  for (const column of state.columns ?? []) {
    params.append("col", column);
  }
  set("where", state.where);
  set("order", state.order);
  set("row", state.row || null);
  for (const [name, value] of Object.entries(state.slices)) {
    set(`s.${name}`, value);
  }
  set("x", state.x);
  set("y", state.y);
  set("attr", state.attribute);
  set("map", state.map);
  set("window", window && [window.x0, window.x1, window.y0, window.y1].map(round).join(","));
  set("range", range?.join(",") ?? null);
  set("level", state.level);
  set("channels", state.channels);
  const text = params.toString();
  return text && `#${text}`;
}

function round(value: number): number {
  return Number(value.toPrecision(15));
}

/** Returns the state for another array: only the source and the time remain. */
export function forPath(state: State, path: string): State {
  return { ...EMPTY, source: state.source, at: state.at, path };
}
