/** An array: title, time, and the tabs. */

import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { type Axis, axes, isNumeric } from "../dimensions";
import { useTask } from "../hooks";
import { imageLayout } from "../image-layout";
import type { View } from "../link";
import { ErrorBox } from "../parts/messages";
import { Tabs } from "../parts/tabs";
import { TimeSlider } from "../parts/time-slider";
import type { ArrayDescription, Fragment, Ref } from "../protocol";
import { store, useStore } from "../store";
import { bytesText, countText, plural } from "../values";
import { client } from "../worker-client";
import { CellsView } from "./cells";
import { FragmentsView } from "./fragments";
import { HeatmapView } from "./heatmap";
import { ImageView } from "./image";
import { MetadataView } from "./metadata";
import { PointsView } from "./points";
import { SchemaView } from "./schema";

/** Everything that a view needs of an array. */
export interface ArrayData extends ArrayDescription {
  target: Ref;
  name: string;
  axes: Axis[];
}

interface Props {
  target: Ref;
  name: string;
  onKey(): void;
}

export function ArrayPage({ target, name, onKey }: Props) {
  const state = useStore();
  const described = useTask(
    (signal) => client.call("array", target, `Opening ${name}`, signal),
    [target.source, target.path, target.at],
  );
  // The stops of the time slider come from the newest state.
  const newest = useTask(
    target.at === null ? null : (signal) => client.call("array", { ...target, at: null }, `Opening ${name}`, signal),
    [target.source, target.path, target.at === null],
  );
  const data = useMemo<ArrayData | null>(
    () =>
      described.data && {
        ...described.data,
        target,
        name,
        axes: axes(described.data.schema, described.data.nonEmptyDomain),
      },
    [described.data],
  );
  // The stops stay while another time is read. Otherwise the slider would lose its place between two keys.
  const known = useRef<Fragment[]>([]);
  known.current = (target.at === null ? described.data : newest.data)?.fragments ?? known.current;
  const all = known.current;
  const slider = <TimeSlider fragments={all} at={target.at} onChange={(at) => store.push({ at })} />;
  if (described.error) {
    return (
      <>
        <h1>{name}</h1>
        {slider}
        <ErrorBox error={described.error} onRetry={described.retry} onKey={onKey} />
      </>
    );
  }
  if (!data) {
    return described.isCancelled ? (
      <ErrorBox error={null} onRetry={described.retry} />
    ) : (
      <p class="loading">Opening {name}…</p>
    );
  }
  const views = viewsOf(data);
  const view = state.view && views.some(([name]) => name === state.view) ? state.view : "schema";
  return (
    <>
      <Heading data={data} />
      {slider}
      <Tabs
        label="Views"
        tabs={views}
        selected={view}
        onSelect={(next) => store.push({ view: next, window: null, range: null, row: 0 })}
      >
        <Panel key={`${view}:${data.target.at}`} view={view} data={data} onKey={onKey} />
      </Tabs>
    </>
  );
}

/** Returns the views that suit an array. */
export function viewsOf(data: ArrayData): [View, string][] {
  const { schema } = data;
  const integers = data.axes.filter(({ kind, size }) => kind === "integer" && size > 0);
  const numbers = data.axes.filter(({ kind, low }) => kind !== "string" && low !== null);
  const views: [View, string][] = [
    ["schema", "Schema"],
    ["fragments", "Fragments"],
    ["metadata", "Metadata"],
    ["cells", "Cells"],
  ];
  if (schema.arrayType === "dense" && integers.length >= 2 && schema.attributes.some(isNumeric)) {
    views.push(["heatmap", "Heat map"]);
  }
  if (imageLayout(schema, data.axes)) {
    views.push(["image", "Image"]);
  }
  if (schema.arrayType === "sparse" && numbers.length >= 2) {
    views.push(["points", "Scatter plot"]);
  }
  return views;
}

function Panel({ view, data, onKey }: { view: View; data: ArrayData; onKey(): void }): ComponentChildren {
  switch (view) {
    case "schema":
      return <SchemaView data={data} />;
    case "fragments":
      return <FragmentsView data={data} />;
    case "metadata":
      return <MetadataView metadata={data.metadata} />;
    case "cells":
      return <CellsView data={data} onKey={onKey} />;
    case "heatmap":
      return <HeatmapView data={data} />;
    case "image":
      return <ImageView levels={[data]} />;
    case "points":
      return <PointsView data={data} />;
  }
}

function Heading({ data }: { data: ArrayData }) {
  const { schema, fragments, name } = data;
  const bytes = fragments.reduce((sum, fragment) => sum + BigInt(fragment.bytes), 0n);
  const facts = [
    `${schema.arrayType} array`,
    `format ${schema.formatVersion}`,
    plural(schema.dimensions.length, "dimension"),
    plural(schema.attributes.length, "attribute"),
    plural(fragments.length, "fragment"),
    bytesText(bytes),
  ];
  const shape = data.axes.every(({ kind, size }) => kind === "integer" && size > 0)
    ? data.axes.map(({ size }) => countText(size)).join(" × ")
    : null;
  return (
    <div class="heading">
      <h1>{name}</h1>
      <ul class="facts">
        {shape && schema.arrayType === "dense" && (
          <li key="shape" title="Coordinates that hold cells">
            {shape}
          </li>
        )}
        {facts.map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
    </div>
  );
}
