import { useEffect, useRef, useState } from "preact/hooks";
import { colorMap, MAP_NAMES, type ValueRange } from "../colors";
import { shortNumber } from "../values";

/** Draws a color map as a bar. */
export function ColorBar({ map }: { map: string | null }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context) {
      return;
    }
    const lut = colorMap(map);
    const image = context.createImageData(256, 1);
    for (let index = 0; index < 256; index++) {
      image.data.set([lut[index * 3]!, lut[index * 3 + 1]!, lut[index * 3 + 2]!, 255], index * 4);
    }
    context.putImageData(image, 0, 0);
  }, [map]);
  return (
    <canvas
      ref={canvas}
      class="color-bar"
      width={256}
      height={1}
      role="img"
      aria-label="Colors from low to high values"
    />
  );
}

interface Props {
  map: string | null;
  range: ValueRange | null;
  /** `true` if a person chose the range. */
  isFixed: boolean;
  title: string;
  onMap(map: string): void;
  onRange: ((range: [number, number] | null) => void) | null;
}

/** Shows the color map and its range. Both can be changed. */
export function Legend({ map, range, isFixed, title, onMap, onRange }: Props) {
  return (
    <fieldset class="legend">
      <legend>{title}</legend>
      <ColorBar map={map} />
      <div class="legend-ends">
        <span>{range ? shortNumber(range.low) : "–"}</span>
        <span>{range ? shortNumber(range.high) : "–"}</span>
      </div>
      <label>
        Colors
        <select value={map ?? "viridis"} onChange={(event) => onMap(event.currentTarget.value)}>
          {MAP_NAMES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {onRange && (
        <div class="pair">
          <NumberField label="From" value={range?.low ?? 0} onChange={(low) => onRange([low, range?.high ?? low])} />
          <NumberField label="To" value={range?.high ?? 0} onChange={(high) => onRange([range?.low ?? high, high])} />
        </div>
      )}
      {onRange && (
        <button type="button" class="small" disabled={!isFixed} onClick={() => onRange(null)}>
          Range of the values in view
        </button>
      )}
    </fieldset>
  );
}

function NumberField({ label, value, onChange }: { label: string; value: number; onChange(value: number): void }) {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => setText(null), [value]);
  return (
    <label>
      {label}
      <input
        type="text"
        inputMode="decimal"
        class="mono"
        value={text ?? String(Number(value.toPrecision(7)))}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => {
          const next = Number(event.currentTarget.value);
          if (event.currentTarget.value.trim() !== "" && Number.isFinite(next)) {
            onChange(next);
          } else {
            setText(null);
          }
        }}
      />
    </label>
  );
}
