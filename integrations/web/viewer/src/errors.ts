import type { Failure } from "./protocol";

/** A failure of the worker, with the fields of the package's errors. */
export class WorkerError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
    this.name = "WorkerError";
  }
}

/** Error text and the next step for a person. */
export interface Advice {
  title: string;
  message: string;
  hint: string | null;
  /** `true` if an encryption key may help. */
  needsKey: boolean;
  /** `true` if the reader has stopped, and starts again with the page. */
  needsReload: boolean;
}

export function isAbort(error: unknown): boolean {
  if (error instanceof WorkerError) {
    return error.failure.category === "cancelled";
  }
  return error instanceof DOMException && error.name === "AbortError";
}

/** Titles by the category of the package's errors. The package adds hints for single causes. */
const TITLES: Record<string, [title: string, hint: string | null]> = {
  unavailable: ["The data cannot be read", "Check the address, and try again."],
  key: ["The array needs an encryption key", "Enter the key that the array was written with."],
  memory: ["The read needs more memory than allowed", "Select fewer columns, or a smaller range."],
  corrupt: ["A file is damaged", "Run `tdb verify` on the array, and copy the damaged file again."],
  unsupported: ["The viewer cannot read this array", null],
  usage: ["The input does not fit the array", null],
  internal: ["The reader stopped", "Reload the page."],
};

/** Returns the text that the page shows for an error. */
export function advice(error: unknown): Advice {
  const failure: Failure =
    error instanceof WorkerError
      ? error.failure
      : {
          category: "other",
          message: error instanceof Error ? error.message : String(error),
          path: null,
          field: null,
          hint: null,
        };
  const [title, hint] = TITLES[failure.category] ?? ["This step failed", null];
  const needsKey = failure.category === "key";
  const needsReload = failure.category === "internal";
  return { title, message: failure.message, hint: failure.hint ? sentence(failure.hint) : hint, needsKey, needsReload };
}

/** Returns a hint of the package, which has no capital and no full stop, as a sentence. */
function sentence(hint: string): string {
  return `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
}
