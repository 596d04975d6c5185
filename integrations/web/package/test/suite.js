// Comparisons of the package with the results of the reference library, and reads of damaged arrays.
// Without Node: browsers run the suite, too.
//
// A fixture has a name, a source of its folder, and the parsed file `expected.json` or `group.json`.

/** Parses results. Integers beyond 2^53 become text. */
export function parseResults(text) {
  return JSON.parse(text.replace(/([[,:]\s*)(-?\d{16,})(?=\s*[,\]}])/g, '$1"$2"'));
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(digits) {
  return Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export function keyOptions(expected) {
  return expected.encryption_key ? { key: new TextEncoder().encode(expected.encryption_key) } : {};
}

const isFloat = (datatype) => datatype.startsWith("float");
const isText = (datatype) => ["char", "string_ascii", "string_utf8"].includes(datatype);
const isOpaque = (datatype) => ["any", "blob", "geom_wkb", "geom_wkt"].includes(datatype) || (datatype.startsWith("string_") && !isText(datatype));

function floatOf(bits) {
  const view = new DataView(new ArrayBuffer(8));
  if (bits.length === 10) {
    view.setUint32(0, Number(bits));
    return view.getFloat32(0);
  }
  view.setBigUint64(0, BigInt(bits));
  return view.getFloat64(0);
}

/** Converts a coordinate of `expected.json`. */
function coordinate(datatype, value) {
  if (value !== null && typeof value === "object" && "hex" in value) return bytesOf(value.hex);
  if (typeof value !== "string" || isText(datatype)) return value;
  return isFloat(datatype) ? floatOf(value) : BigInt(value);
}

/** Converts a cell to the form of `expected.json`, with text for numbers. */
function cellOf(column, row, utf8) {
  if (column.validity?.[row] === 0) return null;
  const { datatype, cellValNum, offsets } = column;
  const values = column.raw();
  const number = cellValNum === "var" ? 1 : cellValNum;
  const [start, end] = offsets ? [Number(offsets[row]), Number(offsets[row + 1])] : [row * number, (row + 1) * number];
  const bytes = () => new Uint8Array(values.buffer, values.byteOffset + start * values.BYTES_PER_ELEMENT, (end - start) * values.BYTES_PER_ELEMENT).slice();
  if (isOpaque(datatype)) return { hex: hex(bytes()) };
  if (isText(datatype)) {
    try {
      return utf8.decode(bytes());
    } catch {
      return { hex: hex(bytes()) };
    }
  }
  const one = (place) => {
    if (!isFloat(datatype)) return String(values[place]);
    return `0x${hex(new Uint8Array(values.slice(place, place + 1).buffer).reverse())}`;
  };
  return cellValNum === 1 ? one(start) : Array.from({ length: end - start }, (_, place) => one(start + place));
}

const shown = (value) => JSON.stringify(value, (_, inner) => (typeof inner === "number" ? String(inner) : inner));

function check(condition, what) {
  if (!condition) throw new Error(what);
}

/** Returns `true` if the package has other results by design. */
function differs({ schema }, query) {
  const fields = new Set([...schema.dimensions, ...schema.attributes].map(({ name }) => name));
  // Labels of selected cells instead of the label array, and no timestamps of cells.
  if (query.columns.some(({ name }) => !fields.has(name))) return true;
  // The reference library also returns the cells outside of the current domain.
  return schema.arrayType === "dense" && schema.currentDomain !== null && !query.ranges;
}

async function compareQuery(tdb, source, expected, query, log) {
  const options = keyOptions(expected);
  // The end of time exceeds the integers of JavaScript.
  if (query.timestamps) options.between = query.timestamps.map((time) => Math.min(Number(time), Number.MAX_SAFE_INTEGER));
  const array = await tdb.openArray(source, options);
  if (differs(array, query)) {
    log.skipped += 1;
    return;
  }
  const ranges = {};
  for (const { dimension, ranges: list } of query.ranges ?? []) {
    const { datatype } = array.schema.dimensions.find(({ name }) => name === dimension);
    ranges[dimension] = list.map((ends) => ends.map((end) => coordinate(datatype, end)));
  }
  const order = query.layout === "col-major" ? "column-major" : query.layout;
  const columns = query.columns.map(({ name }) => name);
  const table = await array.read({ columns, ranges, order });
  check(table.rows === query.cells, `${table.rows} cells, expected ${query.cells}`);
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const row = (cell) => (_, row) => shown(query.columns.map((column, place) => cell(column, place, row)));
  let found = Array.from({ length: table.rows }, row((_, place, row) => cellOf(table.columns[place], row, utf8)));
  let wanted = Array.from({ length: query.cells }, row((column, _, row) => column.values[row]));
  if (query.order === "any") [found, wanted] = [found.sort(), wanted.sort()];
  const place = found.findIndex((row, place) => row !== wanted[place]);
  check(place < 0, `cell ${place}: found ${found[place]}, expected ${wanted[place]}`);
  log.cells += table.rows;
  log.queries += 1;
  for (const column of table.columns) for (let row = 0; row < Math.min(table.rows, 3); row++) column.get(row);
  table.free();
  array.close();
}

/** The reference library repeats the cells of overlapping ranges in dense arrays. */
function overlaps(query) {
  return (query.ranges ?? []).some(({ ranges }) => {
    const sorted = ranges.filter(([first]) => typeof first === "number").sort((a, b) => a[0] - b[0]);
    return sorted.some(([first], place) => place > 0 && first <= sorted[place - 1][1]);
  });
}

/** Compares all queries of an array. Returns the problems. */
export async function compareArray(tdb, { name, source, expected }, log) {
  const problems = [];
  for (const query of expected.queries) {
    if (overlaps(query)) continue;
    try {
      await compareQuery(tdb, source, expected, query, log);
    } catch (error) {
      problems.push(`${name}, ${query.name}: ${error instanceof tdb.TdbError ? `${error.category}: ${error.message}` : error.stack}`);
    }
  }
  return problems;
}

export async function compareGroup(tdb, { source, expected }) {
  const group = await tdb.openGroup(source, keyOptions(expected));
  const sorted = (list) => JSON.stringify(list.map((item) => JSON.stringify(item)).sort());
  const found = sorted(group.members.map(({ name, type, uri }) => [name, type, uri]));
  const wanted = sorted(expected.members.map(({ name, kind, uri }) => [name, kind, uri]));
  check(found === wanted, `members: found ${found}, expected ${wanted}`);
  const keys = sorted(expected.metadata.map(({ key }) => key));
  check(sorted(Object.keys(group.metadata)) === keys, `metadata: expected ${keys}`);
  group.close();
}

/** Deterministic random numbers. */
function random(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Returns damaged bytes, or `null` for a lost file. */
function damage(bytes, next) {
  const copy = bytes.slice();
  const place = next(Math.max(copy.length, 1));
  switch (next(7)) {
    case 0:
      return null;
    case 1:
      return copy.slice(0, place);
    case 2:
      copy.fill(0xff, place, place + 8);
      return copy;
    case 3:
      copy.fill(0, place, place + 1 + next(16));
      return copy;
    case 4:
      return new Uint8Array([...copy.slice(0, place), ...Array.from({ length: 1 + next(9) }, () => next(256)), ...copy.slice(place)]);
    default:
      for (let changes = 1 + next(3); changes > 0; changes--) copy[next(Math.max(copy.length, 1))] = next(256);
      return copy;
  }
}

/** A source with a damaged file. */
function damaged(tdb, source, path, bytes) {
  const place = path.lastIndexOf("/");
  const [folder, name] = [path.slice(0, Math.max(place, 0)), path.slice(place + 1)];
  return {
    name: source.name,
    async list(listed) {
      const entries = await source.list(listed);
      if (listed !== folder) return entries;
      const changed = (entry) => (entry.name === name ? { ...entry, size: bytes?.length } : entry);
      return entries.filter((entry) => bytes !== null || entry.name !== name).map(changed);
    },
    async read(read, start, end) {
      if (read !== path) return source.read(read, start, end);
      if (bytes === null) throw new tdb.GoneError(path);
      return bytes.slice(start, end);
    },
  };
}

/** Reads an array with damage to single files. Only typed errors may occur, and never a trap. */
export async function readDamaged(tdb, { name, source, expected, files }, cases, seed, log) {
  const next = random(seed);
  for (let round = 0; round < cases; round++) {
    const path = files[next(files.length)];
    const size = (await source.list(path.slice(0, Math.max(path.lastIndexOf("/"), 0)))).find((entry) => path.endsWith(entry.name)).size;
    const bytes = damage(await source.read(path, 0, size), next);
    try {
      const array = await tdb.openArray(damaged(tdb, source, path, bytes), keyOptions(expected));
      await array.fragments();
      (await array.read({ order: round % 2 ? "row-major" : "global" })).free();
      await array.aggregate({}, [{ op: "count" }]);
      array.close();
      log.sound += 1;
    } catch (error) {
      const isTyped = error instanceof tdb.TdbError && error.category !== "internal";
      if (!isTyped) throw new Error(`${name}, case ${round}, ${path}: ${error.stack}`);
      log.failed += 1;
    }
  }
}
