import { guarded, memory, failed } from "./engine.js";
import { TdbError } from "./errors.js";
import type { Scalar, TypedArray } from "./types.js";
import type { Table as NativeTable } from "./wasm/tdb_wasm.js";

type Values = TypedArray | BigInt64Array | BigUint64Array;
type Constructor = new (buffer: ArrayBuffer, start: number, length: number) => Values;

const CONSTRUCTORS: Record<string, Constructor> = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
  string_utf16: Uint16Array,
  string_ucs2: Uint16Array,
  string_utf32: Uint32Array,
  string_ucs4: Uint32Array,
};

function constructorOf(datatype: string): Constructor {
  const known = CONSTRUCTORS[datatype];
  if (known !== undefined) return known;
  return datatype.startsWith("datetime_") || datatype.startsWith("time_") ? BigInt64Array : Uint8Array;
}

const SIZES: [string, number][] = [["16", 2], ["ucs2", 2], ["32", 4], ["ucs4", 4], ["64", 8], ["datetime_", 8], ["time_", 8]];

function sizeOf(datatype: string): number {
  return SIZES.find(([part]) => datatype.includes(part))?.[1] ?? 1;
}

interface Description {
  name: string;
  datatype: string;
  cellValNum: number | "var";
  enumeration: string | null;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
const utf16 = new TextDecoder("utf-16le");

/** Cells of a result. */
export class Table {
  readonly rows: number;
  readonly columns: Column[];
  /** The lengths of the dimensions, for a dense read in row-major or column-major order without condition and limit. */
  readonly shape: number[] | null;
  private native: NativeTable | null;

  /** @internal */
  constructor(native: NativeTable, shape: number[] | null, enumerations: Map<string, Scalar[]>) {
    this.native = native;
    this.rows = native.rows();
    this.shape = shape;
    const columns = JSON.parse(native.columns()) as Description[];
    const values = (column: Description) => (column.enumeration ? enumerations.get(column.enumeration) : undefined);
    this.columns = columns.map((column, place) => new Column(() => this.open(), place, this.rows, column, values(column)));
  }

  private open(): NativeTable {
    if (this.native === null) throw new TdbError("usage", "the table is freed");
    return this.native;
  }

  column(name: string): Column {
    const column = this.columns.find((column) => column.name === name);
    if (column !== undefined) return column;
    const known = this.columns.map((column) => column.name).join(", ");
    throw new TdbError("usage", `unknown column ${JSON.stringify(name)}; the table has ${known}`, { field: name });
  }

  /** Returns the cells as an Arrow IPC stream. */
  toArrow(): Uint8Array {
    try {
      return guarded(() => this.open().arrow());
    } catch (error) {
      if (typeof error === "string") throw failed(JSON.parse(error));
      throw error;
    }
  }

  /** Frees the memory of the cells. The garbage collector also frees it, but later. */
  free(): void {
    this.native?.free();
    this.native = null;
  }
}

/** The cells of a column. */
export class Column {
  readonly name: string;
  readonly datatype: string;
  readonly cellValNum: number | "var";
  readonly enumeration: string | null;
  private readonly open: () => NativeTable;
  private readonly place: number;
  private readonly rows: number;
  private readonly enumerated: Scalar[] | undefined;
  private readonly isText: boolean;
  private readonly isOpaque: boolean;
  private addresses: Uint32Array | undefined;
  private buffer: ArrayBuffer | undefined;
  private cachedValues: Values | undefined;
  private cachedOffsets: BigUint64Array | undefined;
  private cachedValidity: Uint8Array | undefined;

  /** @internal */
  constructor(open: () => NativeTable, place: number, rows: number, column: Description, enumerated: Scalar[] | undefined) {
    this.open = open;
    this.place = place;
    this.rows = rows;
    this.name = column.name;
    this.datatype = column.datatype;
    this.cellValNum = column.cellValNum;
    this.enumeration = column.enumeration;
    this.enumerated = enumerated;
    this.isText = column.datatype.startsWith("string_") || column.datatype === "char";
    this.isOpaque = ["blob", "any", "geom_wkb", "geom_wkt"].includes(column.datatype);
  }

