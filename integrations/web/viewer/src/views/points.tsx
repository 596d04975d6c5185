/** Points of a sparse array over two dimensions. Many points are drawn as density. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { colorMap, lutIndex, paintDensity, type ValueRange } from "../colors";
import { type Axis, coordinate, coordinateText, isNumeric, parseRange } from "../dimensions";
import { useSettled, useTask } from "../hooks";
import type { Window } from "../link";
import { Legend } from "../parts/legend";
import { ASK_BYTES, ErrorBox, LargeRead } from "../parts/messages";
import { Plot, type Position, type Screen } from "../parts/plot";
import { RangeField } from "../parts/slices";
import type { Points, PointsQuery, Ranges } from "../protocol";
import { toCanvas } from "../raster-canvas";
import { store, useStore } from "../store";
import { countText, plural, scalarText } from "../values";
import { toCoordinates, toOffsets } from "../viewport";
import { client } from "../worker-client";
import type { ArrayData } from "./array";

/** More points in view are drawn as density. */
const MAX_POINTS = 40_000;

interface Result {
  points: Points;
  query: PointsQuery;
}

export function PointsView({ data }: { data: ArrayData }) {
  const state = useStore();
  const usable = data.axes.filter(({ kind, low }) => kind !== "string" && low !== null);
  const x = usable.find(({ name }) => name === state.x) ?? defaultX(usable);
  const y = usable.find(({ name }) => name === state.y && name !== x.name) ?? usable.find((axis) => axis !== x)!;
  const others = data.axes.filter((axis) => axis !== x && axis !== y);
  const colors = data.schema.attributes.filter(isNumeric);
  const color = colors.find(({ name }) => name === state.attribute) ?? null;
  const extent = useMemo(() => extentOf(x, y), [x, y]);
  const chosen = state.window && toOffsets(state.window, x, y);
  const [screen, setScreen] = useState<{ width: number; height: number } | null>(null);
  const errors: Record<string, string> = {};
  const slices: Ranges = {};
  for (const axis of others) {
    try {
      const range = parseRange(axis, state.slices[axis.name] ?? "");
      if (range) {
        slices[axis.name] = [range];
      }
    } catch (error) {
      errors[axis.name] = error instanceof Error ? error.message : String(error);
    }
  }
  const [approved, setApproved] = useState(0);
  const view = useSettled(chosen ?? extent, 150);
  const bins = {
    width: Math.max(16, Math.round((screen?.width ?? 64) / 3)),
    height: Math.max(16, Math.round((screen?.height ?? 64) / 3)),
  };
  const key = [
    JSON.stringify(view),
    x.name,
    y.name,
    color?.name,
    state.where,
    JSON.stringify(state.slices),
    JSON.stringify(bins),
  ].join("\0");
  const task = useTask<Result | { bytes: number }>(
    screen
      ? async (signal) => {
          const ranges: Ranges = {
            ...slices,
            [x.name]: [visible(x, view.x0, view.x1)],
            [y.name]: [visible(y, view.y0, view.y1)],
          };
          const query: PointsQuery = {
            x: x.name,
            y: y.name,
            color: color?.name ?? null,
            ranges,
            where: state.where,
            origin: [x.low, y.low],
            view,
            bins,
            keep: MAX_POINTS,
          };
          const columns = [...new Set([x.name, y.name, ...(color ? [color.name] : [])])];
          const estimate = { ref: data.target, columns, ranges, where: state.where };
          const { bytes } = await client.call("estimate", estimate, "Estimating the read", signal);
          if (bytes > ASK_BYTES && bytes > approved) {
            return { bytes };
          }
          return { points: await client.call("points", { ref: data.target, query }, "Reading points", signal), query };
        }
      : null,
    [key, screen !== null, approved],
  );
  const result = task.data && "points" in task.data ? task.data : null;
  const question = task.data && "bytes" in task.data ? task.data.bytes : null;
  const points = result?.points ?? null;
  const isDense = points !== null && points.count > MAX_POINTS;
  const density = useMemo(() => {
    if (!result || !isDense) {
      return null;
    }
    let most = 0;
    const canvas = toCanvas(result.query.bins.width, result.query.bins.height, (out) => {
      most = paintDensity(result.points.bins, colorMap(state.map), out);
    });
    return { canvas, most };
  }, [result, isDense, state.map]);
  const found = useMemo(() => (points?.color ? finiteRange(points.color) : null), [points]);
  const range = state.range ? { low: state.range[0], high: state.range[1] } : found;
  const [where, setWhere] = useState(state.where);
  useEffect(() => setWhere(state.where), [state.where]);

  const draw = (context: CanvasRenderingContext2D, screen: Screen) => {
    if (!result || !points) {
      return;
    }
    if (density) {
      const { view } = result.query;
      context.imageSmoothingEnabled = false;
      context.save();
      // Row 0 of the bins is at the bottom of the plot.
      context.translate(screen.x(view.x0), screen.y(view.y0));
      context.scale(
        (screen.x(view.x1) - screen.x(view.x0)) / density.canvas.width,
        (screen.y(view.y1) - screen.y(view.y0)) / density.canvas.height,
      );
      context.drawImage(density.canvas, 0, 0);
      context.restore();
      return;
    }
    const lut = colorMap(state.map);
    const radius = points.count > 5000 ? 1.5 : points.count > 500 ? 2.5 : 4;
    const plain = getComputedStyle(context.canvas).getPropertyValue("--accent").trim();
    const half = (axis: Axis) => (axis.kind === "integer" ? 0.5 : 0);
    context.globalAlpha = points.count > 2000 ? 0.6 : 0.85;
    for (let index = 0; index < points.x.length; index++) {
      context.fillStyle = plain;
      const value = points.color?.[index];
      if (value !== undefined && range) {
        if (Number.isNaN(value)) {
          continue;
        }
        const at = lutIndex(value, range.low, range.high) * 3;
        context.fillStyle = `rgb(${lut[at]},${lut[at + 1]},${lut[at + 2]})`;
      }
      context.beginPath();
      context.arc(screen.x(points.x[index]! + half(x)), screen.y(points.y[index]! + half(y)), radius, 0, 2 * Math.PI);
      context.fill();
    }
    context.globalAlpha = 1;
  };
  const read = (position: Position): string | null => {
    if (!result || !points) {
      return null;
    }
    const { view, bins } = result.query;
    if (isDense) {
      const column = Math.floor(((position.x - view.x0) / (view.x1 - view.x0)) * bins.width);
      const row = Math.floor(((position.y - view.y0) / (view.y1 - view.y0)) * bins.height);
      const count = points.bins[row * bins.width + column];
      return count === undefined || column < 0 || column >= bins.width ? null : `${plural(count, "point")} in this bin`;
    }
    return nearest(position, points, view, x, y, color);
  };
  const choose = (which: "x" | "y", name: string) => {
    const [own, other] = which === "x" ? [x, y] : [y, x];
    const changed = name === other.name ? own.name : other.name;
    store.push(which === "x" ? { x: name, y: changed, window: null } : { y: name, x: changed, window: null });
  };

  return (
    <div class="plot-layout">
      <div class="plot-main">
        {task.error ? <ErrorBox error={task.error} onRetry={task.retry} /> : null}
        {task.isCancelled && <ErrorBox error={null} onRetry={task.retry} />}
        {question !== null && <LargeRead bytes={question} onRead={() => setApproved(question)} />}
        <Plot
          label={`Scatter plot of ${x.name} and ${y.name}`}
          x={x}
          y={y}
          extent={extent}
          window={chosen}
          onWindow={(window) => store.replace({ window: window && toCoordinates(window, x, y) })}
          isSquare={false}
          isDown={false}
          isCells={false}
          draw={draw}
          read={read}
          onScreen={({ width, height }) => {
            if (screen?.width !== width || screen.height !== height) {
              setScreen({ width, height });
            }
          }}
        />
        {/* The line always takes space, because the size of the plot decides what is read. */}
        <p class="soft plot-note" role="status">
          {points &&
            `${plural(points.count, "point")} in view${isDense ? `, drawn as density because they are more than ${countText(MAX_POINTS)}` : ""}.`}
        </p>
      </div>
      <aside class="plot-side" aria-label="Settings of the scatter plot">
        <fieldset>
          <legend>Axes</legend>
          <div class="pair">
            {(["x", "y"] as const).map((which) => (
              <label key={which}>
                {which === "x" ? "Across" : "Up"}
                <select
                  value={which === "x" ? x.name : y.name}
                  onChange={(event) => choose(which, event.currentTarget.value)}
                >
                  {usable.map(({ name }) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
            ))}
          </div>
          {colors.length > 0 && (
            <label>
              Color
              <select
                value={color?.name ?? ""}
                onChange={(event) => store.push({ attribute: event.currentTarget.value || null, range: null })}
              >
                <option value="">one color</option>
                {colors.map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
        </fieldset>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            store.push({ where: where.trim() });
          }}
        >
          <label>
            Filter
            <input
              type="text"
              class="mono"
              spellcheck={false}
              placeholder="qual > 30"
              value={where}
              onInput={(event) => setWhere(event.currentTarget.value)}
              onChange={() => store.push({ where: where.trim() })}
            />
          </label>
        </form>
        {others.length > 0 && (
          <fieldset>
            <legend>Ranges of other dimensions</legend>
            {others.map((axis) => (
              <RangeField
                key={axis.name}
                axis={axis}
                text={state.slices[axis.name] ?? ""}
                error={errors[axis.name] ?? null}
                onChange={(text) => store.push({ slices: { ...state.slices, [axis.name]: text } })}
              />
            ))}
          </fieldset>
        )}
        {(color || isDense) && (
          <Legend
            title={isDense ? "Points in a bin (log scale)" : (color?.name ?? "")}
            map={state.map}
            range={isDense ? { low: 1, high: density?.most ?? 1 } : range}
            isFixed={state.range !== null}
            onMap={(map) => store.replace({ map })}
            onRange={isDense ? null : (range) => store.replace({ range })}
          />
        )}
      </aside>
    </div>
  );
}

/** Returns the dimension that is drawn across: the first one, unless the names say otherwise. */
function defaultX(axes: Axis[]): Axis {
  return axes.find(({ name }) => /^(x|lon|long|longitude|easting)$/i.test(name)) ?? axes[0]!;
}

/** Returns all coordinates, with a margin of 2 %. */
function extentOf(x: Axis, y: Axis): Window {
  const side = (axis: Axis): [number, number] => {
    const length = axis.size || 1;
    return [-length * 0.02, length * 1.02];
  };
  const [x0, x1] = side(x);
  const [y0, y1] = side(y);
  return { x0, x1, y0, y1 };
}

/** Returns the coordinates in view. `null` is the end of the domain. */
function visible(axis: Axis, from: number, to: number): Ranges[string][number] {
  const last = axis.kind === "integer" ? axis.size - 1 : axis.size;
  const clamp = (value: number) => Math.max(0, Math.min(value, last));
  const [first, end] = axis.kind === "integer" ? [Math.floor(from), Math.ceil(to)] : [from, to];
  return [first <= 0 ? null : coordinate(axis, clamp(first)), end >= last ? null : coordinate(axis, clamp(end))];
}

function finiteRange(values: Float64Array): ValueRange | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (Number.isFinite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low <= high ? { low, high } : null;
}

function nearest(
  position: Position,
  points: Points,
  view: Window,
  x: Axis,
  y: Axis,
  color: { name: string; datatype: string } | null,
): string | null {
  const w = view.x1 - view.x0;
  const h = view.y1 - view.y0;
  const half = (axis: Axis) => (axis.kind === "integer" ? 0.5 : 0);
  let best = -1;
  let distance = 0.02 ** 2;
  for (let index = 0; index < points.x.length; index++) {
    const dx = (points.x[index]! + half(x) - position.x) / w;
    const dy = (points.y[index]! + half(y) - position.y) / h;
    const here = dx * dx + dy * dy;
    if (here < distance) {
      distance = here;
      best = index;
    }
  }
  if (best < 0) {
    return null;
  }
  const value = points.color?.[best];
  const text =
    value === undefined || !color
      ? ""
      : `: ${color.name} ${Number.isNaN(value) ? "null" : scalarText(value, "float32")}`;
  return `${x.name} ${coordinateText(x, points.x[best]!)}, ${y.name} ${coordinateText(y, points.y[best]!)}${text}`;
}
