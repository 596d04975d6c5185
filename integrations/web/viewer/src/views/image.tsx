/** A picture of RGB or of channels, at the level that suits the zoom. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { type Channel, channelColor, paintChannels, paintRgb, rangeOf } from "../colors";
import { coordinateText } from "../dimensions";
import { useSettled, useTask } from "../hooks";
import { imageLayout, levelFor } from "../image-layout";
import type { Window } from "../link";
import { Empty, ErrorBox } from "../parts/messages";
import { Plot, type Position, type Screen } from "../parts/plot";
import { SliceSlider, sliceOffset } from "../parts/slices";
import type { Plane, Raster, RasterQuery } from "../protocol";
import { toCanvas } from "../raster-canvas";
import { store, useStore } from "../store";
import { countText, scalarText, shortNumber } from "../values";
import { toCoordinates, toOffsets } from "../viewport";
import { client } from "../worker-client";
import type { ArrayData } from "./array";
import { span } from "./heatmap";

interface Picture {
  level: number;
  raster: Raster;
}

export function ImageView({ levels }: { levels: ArrayData[] }) {
  const state = useStore();
  const layouts = useMemo(() => levels.map((data) => imageLayout(data.schema, data.axes, true)!), [levels]);
  const base = layouts[0]!;
  const { x, y } = base;
  const extent: Window = { x0: 0, x1: x.size, y0: 0, y1: y.size };
  const chosen = state.window && toOffsets(state.window, x, y);
  const [screen, setScreen] = useState<Screen | null>(null);
  const hasRgb = base.colors !== null;
  const settings = parseChannels(state.channels, base.planes);
  const isColor = hasRgb && !settings.asChannels;

  const shown = screen?.window ?? extent;
  const ratio = typeof devicePixelRatio === "number" ? devicePixelRatio : 1;
  const cellsPerPixel = screen ? (shown.x1 - shown.x0) / screen.width / ratio : 1;
  const automatic = levelFor(
    layouts.map(({ x }) => x.size),
    cellsPerPixel,
  );
  const level = state.level !== null && state.level < levels.length ? state.level : automatic;
  const layout = layouts[level]!;
  const data = levels[level]!;
  const scaleX = x.size / layout.x.size;
  const scaleY = y.size / layout.y.size;
  const fixed = Object.fromEntries(
    layout.others.map((axis) => [axis.name, sliceOffset(axis, state.slices[axis.name])]),
  );
  const query: RasterQuery & { level: number } = useSettled(
    {
      level,
      attribute: layout.attribute,
      x: { dimension: layout.x.name, ...span(shown.x0 / scaleX, shown.x1 / scaleX, layout.x) },
      y: { dimension: layout.y.name, ...span(shown.y0 / scaleY, shown.y1 / scaleY, layout.y) },
      fixed,
      stack: layout.channel && { dimension: layout.channel.name, from: 0, to: layout.channel.size },
      interleave: layout.interleave,
      origin: {},
      maxWidth: screen ? 2048 : 0,
      maxHeight: 2048,
    },
    100,
  );
  const task = useTask<Picture>(
    query.maxWidth > 0
      ? async (signal) => {
          const target = levels[query.level]!;
          const origin = Object.fromEntries(target.axes.map(({ name, low }) => [name, low]));
          const params = { ref: target.target, query: { ...query, origin } };
          return {
            level: query.level,
            raster: await client.call("raster", params, `Reading level ${query.level}`, signal),
          };
        }
      : null,
    [JSON.stringify(query)],
  );
  const picture = task.data;
  const channels = useMemo(
    () => (picture ? channelsOf(picture.raster.planes, settings.hidden, base, levels[0]!) : []),
    [picture, state.channels],
  );
  const [canvas, setCanvas] = useState<HTMLCanvasElement | null>(null);
  useEffect(() => {
    if (picture) {
      const { width, height, planes } = picture.raster;
      setCanvas(
        toCanvas(width, height, (out) =>
          isColor && base.colors ? paintRgb(planes, base.colors, out) : paintChannels(planes, channels, out),
        ),
      );
    }
  }, [picture, channels, isColor]);
  if (base.x.size === 0) {
    return <Empty title="The image has no pixels" />;
  }

  const draw = (context: CanvasRenderingContext2D, screen: Screen) => {
    if (!picture || !canvas) {
      return;
    }
    const { raster } = picture;
    const own = layouts[picture.level]!;
    const sx = x.size / own.x.size;
    const sy = y.size / own.y.size;
    const left = screen.x(raster.x * sx);
    const top = screen.y(raster.y * sy);
    const right = screen.x((raster.x + raster.width * raster.step) * sx);
    const bottom = screen.y((raster.y + raster.height * raster.step) * sy);
    // Single cells stay sharp. A coarser picture is smoothed.
    context.imageSmoothingEnabled = (right - left) / raster.width < 3;
    context.imageSmoothingQuality = "high";
    context.drawImage(canvas, left, top, right - left, bottom - top);
  };
  const read = (position: Position): string | null => {
    if (position.x < 0 || position.y < 0 || position.x >= x.size || position.y >= y.size || !picture) {
      return null;
    }
    const { raster, level } = picture;
    const own = layouts[level]!;
    const px = Math.floor((position.x / x.size) * own.x.size);
    const py = Math.floor((position.y / y.size) * own.y.size);
    const column = Math.floor((px - raster.x) / raster.step);
    const row = Math.floor((py - raster.y) / raster.step);
    const place = `${own.x.name} ${coordinateText(own.x, px)}, ${own.y.name} ${coordinateText(own.y, py)}`;
    if (column < 0 || row < 0 || column >= raster.width || row >= raster.height) {
      return place;
    }
    const index = row * raster.width + column;
    const values = raster.planes.map((plane) =>
      plane.validity?.[index] === 0 ? "null" : scalarText(plane.values[index]!, own.datatype),
    );
    const colors = isColor ? base.colors : null;
    const named = colors
      ? ["red", "green", "blue", "alpha"].flatMap((name, index) => {
          const plane = colors[index] ?? null;
          return plane === null ? [] : [`${name} ${values[plane]}`];
        })
      : values;
    return `${place}: ${named.join(", ")}${levels.length > 1 ? ` (level ${level})` : ""}`;
  };
  const setChannels = (hidden: Set<number>, asChannels: boolean) =>
    store.replace({ channels: formatChannels(hidden, asChannels) });

  return (
    <div class="plot-layout">
      <div class="plot-main">
        {task.error ? <ErrorBox error={task.error} onRetry={task.retry} /> : null}
        {task.isCancelled && <ErrorBox error={null} onRetry={task.retry} />}
        <Plot
          label={`Image of ${base.attribute}, ${countText(x.size)} by ${countText(y.size)} pixels`}
          x={x}
          y={y}
          extent={extent}
          window={chosen}
          onWindow={(window) => store.replace({ window: window && toCoordinates(window, x, y) })}
          isSquare
          isDown
          isCells
          draw={draw}
          read={read}
          onScreen={setScreen}
        />
      </div>
      <aside class="plot-side" aria-label="Settings of the image">
        <fieldset>
          <legend>Level</legend>
          <p class="soft">
            {countText(layout.x.size)} × {countText(layout.y.size)} pixels, {data.name}
          </p>
          {levels.length > 1 && (
            <label>
              Resolution
              <select
                value={state.level === null ? "auto" : String(level)}
                onChange={(event) => {
                  const { value } = event.currentTarget;
                  store.replace({ level: value === "auto" ? null : Number(value) });
                }}
              >
                <option value="auto">by zoom (level {automatic})</option>
                {layouts.map((layout, index) => (
                  <option key={index} value={String(index)}>
                    level {index}: {countText(layout.x.size)} × {countText(layout.y.size)}
                  </option>
                ))}
              </select>
            </label>
          )}
        </fieldset>
        <fieldset>
          <legend>{isColor ? "Color" : "Channels"}</legend>
          {hasRgb && (
            <label class="check">
              <input
                type="checkbox"
                checked={!isColor}
                onChange={(event) => setChannels(settings.hidden, event.currentTarget.checked)}
              />
              Show as separate channels
            </label>
          )}
          {!isColor &&
            channels.map((channel, index) => (
              <label key={channel.name} class="check channel">
                <input
                  type="checkbox"
                  checked={channel.visible}
                  onChange={(event) => {
                    const hidden = new Set(settings.hidden);
                    if (event.currentTarget.checked) {
                      hidden.delete(index);
                    } else {
                      hidden.add(index);
                    }
                    setChannels(hidden, settings.asChannels);
                  }}
                />
                <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                  <rect width="10" height="10" rx="2" fill={channel.color} />
                </svg>
                {channel.name}
                <span class="soft">
                  {shortNumber(channel.range.low)}…{shortNumber(channel.range.high)}
                </span>
              </label>
            ))}
        </fieldset>
        {base.others.length > 0 && (
          <fieldset>
            <legend>Slice</legend>
            {base.others.map((axis) => (
              <SliceSlider
                key={axis.name}
                axis={axis}
                text={state.slices[axis.name]}
                onChange={(text) => store.replace({ slices: { ...store.state.slices, [axis.name]: text } })}
              />
            ))}
          </fieldset>
        )}
      </aside>
    </div>
  );
}

function channelsOf(
  planes: Plane[],
  hidden: Set<number>,
  layout: ReturnType<typeof imageLayout> & object,
  data: ArrayData,
): Channel[] {
  const names = channelNames(data);
  return planes.map((plane, index) => {
    const isByte = /^uint8$/i.test(layout.datatype);
    const range = isByte ? { low: 0, high: 255 } : (rangeOf(plane, 0.002) ?? { low: 0, high: 1 });
    const coordinate = layout.channel ? coordinateText(layout.channel, index) : String(index);
    return {
      name: names[index] ?? `channel ${coordinate}`,
      color: channelColor(index, planes.length),
      visible: !hidden.has(index),
      range,
    };
  });
}

/** Returns the names in the `channels` metadata, if it is a list of names. */
function channelNames(data: ArrayData): (string | undefined)[] {
  const value = data.metadata.channels?.value;
  if (typeof value !== "string") {
    return [];
  }
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list)
      ? list.map((entry) => (typeof entry === "string" ? entry : (entry as { name?: string } | null)?.name))
      : [];
  } catch {
    return [];
  }
}

/** The link holds hidden channels by number, and a `c` if colors are shown apart. */
export function parseChannels(text: string | null, planes: number): { hidden: Set<number>; asChannels: boolean } {
  const parts = (text ?? "").split(".").filter(Boolean);
  const hidden = new Set(parts.map(Number).filter((index) => Number.isInteger(index) && index >= 0 && index < planes));
  return { hidden, asChannels: parts.includes("c") };
}

export function formatChannels(hidden: Set<number>, asChannels: boolean): string | null {
  return [...(asChannels ? ["c"] : []), ...[...hidden].sort((a, b) => a - b)].join(".") || null;
}
