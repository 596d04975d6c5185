/** What a caller can do about an error. */
export type ErrorCategory =
  | "usage"
  | "corrupt"
  | "unsupported"
  | "key"
  | "unavailable"
  | "cancelled"
  | "memory"
  | "internal";

interface Fields {
  path?: string | null;
  field?: string | null;
  hint?: string | null;
  cause?: unknown;
}

/** An error of a read. */
export class TdbError extends Error {
  override readonly name = "TdbError";
  readonly category: ErrorCategory;
  /** The file or folder at fault. */
  readonly path: string | null;
  /** The column or dimension at fault. */
  readonly field: string | null;
  /** What to do, as an imperative. */
  readonly hint: string | null;

  constructor(category: ErrorCategory, message: string, fields: Fields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.category = category;
    this.path = fields.path ?? null;
    this.field = fields.field ?? null;
    this.hint = fields.hint ?? null;
  }
}

/** Throws if the caller has cancelled the operation. */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelled(signal.reason);
}

export function cancelled(cause?: unknown): TdbError {
  return new TdbError("cancelled", "cancelled", { cause });
}
