/** Controls of the dimensions that a plot does not show. */

import { useEffect, useState } from "preact/hooks";
import { type Axis, coordinateText, offsetOf, parseCoordinate } from "../dimensions";
import { countText } from "../values";

/** Returns the offset that a slice chooses. The first coordinate is the default. */
export function sliceOffset(axis: Axis, text: string | undefined): number {
  if (!text) {
    return 0;
  }
  try {
    const offset = offsetOf(axis, parseCoordinate(axis, text.split("..")[0]!));
    return offset >= 0 && offset < axis.size ? offset : 0;
  } catch {
    return 0;
  }
}

interface SliderProps {
  axis: Axis;
  text: string | undefined;
  onChange(text: string): void;
}

/** Chooses one coordinate of a dimension. */
export function SliceSlider({ axis, text, onChange }: SliderProps) {
  const offset = sliceOffset(axis, text);
  const [typed, setTyped] = useState<string | null>(null);
  const [error, setError] = useState("");
  useEffect(() => setTyped(null), [text]);
  const shown = coordinateText(axis, offset);
  const commit = (value: string) => {
    try {
      const next = offsetOf(axis, parseCoordinate(axis, value));
      if (next < 0 || next >= axis.size) {
        throw new Error(`${axis.name}: expected ${coordinateText(axis, 0)} to ${coordinateText(axis, axis.size - 1)}`);
      }
      setError("");
      onChange(coordinateText(axis, next));
    } catch (error) {
      setError(error instanceof Error ? error.message : String(error));
    }
  };
  const id = `slice-${axis.name}`;
  return (
    <div class="slice">
      <label for={id}>
        {axis.name} <span class="soft">of {countText(axis.size)}</span>
      </label>
      <input
        type="range"
        aria-label={`${axis.name}, slider`}
        min={0}
        max={axis.size - 1}
        value={offset}
        aria-valuetext={shown}
        onInput={(event) => onChange(coordinateText(axis, Number(event.currentTarget.value)))}
      />
      <input
        id={id}
        type="text"
        class="mono"
        value={typed ?? shown}
        aria-invalid={error !== ""}
        aria-describedby={`${id}-error`}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => commit(event.currentTarget.value)}
      />
      <span id={`${id}-error`} class="field-error" role="alert">
        {error}
      </span>
    </div>
  );
}

interface RangeProps {
  axis: Axis;
  text: string;
  error: string | null;
  onChange(text: string): void;
}

/** Chooses a range of a dimension, as text. */
export function RangeField({ axis, text, error, onChange }: RangeProps) {
  const id = `range-${axis.name}`;
  const end = (value: Axis["low"]) =>
    value === null ? "" : axis.kind === "string" ? String(value) : coordinateText({ ...axis, low: value }, 0);
  return (
    <div class="slice">
      <label for={id}>{axis.name}</label>
      <input
        id={id}
        type="text"
        class="mono"
        placeholder={`${end(axis.low)}..${end(axis.high)}`}
        value={text}
        aria-invalid={error !== null}
        aria-describedby={`${id}-error`}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <span id={`${id}-error`} class="field-error" role="alert">
        {error}
      </span>
    </div>
  );
}
