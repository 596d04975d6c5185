import { useLayoutEffect, useState } from "preact/hooks";
import type { Fragment } from "../protocol";
import { stopOf, timeOf, timeStops } from "../times";
import { timeText } from "../values";

interface Props {
  fragments: Fragment[];
  at: number | null;
  onChange(at: number | null): void;
}

/** Chooses a time of the array's history. The stops are the times of the fragments. */
export function TimeSlider({ fragments, at, onChange }: Props) {
  const stops = timeStops(fragments);
  const [position, setPosition] = useState(stopOf(stops, at));
  // A later effect would undo the next key.
  useLayoutEffect(() => setPosition(stopOf(stops, at)), [at, stops.length]);
  if (stops.length < 2 && at === null) {
    return null;
  }
  const time = timeOf(stops, position);
  const text = time === null ? "newest" : timeText(time);
  const commit = (next: number) => {
    const value = timeOf(stops, next);
    if (value !== at) {
      onChange(value);
    }
  };
  return (
    <div class="time">
      <label for="time">Time</label>
      <input
        id="time"
        type="range"
        min={0}
        max={stops.length}
        step={1}
        value={position}
        aria-valuetext={text}
        list="time-stops"
        onInput={(event) => setPosition(Number(event.currentTarget.value))}
        onChange={(event) => commit(Number(event.currentTarget.value))}
      />
      {stops.length <= 60 && (
        <datalist id="time-stops">
          {[...stops, 0].map((stop, index) => (
            <option key={stop} value={index} />
          ))}
        </datalist>
      )}
      <output for="time">{at !== null && stops.length === 0 ? timeText(at) : text}</output>
      {time !== null && (
        <span class="soft">
          {position + 1} of {stops.length} writes
        </span>
      )}
      {at !== null && (
        <button type="button" class="small" onClick={() => onChange(null)}>
          Newest
        </button>
      )}
    </div>
  );
}
