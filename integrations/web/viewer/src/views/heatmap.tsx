/** A heat map of two dimensions of a dense array. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { colorMap, paintPlane, rangeOf } from "../colors";
import { type Axis, coordinateText, isNumeric } from "../dimensions";
import { useSettled, useTask } from "../hooks";
import type { Window } from "../link";
import { Legend } from "../parts/legend";
import { ASK_BYTES, ErrorBox, LargeRead } from "../parts/messages";
import { Plot, type Position, type Screen } from "../parts/plot";
import { SliceSlider, sliceOffset } from "../parts/slices";
import type { Raster, RasterQuery } from "../protocol";
import { toCanvas } from "../raster-canvas";
import { store, useStore } from "../store";
import { countText, scalarText } from "../values";
import { toCoordinates, toOffsets } from "../viewport";
import { client } from "../worker-client";
import type { ArrayData } from "./array";

/** Rectangles below this number of cells are read without an estimate. */
const ASK_CELLS = 4 << 20;

export function HeatmapView({ data }: { data: ArrayData }) {
  const state = useStore();
  const usable = data.axes.filter(({ kind, size }) => kind === "integer" && size > 0);
  const attributes = data.schema.attributes.filter(isNumeric);
  const attribute = attributes.find(({ name }) => name === state.attribute) ?? attributes[0]!;
  const x = usable.find(({ name }) => name === state.x) ?? usable[usable.length - 1]!;
  const y =
    usable.find(({ name }) => name === state.y && name !== x.name) ?? usable.filter((axis) => axis !== x).pop()!;
  const others = data.axes.filter((axis) => axis !== x && axis !== y);
  const extent: Window = { x0: 0, x1: x.size, y0: 0, y1: y.size };
  const chosen = state.window && toOffsets(state.window, x, y);
  const [screen, setScreen] = useState<{ width: number; height: number } | null>(null);
  const [approved, setApproved] = useState(0);

  const fixed = Object.fromEntries(others.map((axis) => [axis.name, sliceOffset(axis, state.slices[axis.name])]));
  const window = chosen ?? extent;
  const query: RasterQuery = useSettled(
    {
      attribute: attribute.name,
      x: { dimension: x.name, ...span(window.x0, window.x1, x) },
      y: { dimension: y.name, ...span(window.y0, window.y1, y) },
      fixed,
      stack: null,
      interleave: 1,
      origin: {},
      maxWidth: screen ? Math.min(1024, Math.max(128, Math.round(screen.width))) : 0,
      maxHeight: screen ? Math.min(1024, Math.max(128, Math.round(screen.height))) : 0,
    },
    120,
  );
  const cells = (query.x.to - query.x.from) * (query.y.to - query.y.from);
  const full = { ...query, origin: Object.fromEntries(data.axes.map(({ name, low }) => [name, low])) };
  const key = `${JSON.stringify(query)}:${approved}`;
  const task = useTask<Raster | { bytes: number }>(
    query.maxWidth > 0
      ? async (signal) => {
          if (cells > ASK_CELLS && cells > approved) {
            const params = {
              ref: data.target,
              columns: [attribute.name],
              ranges: rangesOf(full, data.axes),
              where: "",
            };
            const { bytes } = await client.call("estimate", params, "Estimating the read", signal);
            if (bytes > ASK_BYTES) {
              return { bytes };
            }
          }
          return client.call("raster", { ref: data.target, query: full }, `Reading ${countText(cells)} cells`, signal);
        }
      : null,
    [key],
  );
  const raster = task.data && "planes" in task.data ? task.data : null;
  const question = task.data && "bytes" in task.data ? task.data.bytes : null;
  const plane = raster?.planes[0] ?? null;
  const found = useMemo(() => (plane ? rangeOf(plane) : null), [plane]);
  const range = state.range ? { low: state.range[0], high: state.range[1] } : found;
  const [picture, setPicture] = useState<HTMLCanvasElement | null>(null);
  useEffect(() => {
    if (raster && plane && range) {
      setPicture(toCanvas(raster.width, raster.height, (out) => paintPlane(plane, colorMap(state.map), range, out)));
    } else if (!task.isRunning) {
      setPicture(null);
    }
  }, [raster, state.map, range?.low, range?.high]);

  const draw = (context: CanvasRenderingContext2D, screen: Screen) => {
    if (raster && picture) {
      const { step } = raster;
      context.imageSmoothingEnabled = false;
      const left = screen.x(raster.x);
      const top = screen.y(raster.y);
      context.drawImage(
        picture,
        left,
        top,
        screen.x(raster.x + raster.width * step) - left,
        screen.y(raster.y + raster.height * step) - top,
      );
    }
  };
  const read = (position: Position): string | null => {
    const cx = Math.floor(position.x);
    const cy = Math.floor(position.y);
    if (cx < 0 || cy < 0 || cx >= x.size || cy >= y.size) {
      return null;
    }
    const place = `${x.name} ${coordinateText(x, cx)}, ${y.name} ${coordinateText(y, cy)}`;
    const column = raster ? Math.floor((cx - raster.x) / raster.step) : -1;
    const row = raster ? Math.floor((cy - raster.y) / raster.step) : -1;
    if (!raster || !plane || column < 0 || row < 0 || column >= raster.width || row >= raster.height) {
      return place;
    }
    const index = row * raster.width + column;
    if (plane.validity?.[index] === 0) {
      return `${place}: null`;
    }
    const value = scalarText(plane.values[index]!, raster.step === 1 ? attribute.datatype : "float32");
    return raster.step === 1
      ? `${place}: ${value}`
      : `${place}: mean of ${raster.step} × ${raster.step} cells ${value}`;
  };
  const choose = (which: "x" | "y", name: string) => {
    const other = which === "x" ? y : x;
    const own = which === "x" ? x : y;
    const isSwap = name === other.name;
    const changes =
      which === "x" ? { x: name, y: isSwap ? own.name : y.name } : { y: name, x: isSwap ? own.name : x.name };
    store.push({ ...changes, window: null });
  };

  return (
    <div class="plot-layout">
      <div class="plot-main">
        {task.error ? <ErrorBox error={task.error} onRetry={task.retry} /> : null}
        {task.isCancelled && <ErrorBox error={null} onRetry={task.retry} />}
        {question !== null && <LargeRead bytes={question} onRead={() => setApproved(cells)} />}
        <Plot
          label={`Heat map of ${attribute.name} over ${x.name} and ${y.name}`}
          x={x}
          y={y}
          extent={extent}
          window={chosen}
          onWindow={(window) => store.replace({ window: window && toCoordinates(window, x, y) })}
          isSquare={false}
          isDown
          isCells
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
          {raster &&
            raster.step > 1 &&
            `Each pixel is the mean of ${raster.step} × ${raster.step} cells. Zoom in for single cells.`}
        </p>
      </div>
      <aside class="plot-side" aria-label="Settings of the heat map">
        <fieldset>
          <legend>Axes</legend>
          {attributes.length > 1 && (
            <label>
              Attribute
              <select
                value={attribute.name}
                onChange={(event) => store.push({ attribute: event.currentTarget.value, range: null })}
              >
                {attributes.map(({ name }) => (
                  <option key={name} value={name}>
                    {name || "(unnamed)"}
                  </option>
                ))}
              </select>
            </label>
          )}
          <div class="pair">
            {(["x", "y"] as const).map((which) => (
              <label key={which}>
                {which === "x" ? "Across" : "Down"}
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
        </fieldset>
        {others.length > 0 && (
          <fieldset>
            <legend>Slice</legend>
            {others.map((axis) => (
              <SliceSlider
                key={axis.name}
                axis={axis}
                text={state.slices[axis.name]}
                onChange={(text) => store.replace({ slices: { ...store.state.slices, [axis.name]: text } })}
              />
            ))}
          </fieldset>
        )}
        <Legend
          title={attribute.name || "Value"}
          map={state.map}
          range={range}
          isFixed={state.range !== null}
          onMap={(map) => store.replace({ map })}
          onRange={(range) => store.replace({ range })}
        />
      </aside>
    </div>
  );
}

/** Returns the cells that a window touches. */
export function span(from: number, to: number, axis: Axis): { from: number; to: number } {
  const start = Math.max(0, Math.min(Math.floor(from), axis.size - 1));
  return { from: start, to: Math.max(start + 1, Math.min(Math.ceil(to), axis.size)) };
}

function rangesOf(query: RasterQuery, axes: Axis[]) {
  return Object.fromEntries(
    axes.map((axis) => {
      const { from, to } =
        axis.name === query.x.dimension
          ? query.x
          : axis.name === query.y.dimension
            ? query.y
            : { from: query.fixed[axis.name] ?? 0, to: (query.fixed[axis.name] ?? 0) + 1 };
      const at = (offset: number) =>
        typeof axis.low === "bigint" ? axis.low + BigInt(offset) : Number(axis.low) + offset;
      return [axis.name, [[at(from), at(to - 1)] as [number | bigint, number | bigint]]];
    }),
  );
}