  /** Returns the address and the length in bytes of the values (0), the offsets (1) or the validity (2). */
  private part(part: 0 | 1 | 2): [address: number, length: number] {
    const native = this.open();
    this.addresses ??= native.buffers(this.place);
    if (this.buffer !== memory()) {
      // The memory has grown, which detaches all views.
      this.buffer = memory();
      this.cachedValues = this.cachedOffsets = undefined;
    }
    return [this.addresses[2 * part] ?? 0, this.addresses[2 * part + 1] ?? 0];
  }

  /** The values of all cells, also of strings. */
  private raw(): Values {
    const [address, length] = this.part(0);
    return (this.cachedValues ??= new (constructorOf(this.datatype))(memory(), length === 0 ? 0 : address, length / sizeOf(this.datatype)));
  }

  /**
   * The values as a view of the WebAssembly memory: copy it with `slice` to keep it beyond the next
   * call of the package. `null` for strings. Cells of an enumeration are positions.
   */
  get values(): Values | null {
    return this.isText ? null : this.raw();
  }

  /** For cells of variable length: the first value of each cell, and the number of all values. A view. */
  get offsets(): BigUint64Array | null {
    const [address, length] = this.part(1);
    if (address === 0) return null;
    return (this.cachedOffsets ??= new BigUint64Array(memory(), address, length / 8));
  }

  /** For nullable columns: a byte per cell, 1 for valid cells. A copy. */
  get validity(): Uint8Array | null {
    const [address, length] = this.part(2);
    if (address === 0) return null;
    if (this.cachedValidity === undefined) {
      const bits = new Uint8Array(memory(), length === 0 ? 0 : address, length);
      this.cachedValidity = Uint8Array.from({ length: this.rows }, (_, row) => ((bits[row >> 3] ?? 0) >> (row & 7)) & 1);
    }
    return this.cachedValidity;
  }

  /** Returns a cell: text, a number, or a list of numbers. `null` for a null cell. */
  get(row: number): Scalar | Scalar[] {
    if (!(Number.isInteger(row) && row >= 0 && row < this.rows)) {
      throw new TdbError("usage", `row ${row} of ${this.rows}`, { field: this.name });
    }
    if (this.validity?.[row] === 0) return null;
    const values = this.raw();
    const { offsets } = this;
    const number = this.cellValNum === "var" ? 1 : this.cellValNum;
    const start = offsets ? Number(offsets[row]) : row * number;
    const end = offsets ? Number(offsets[row + 1]) : start + number;
    if (this.enumerated) {
      const place = Number(values[start]);
      return this.enumerated[place] ?? null;
    }
    if (this.isText) return text(values, start, end);
    if (this.isOpaque) return (values as Uint8Array).slice(start, end);
    const isBool = this.datatype === "bool";
    const value = (place: number): Scalar => {
      const found = values[place] ?? null;
      return isBool ? found !== 0 : found;
    };
    if (this.cellValNum === 1) return value(start);
    return Array.from({ length: end - start }, (_, place) => value(start + place));
  }
}

/** Decodes text. Bytes that are no UTF-8 stay bytes. */
function text(values: Values, start: number, end: number): string | Uint8Array {
  // A view of shared or moved memory cannot be decoded everywhere.
  const units = values.slice(start, end);
  if (units instanceof Uint16Array) return utf16.decode(new Uint8Array(units.buffer));
  if (units instanceof Uint32Array) {
    return Array.from(units, (unit) => (unit <= 0x10ffff ? String.fromCodePoint(unit) : "\ufffd")).join("");
  }
  const bytes = new Uint8Array(units.buffer as ArrayBuffer);
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes;
  }
}
