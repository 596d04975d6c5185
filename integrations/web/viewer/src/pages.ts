/** Loaded pages of a table. */

import type { Cell, Rows } from "./protocol";

/** Pages to keep. The oldest go first. */
const MAX_PAGES = 500;

export class Pages {
  readonly #pages = new Map<number, Rows>();
  readonly #size: number;
  #end: number | null = null;
  #reached = 0;
  /** Grows with each page. */
  version = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get isEmpty(): boolean {
    return this.#pages.size === 0;
  }

  get loadedPages(): number {
    return this.#pages.size;
  }

  /** Number of rows, once a page was not full. */
  get end(): number | null {
    return this.#end;
  }

  /** Rows that are known to exist, and one more page if there may be one. */
  get reached(): number {
    return this.#reached;
  }

  has(page: number): boolean {
    return this.#pages.has(page);
  }

  add(page: number, rows: Rows): void {
    this.#pages.set(page, rows);
    this.version += 1;
    const end = page * this.#size + rows.rows;
    if (rows.rows < this.#size && (rows.rows > 0 || page === 0 || this.#pages.has(page - 1))) {
      this.#end = this.#end === null ? end : Math.min(this.#end, end);
    }
    this.#reached = Math.max(this.#reached, rows.rows < this.#size ? end : end + this.#size);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) {
      this.#pages.delete(oldest);
    }
  }

  /** Returns a cell, or `undefined` if its page is not loaded. */
  cell(row: number, column: number): Cell | undefined {
    const page = this.#pages.get(Math.floor(row / this.#size));
    return page?.columns[column]?.cells[row % this.#size];
  }

  datatype(column: number): string {
    for (const page of this.#pages.values()) {
      return page.columns[column]?.datatype ?? "";
    }
    return "";
  }

  /** Returns the numbers of all loaded rows, in order. */
  loaded(): number[] {
    const rows: number[] = [];
    for (const page of [...this.#pages.keys()].sort((a, b) => a - b)) {
      const count = this.#pages.get(page)!.rows;
      for (let index = 0; index < count; index++) {
        rows.push(page * this.#size + index);
      }
    }
    return rows;
  }
}

/** Compares cells of one column. Nulls and NaN come last. */
export function compareCells(a: Cell | undefined, b: Cell | undefined): number {
  const isLast = (cell: Cell | undefined) => cell === null || cell === undefined || Number.isNaN(cell);
  if (isLast(a) || isLast(b)) {
    return Number(isLast(a)) - Number(isLast(b));
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let index = 0; index < Math.min(a.length, b.length); index++) {
      const order = compareCells(a[index], b[index]);
      if (order !== 0) {
        return order;
      }
    }
    return a.length - b.length;
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return compareCells(Array.from(a), Array.from(b));
  }
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}
