/** Answers the calls of the page. */

import { TdbError } from "tdb-array";
import type { ArrayDescription, Failure, FromWorker, Method, Methods, Progress, Ref, ToWorker } from "../protocol";
import { exportCells } from "./export";
import { readPoints } from "./points";
import { readRaster } from "./raster";
import { countRows, estimateRead, readRows } from "./rows";
import { arrayOf, closeSource, folderOf, groupOf, type Job, openSource, setKey, typeOf } from "./session";
import { transferable } from "./transfer";

type Report = (progress: Partial<Progress>) => void;
type Handlers = {
  [M in Method]: (params: Methods[M]["params"], job: Job, report: Report) => Promise<Methods[M]["result"]>;
};

const handlers: Handlers = {
  open: async ({ source }) => openSource(source),
  close: async ({ source }) => {
    closeSource(source);
    return null;
  },
  key: async ({ source, key }) => {
    setKey(source, key);
    return null;
  },
  type: typeOf,
  children: async (ref, job) => ((await typeOf(ref)) === "group" ? (await groupOf(ref, job)).children : folderOf(ref)),
  group: groupOf,
  array: describe,
  enumeration: async ({ ref, name }, job) => (await arrayOf(ref, job)).enumeration(name),
  rows: async ({ ref, selection, offset, limit }, job) =>
    readRows(await arrayOf(ref, job), selection, offset, limit, job),
  count: async ({ ref, ranges, where }, job) => countRows(await arrayOf(ref, job), ranges, where, job),
  estimate: async ({ ref, columns, ranges, where }, job) =>
    estimateRead(await arrayOf(ref, job), columns, ranges, where, job),
  raster: async ({ ref, query }, job, report) => readRaster(await arrayOf(ref, job), query, job, report),
  points: async ({ ref, query }, job, report) => readPoints(await arrayOf(ref, job), query, job, report),
  export: async ({ ref, selection, limit, format }, job, report) =>
    exportCells(await arrayOf(ref, job), selection, limit, format, job, report),
};

async function describe(ref: Ref, job: Job): Promise<ArrayDescription> {
  const array = await arrayOf(ref, job);
  const [fragments, nonEmptyDomain, metadata] = await Promise.all([
    array.fragments(),
    array.nonEmptyDomain(),
    array.metadata(),
  ]);
  return { schema: array.schema, fragments, nonEmptyDomain, metadata };
}

const running = new Map<number, AbortController>();

self.addEventListener("message", (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.kind === "cancel") {
    running.get(message.id)?.abort();
  } else {
    void answer(message.id, message.method, message.params);
  }
});

async function answer<M extends Method>(id: number, method: M, params: Methods[M]["params"]): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const progress: Progress = { requests: 0, bytes: 0, fraction: null, note: null };
  let sent = 0;
  const report: Report = (changes) => {
    Object.assign(progress, changes);
    const now = performance.now();
    if (now - sent > 50) {
      sent = now;
      send({ kind: "progress", id, progress });
    }
  };
  const job: Job = {
    signal: controller.signal,
    onProgress: ({ requests, bytes }) => report({ requests, bytes }),
  };
  try {
    const result = await handlers[method](params, job, report);
    send({ kind: "result", id, result }, transferable(method, result));
  } catch (error) {
    send({ kind: "failure", id, failure: toFailure(error, controller.signal) });
  } finally {
    running.delete(id);
  }
}

function send(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

function toFailure(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted || (error instanceof DOMException && error.name === "AbortError")) {
    return { category: "cancelled", message: "cancelled", path: null, field: null, hint: null };
  }
  if (error instanceof TdbError) {
    const { category, message, path, field, hint } = error;
    return { category, message, path, field, hint };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { category: "other", message, path: null, field: null, hint: null };
}
