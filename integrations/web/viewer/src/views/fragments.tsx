/** Fragments over the domain, over time, and as a table. */

import { useState } from "preact/hooks";
import { type Axis, offsetOf } from "../dimensions";
import { Empty } from "../parts/messages";
import type { Fragment } from "../protocol";
import { axisTicks } from "../ticks";
import { bytesText, countText, plural, scalarText, timeText } from "../values";
import type { ArrayData } from "./array";

/** Pictures with more shapes slow the page down. The table lists all fragments. */
const MAX_DRAWN = 1500;
const MAX_LISTED = 2000;

export function FragmentsView({ data }: { data: ArrayData }) {
  const { fragments } = data;
  const [chosen, setChosen] = useState<string | null>(null);
  if (fragments.length === 0) {
    return <Empty title="No fragments" text="No cells were written to this array, or none before the chosen time." />;
  }
  const ordered = [...fragments].sort((a, b) => a.timestamps[0] - b.timestamps[0] || a.timestamps[1] - b.timestamps[1]);
  const drawn = ordered.slice(-MAX_DRAWN);
  return (
    <>
      {drawn.length < ordered.length && (
        <p class="soft">
          The pictures show the newest {countText(drawn.length)} fragments of {countText(ordered.length)}.
        </p>
      )}
      <div class="figures">
        <DomainPicture data={data} fragments={drawn} chosen={chosen} onChoose={setChosen} />
        <TimePicture fragments={drawn} chosen={chosen} onChoose={setChosen} />
      </div>
      <h2>{plural(fragments.length, "fragment")}</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col" class="n">
                #
              </th>
              <th scope="col">Written</th>
              <th scope="col">Type</th>
              <th scope="col" class="n">
                Cells
              </th>
              <th scope="col" class="n">
                Size
              </th>
              <th scope="col">Non-empty domain</th>
              <th scope="col" class="n">
                Format
              </th>
              <th scope="col">Name</th>
            </tr>
          </thead>
          <tbody>
            {ordered.slice(0, MAX_LISTED).map((fragment, index) => (
              <tr
                key={fragment.name}
                class={fragment.name === chosen ? "chosen" : undefined}
                onMouseEnter={() => setChosen(fragment.name)}
                onMouseLeave={() => setChosen(null)}
              >
                <td class="n">{index + 1}</td>
                <td class="nowrap">{written(fragment)}</td>
                <td>
                  {fragment.dense ? "dense" : "sparse"}
                  {fragment.hasDeletes ? ", with deletes" : ""}
                </td>
                <td class="n">{fragment.cells === null ? "unknown" : countText(fragment.cells)}</td>
                <td class="n">{bytesText(fragment.bytes)}</td>
                <td class="mono nowrap">{domainText(data, fragment)}</td>
                <td class="n">{fragment.formatVersion}</td>
                <td class="mono name">{fragment.name}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {ordered.length > MAX_LISTED && (
        <p class="soft">{countText(ordered.length - MAX_LISTED)} more fragments are not listed.</p>
      )}
    </>
  );
}

function written({ timestamps: [start, end] }: Fragment): string {
  return start === end ? timeText(Number(end)) : `${timeText(Number(start))} to ${timeText(Number(end))}`;
}

function domainText(data: ArrayData, fragment: Fragment): string {
  return fragment.nonEmptyDomain
    .map(([low, high], index) => {
      const { name, datatype } = data.axes[index]!;
      return `${name} ${scalarText(low, datatype)}…${scalarText(high, datatype)}`;
    })
    .join(", ");
}

interface PictureProps {
  fragments: Fragment[];
  chosen: string | null;
  onChoose(name: string | null): void;
}

const W = 460;
const H = 300;
const LEFT = 62;
const BOTTOM = 36;
const TOP = 8;
const RIGHT = 10;

/** Draws the non-empty domains over one or two dimensions. Newer fragments have a stronger color. */
function DomainPicture({ data, fragments, chosen, onChoose }: PictureProps & { data: ArrayData }) {
  const usable = data.axes.filter(({ kind, low }) => kind !== "string" && low !== null);
  const [names, setNames] = useState([usable[1]?.name ?? usable[0]?.name, usable[0]?.name]);
  const x = usable.find(({ name }) => name === names[0]);
  const y = usable.length > 1 ? usable.find(({ name }) => name === names[1]) : undefined;
  if (!x) {
    return (
      <figure>
        <figcaption>
          <b>Over the domain.</b> Dimensions of strings have no scale. The table lists the ranges.
        </figcaption>
      </figure>
    );
  }
  const length = (axis: Axis) => axis.size || 1;
  const px = (offset: number) => LEFT + (offset / length(x)) * (W - LEFT - RIGHT);
  const py = (offset: number) => TOP + (offset / (y ? length(y) : fragments.length)) * (H - TOP - BOTTOM);
  const span = (axis: Axis, fragment: Fragment): [number, number] => {
    const [low, high] = fragment.nonEmptyDomain[data.axes.indexOf(axis)] ?? [axis.low, axis.high];
    return [offsetOf(axis, low), offsetOf(axis, high) + (axis.kind === "integer" ? 1 : 0)];
  };
  return (
    <figure>
      <svg
        viewBox={`0 0 ${W} ${H}`}
        role="img"
        aria-label={`Fragments over ${x.name}${y ? ` and ${y.name}` : ""}. The table below lists them.`}
      >
        <rect class="plot-back" x={LEFT} y={TOP} width={W - LEFT - RIGHT} height={H - TOP - BOTTOM} />
        {fragments.map((fragment, index) => {
          const [x0, x1] = span(x, fragment);
          const [y0, y1] = y ? span(y, fragment) : [index, index + 0.9];
          const age = Math.floor((index / Math.max(1, fragments.length - 1)) * 4);
          return (
            <rect
              key={fragment.name}
              class={`fragment age-${age}${fragment.name === chosen ? " chosen" : ""}`}
              x={px(x0)}
              y={py(y0)}
              width={Math.max(1.5, px(x1) - px(x0))}
              height={Math.max(1.5, py(y1) - py(y0))}
              onMouseEnter={() => onChoose(fragment.name)}
              onMouseLeave={() => onChoose(null)}
            >
              <title>{`${written(fragment)}: ${domainText(data, fragment)}`}</title>
            </rect>
          );
        })}
        {axisTicks(x, 0, length(x), 5, x.kind === "integer").map(({ offset, label }) => (
          <g key={label}>
            <line class="tick" x1={px(offset)} x2={px(offset)} y1={H - BOTTOM} y2={H - BOTTOM + 4} />
            <text x={px(offset)} y={H - BOTTOM + 15} text-anchor="middle">
              {label}
            </text>
          </g>
        ))}
        <text class="axis-name" x={(LEFT + W - RIGHT) / 2} y={H - 4} text-anchor="middle">
          {x.name}
        </text>
        {y &&
          axisTicks(y, 0, length(y), 5, y.kind === "integer").map(({ offset, label }) => (
            <g key={label}>
              <line class="tick" x1={LEFT - 4} x2={LEFT} y1={py(offset)} y2={py(offset)} />
              <text x={LEFT - 7} y={py(offset) + 3.5} text-anchor="end">
                {label.length > 9 ? `${label.slice(0, 8)}…` : label}
              </text>
            </g>
          ))}
        {y && (
          <text class="axis-name" transform={`translate(11 ${(H - BOTTOM) / 2}) rotate(-90)`} text-anchor="middle">
            {y.name}
          </text>
        )}
      </svg>
      <figcaption>
        <b>Over the domain.</b>{" "}
        {y
          ? "Non-empty domains. Newer fragments are darker and on top."
          : "One line for each fragment, the oldest at the top."}
      </figcaption>
      {usable.length > 2 && (
        <div class="controls">
          {[0, 1].map((which) => (
            <label key={which}>
              {which === 0 ? "Across" : "Down"}
              <select
                value={names[which]}
                onChange={(event) =>
                  setNames(names.map((name, index) => (index === which ? event.currentTarget.value : name)))
                }
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
      )}
    </figure>
  );
}

/** Draws the time range and the size of each fragment. */
function TimePicture({ fragments, chosen, onChoose }: PictureProps) {
  const first = Math.min(...fragments.map(({ timestamps }) => Number(timestamps[0])));
  const last = Math.max(...fragments.map(({ timestamps }) => Number(timestamps[1])));
  const most = Math.max(1, ...fragments.map(({ bytes }) => Number(bytes)));
  const length = Math.max(1, last - first);
  const px = (time: number) => LEFT + ((time - first) / length) * (W - LEFT - RIGHT - 8) + 4;
  const py = (bytes: number) => H - BOTTOM - (bytes / most) * (H - TOP - BOTTOM - 8);
  return (
    <figure>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label="Fragments over time. The table below lists them.">
        <rect class="plot-back" x={LEFT} y={TOP} width={W - LEFT - RIGHT} height={H - TOP - BOTTOM} />
        {fragments.map((fragment) => {
          const [start, end] = fragment.timestamps;
          const top = py(Number(fragment.bytes));
          return (
            <g
              key={fragment.name}
              class={`stem${fragment.name === chosen ? " chosen" : ""}${start === end ? "" : " range"}`}
              onMouseEnter={() => onChoose(fragment.name)}
              onMouseLeave={() => onChoose(null)}
            >
              <title>{`${written(fragment)}: ${bytesText(fragment.bytes)}`}</title>
              {start === end ? (
                <>
                  <line x1={px(end)} x2={px(end)} y1={H - BOTTOM} y2={top} />
                  <circle cx={px(end)} cy={top} r={fragments.length > 200 ? 2 : 4} />
                </>
              ) : (
                <rect x={px(start)} width={Math.max(2, px(end) - px(start))} y={top} height={H - BOTTOM - top} />
              )}
            </g>
          );
        })}
        <text x={LEFT} y={H - BOTTOM + 15} text-anchor="start">
          {timeText(first)}
        </text>
        {last > first && (
          <text x={W - RIGHT} y={H - BOTTOM + (fragments.length > 0 ? 28 : 15)} text-anchor="end">
            {timeText(last)}
          </text>
        )}
        <text x={LEFT - 7} y={py(most) + 3.5} text-anchor="end">
          {bytesText(most)}
        </text>
        <text x={LEFT - 7} y={H - BOTTOM} text-anchor="end">
          0 B
        </text>
      </svg>
      <figcaption>
        <b>Over time.</b> The height is the size. Wide bars are consolidated fragments.
      </figcaption>
    </figure>
  );
}
