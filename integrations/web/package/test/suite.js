// The comparison of the package with the native reader, without Node: browsers run it, too.
//
// `environment` has the package (`tdb`), a function `source(name)` that returns a source of the
// folder `array` or `group` of a fixture, and a function `json(name)` that reads a file of results.

const ORDERS = ["row-major", "global"];

function keyOf(digits) {
  return digits ? Uint8Array.from(digits.match(/../g), (byte) => Number.parseInt(byte, 16)) : undefined;
}

function withKey(key) {
  return key ? { key: keyOf(key) } : {};
}

export async function digest(column) {
  const parts = [];
  // The values of strings are private: `get` decodes them.
  const bytes = column.raw();
  parts.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).slice());
  const { offsets, validity } = column;
  if (offsets) parts.push(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength).slice());
  if (validity) parts.push(validity);
  const hash = await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer());
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function digests(table) {
  const found = {};
  for (const column of table.columns) found[column.name] = await digest(column);
  return found;
}

/** Counts the reads of a source. Listings of a manifest take no request. */
export function counting(source) {
  const counted = {
    name: source.name,
    requests: 0,
    list: (folder) => source.list(folder),
    read(path, start, end, signal) {
      counted.requests += 1;
      return source.read(path, start, end, signal);
    },
    take() {
      const { requests } = counted;
      counted.requests = 0;
      return requests;
    },
  };
  return counted;
}

/** Adds and removes files of a source. */
function damaged(source, tdb, files, removed) {
  const bytes = new Map(files.map(([path, digits]) => [path, digits === null ? null : keyOf(digits) ?? new Uint8Array()]));
  const isRemoved = (path) => removed !== null && (path === removed || path.startsWith(`${removed}/`));
  return {
    name: source.name,
    async list(folder) {
      if (isRemoved(folder)) throw new tdb.GoneError(folder);
      const path = (name) => (folder === "" ? name : `${folder}/${name}`);
      const entries = await source.list(folder);
      const kept = entries.filter(({ name }) => bytes.get(path(name)) !== null && !isRemoved(path(name)));
      return kept.map((entry) => {
        const changed = bytes.get(path(entry.name));
        return changed ? { ...entry, size: changed.length } : entry;
      });
    },
    async read(path, start, end) {
      const changed = bytes.get(path);
      if (changed === null || isRemoved(path)) throw new tdb.GoneError(path);
      return changed ? changed.slice(start, end) : source.read(path, start, end);
    },
  };
}

function equal(found, expected, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: found ${a}, expected ${b}`);
}

/** Reads all fixtures, and compares the cells and the number of requests with the native reader. */
export async function fixtures({ tdb, source, json }, log = () => {}) {
  const all = await json("expected.json");
  const problems = [];
  let [arrays, groups, requests, native] = [0, 0, 0, 0];
  for (const [name, expected] of Object.entries(all)) {
    try {
      if (expected.members) {
        await group(tdb, source(`${name}/group`), expected);
        groups += 1;
        continue;
      }
      const counted = counting(source(`${name}/array`));
      const array = await opened(tdb, counted, expected);
      if (array === null) continue;
      arrays += 1;
      const opening = counted.take();
      const least = (found, limit, what) => {
        requests += found;
        native += limit;
        if (found > limit) throw new Error(`${what}: ${found} requests, the native reader has ${limit}`);
      };
      least(opening, expected.requestsOfOpening, "opening");
      for (const order of ORDERS) {
        const { columns, requests: limit } = expected[order];
        let table;
        try {
          table = await array.read({ order });
        } catch (error) {
          if (!(error instanceof tdb.TdbError)) throw error;
          equal(error.category, columns.error, `${order}: ${error.message}`);
          counted.take();
          continue;
        }
        const found = await digests(table);
        if (Object.keys(columns).length > 0) equal(found, columns, order);
        // The package loads the values of enumerations with the cells.
        if (array.schema.enumerations.length === 0) least(counted.take(), limit, order);
        else counted.take();
        for (const column of table.columns) for (let row = 0; row < Math.min(table.rows, 3); row++) column.get(row);
        table.free();
      }
      array.close();
    } catch (error) {
      problems.push(`${name}: ${error.stack ?? error}`);
    }
  }
  log(`${arrays} arrays, ${groups} groups; ${requests} requests, ${native} of the native reader`);
  if (problems.length > 0) throw new Error(`${problems.length} problems\n${problems.slice(0, 20).join("\n")}`);
  if (arrays === 0 || groups === 0) throw new Error("no fixtures");
}

async function opened(tdb, source, expected) {
  try {
    return await tdb.openArray(source, withKey(expected.key));
  } catch (error) {
    if (!(error instanceof tdb.TdbError)) throw error;
    equal(error.category, expected["row-major"].columns.error, error.message);
    return null;
  }
}

async function group(tdb, source, expected) {
  const group = await tdb.openGroup(source, withKey(expected.key));
  const found = group.members.map(({ name, type, uri }) => [name, type, uri]);
  const sorted = (list) => list.map((item) => JSON.stringify(item)).sort();
  equal(sorted(found), sorted(expected.members), "members");
  equal(sorted(Object.keys(group.metadata)), sorted(expected.metadata), "metadata");
  group.close();
}

/** Reads damaged fixtures: the same cells or errors as the native reader, and never a trap. */
export async function hostile({ tdb, source, json }, log = () => {}) {
  const [all, cases] = [await json("expected.json"), await json("damaged.json")];
  const problems = [];
  let failed = 0;
  for (const { name, what, files, removed, columns, error: category } of cases) {
    const inner = damaged(source(`${name}/array`), tdb, files, removed);
    try {
      let table;
      try {
        const array = await tdb.openArray(inner, withKey(all[name].key));
        table = await array.read({ order: "row-major" });
        array.close();
      } catch (error) {
        if (!(error instanceof tdb.TdbError)) throw error;
        if (error.category === "internal") throw error;
        if (category === null) throw new Error(`${error.category}: ${error.message}; the native reader has no error`);
        equal(error.category, category, error.message);
        failed += 1;
        continue;
      }
      if (category !== null) throw new Error(`no error; the native reader has ${category}`);
      const found = await digests(table);
      if (Object.keys(columns).length > 0) equal(found, columns, "cells");
      table.free();
    } catch (error) {
      problems.push(`${name}, ${what}: ${error.message}`);
      if (/the engine stopped/.test(error.message)) break;
    }
  }
  log(`${cases.length} damaged arrays, ${failed} with an error`);
  if (problems.length > 0) throw new Error(`${problems.length} problems\n${problems.slice(0, 20).join("\n")}`);
}

/** Measures reads. Returns milliseconds by array: of this package, and of the native reader. */
export async function speed({ tdb, source, json }, log = () => {}) {
  const native = await json("speed.json");
  const found = {};
  for (const [name, milliseconds] of Object.entries(native)) {
    let best = Infinity;
    for (let run = 0; run < 5; run++) {
      const start = performance.now();
      const array = await tdb.openArray(source(`${name}/array`));
      const table = await array.read({ order: "row-major" });
      best = Math.min(best, performance.now() - start);
      if (table.rows === 0) throw new Error(`${name}: no cells`);
      table.free();
      array.close();
    }
    found[name] = { package: best, native: milliseconds };
    log(`${name}: ${best.toFixed(0)} ms, native ${milliseconds.toFixed(0)} ms, ${((100 * milliseconds) / best).toFixed(0)} %`);
  }
  return found;
}
