/** Cells as CSV (RFC 4180, lines end with `\n`), in the form of `tdb export`. */

import type { Cell, Scalar } from "./protocol";
import { cellText } from "./values";

/**
 * Returns one field.
 *
 * The text of strings is never changed: a leading `=` stays, so that the file reads back as the same
 * cells. Import the columns as text in a spreadsheet if the array comes from strangers.
 */
export function csvField(cell: Cell, datatype: string): string {
  if (cell === null) {
    return "";
  }
  const text = Array.isArray(cell) ? jsonText(cell, datatype) : cellText(cell, datatype);
  return text === "" || /[",\r\n]/.test(text) || /^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonText(cell: Scalar[], datatype: string): string {
  const parts = cell.map((value) => {
    if (value === null) {
      return "null";
    }
    const text = cellText(value, datatype);
    const isNumber = (typeof value === "number" && Number.isFinite(value)) || typeof value === "boolean";
    return isNumber || (typeof value === "bigint" && /^-?\d+$/.test(text)) ? text : JSON.stringify(text);
  });
  return `[${parts.join(",")}]`;
}

export function csvLine(fields: string[]): string {
  return `${fields.join(",")}\n`;
}

/** Returns the header. A name with a comma or a quote is quoted. */
export function csvHeader(names: string[]): string {
  return csvLine(names.map((name) => csvField(name, "string_utf8")));
}

/** Returns a file name from the path of an array. */
export function fileName(path: string, extension: string): string {
  const last = path.split("/").filter(Boolean).pop() ?? "";
  const safe = last.replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^\.+/, "");
  return `${safe || "cells"}.${extension}`;
}
