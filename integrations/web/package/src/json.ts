// Values that JSON lacks, as objects with the single key `$`: see `value.rs` of the crate `tdb-wasm`.

function revive(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const tagged = (value as { $?: unknown }).$;
  if (typeof tagged !== "string") return value;
  const text = tagged.slice(1);
  switch (tagged[0]) {
    case "i":
      return BigInt(text);
    case "b":
      return Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
    default:
      return text === "inf" ? Infinity : text === "-inf" ? -Infinity : NaN;
  }
}

function replace(this: Record<string, unknown>, key: string, value: unknown): unknown {
  // `value` is already converted if it has a method `toJSON`, such as a date.
  const original = this[key];
  if (typeof original === "bigint") return { $: `i${original}` };
  if (original instanceof Uint8Array) {
    return { $: `b${Array.from(original, (byte) => byte.toString(16).padStart(2, "0")).join("")}` };
  }
  if (typeof original === "number" && !Number.isFinite(original)) {
    return { $: `f${Number.isNaN(original) ? "NaN" : original > 0 ? "inf" : "-inf"}` };
  }
  return value;
}

export function parse(text: string): unknown {
  return JSON.parse(text, revive);
}

export function stringify(value: unknown): string {
  return JSON.stringify(value, replace);
}
