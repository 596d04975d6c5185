/** The stops of the time slider: the times at which fragments were written. */

import type { Fragment } from "./protocol";

/** Returns the end times of fragments, sorted and distinct. */
export function timeStops(fragments: Pick<Fragment, "timestamps">[]): number[] {
  return [...new Set(fragments.map((fragment) => Number(fragment.timestamps[1])))].sort((a, b) => a - b);
}

/** Returns the slider position of a time. The position after the last stop means the newest state. */
export function stopOf(stops: number[], at: number | null): number {
  if (at === null) {
    return stops.length;
  }
  let index = stops.length;
  while (index > 0 && stops[index - 1]! > at) {
    index -= 1;
  }
  return Math.max(0, index - 1);
}

/** Returns the time of a slider position, or `null` for the newest state. */
export function timeOf(stops: number[], position: number): number | null {
  return stops[position] ?? null;
}

/** Returns the fragments that a reader sees at a time. */
export function isVisible(fragment: Pick<Fragment, "timestamps">, at: number | null): boolean {
  return at === null || Number(fragment.timestamps[1]) <= at;
}
