/** The visible rows of a table that may be higher than a browser allows. */

/** Browsers clamp heights near 17 or 33 million pixels. */
export const MAX_HEIGHT = 8_000_000;

export interface Visible {
  /** First row to draw. */
  first: number;
  /** Number of rows to draw. */
  count: number;
  /** Distance of the first drawn row from the top of the visible part, in pixels. */
  offset: number;
}

/** Returns the height of the scrolled element. */
export function scrollHeight(rows: number, rowHeight: number, viewHeight: number): number {
  return Math.max(Math.min(rows * rowHeight, MAX_HEIGHT), Math.min(rows * rowHeight, viewHeight));
}

/** Returns the rows to draw at a scroll position. Long tables scroll by the fraction of their height. */
export function visibleRows(rows: number, rowHeight: number, viewHeight: number, scrollTop: number): Visible {
  const exact = topRow(rows, rowHeight, viewHeight, scrollTop);
  const first = Math.max(0, Math.min(Math.floor(exact), rows - 1));
  const count = Math.max(0, Math.min(Math.ceil(viewHeight / rowHeight) + 1, rows - first));
  return { first, count, offset: (first - exact) * rowHeight };
}

function topRow(rows: number, rowHeight: number, viewHeight: number, scrollTop: number): number {
  const height = rows * rowHeight;
  if (height <= MAX_HEIGHT) {
    return scrollTop / rowHeight;
  }
  const fraction = Math.min(1, scrollTop / (MAX_HEIGHT - viewHeight));
  return (fraction * (height - viewHeight)) / rowHeight;
}

/** Returns the scroll position that shows a row at the top. */
export function scrollTopOf(row: number, rows: number, rowHeight: number, viewHeight: number): number {
  const height = rows * rowHeight;
  if (height <= MAX_HEIGHT) {
    return row * rowHeight;
  }
  return Math.min(1, (row * rowHeight) / (height - viewHeight)) * (MAX_HEIGHT - viewHeight);
}

/** Returns the pages that hold the rows from `first` on. */
export function pagesOf(first: number, count: number, pageSize: number): number[] {
  if (count <= 0) {
    return [];
  }
  const pages = [];
  for (let page = Math.floor(first / pageSize); page <= Math.floor((first + count - 1) / pageSize); page++) {
    pages.push(page);
  }
  return pages;
}
