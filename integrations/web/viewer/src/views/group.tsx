/** A group, or a folder that holds arrays and groups. */

import { axes } from "../dimensions";
import { useTask } from "../hooks";
import { imageLayout, levelPaths } from "../image-layout";
import { forPath, type View } from "../link";
import { Empty, ErrorBox } from "../parts/messages";
import { Tabs } from "../parts/tabs";
import type { Child, GroupDescription, Ref } from "../protocol";
import { store, useStore } from "../store";
import { plural } from "../values";
import { client } from "../worker-client";
import type { ArrayData } from "./array";
import { ImageView } from "./image";
import { MetadataView } from "./metadata";

interface Props {
  target: Ref;
  name: string;
  isGroup: boolean;
  onKey(): void;
}

/** Arrays of a group that are inspected for a pyramid. */
const MAX_LEVELS = 24;

export function GroupPage({ target, name, isGroup, onKey }: Props) {
  const state = useStore();
  const task = useTask<GroupDescription>(
    async (signal) =>
      isGroup
        ? client.call("group", target, `Opening ${name}`, signal)
        : { children: await client.call("children", target, `Listing ${name}`, signal), metadata: {} },
    [target.source, target.path, target.at],
  );
  const pyramid = useTask(task.data && isGroup ? (signal) => findLevels(target, task.data!, signal) : null, [
    task.data,
  ]);
  if (task.error) {
    return (
      <>
        <h1>{name}</h1>
        <ErrorBox error={task.error} onRetry={task.retry} onKey={onKey} />
      </>
    );
  }
  if (!task.data) {
    return task.isCancelled ? <ErrorBox error={null} onRetry={task.retry} /> : <p class="loading">Opening {name}…</p>;
  }
  const { children, metadata } = task.data;
  const tabs: [View, string][] = [["schema", "Members"]];
  if (isGroup) {
    tabs.push(["metadata", "Metadata"]);
  }
  if (pyramid.data && pyramid.data.length > 0) {
    tabs.push(["image", "Image"]);
  }
  // A link to the image waits for the levels.
  const isWaiting = state.view === "image" && pyramid.isRunning;
  const view = state.view && tabs.some(([tab]) => tab === state.view) ? state.view : "schema";
  return (
    <>
      <div class="heading">
        <h1>{name}</h1>
        <ul class="facts">
          <li>{isGroup ? "group" : "folder"}</li>
          <li>{plural(children.length, "member")}</li>
          {pyramid.data && pyramid.data.length > 0 && <li>{plural(pyramid.data.length, "image level")}</li>}
        </ul>
      </div>
      {isWaiting ? (
        <p class="loading">Looking for image levels…</p>
      ) : (
        <Tabs label="Views" tabs={tabs} selected={view} onSelect={(next) => store.push({ view: next, window: null })}>
          {view === "schema" && <Members children={children} isGroup={isGroup} />}
          {view === "metadata" && <MetadataView metadata={metadata} />}
          {view === "image" && pyramid.data && <ImageView levels={pyramid.data} />}
        </Tabs>
      )}
    </>
  );
}

function Members({ children, isGroup }: { children: Child[]; isGroup: boolean }) {
  if (children.length === 0) {
    return isGroup ? (
      <Empty title="The group is empty" />
    ) : (
      <Empty
        title="No array or group here"
        text="An array contains the folder __schema, and a group the folder __group. Open the folder that contains one of them, or a folder of arrays."
      />
    );
  }
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Location</th>
          </tr>
        </thead>
        <tbody>
          {children.map((child) => (
            <tr key={`${child.name}\n${child.uri}`}>
              <th scope="row">
                {child.path === null ? (
                  child.name
                ) : (
                  <button type="button" class="link" onClick={() => store.push(forPath(store.state, child.path!))}>
                    {child.name}
                  </button>
                )}
              </th>
              <td>
                <span class={`kind ${child.type}`} aria-hidden="true" /> {child.type}
              </td>
              <td class="mono">{child.path ?? `${child.uri} (outside of this source)`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Returns the images of a group from the largest to the smallest, if the group is a pyramid. */
async function findLevels(target: Ref, group: GroupDescription, signal: AbortSignal): Promise<ArrayData[]> {
  const named = levelPaths(group.metadata.levels?.value);
  const arrays = group.children.filter(({ type, path }) => type === "array" && path !== null).slice(0, MAX_LEVELS);
  const candidates = named
    ? arrays.filter(({ name, path }) => named.has(name) || named.has(path!.split("/").pop()!))
    : arrays;
  const levels: ArrayData[] = [];
  for (const { path, name } of candidates) {
    const ref = { ...target, path: path! };
    try {
      const description = await client.call("array", ref, `Looking at ${name}`, signal);
      levels.push({ ...description, target: ref, name, axes: axes(description.schema, description.nonEmptyDomain) });
    } catch (error) {
      signal.throwIfAborted();
      // A broken array is no level. It shows its error when it is opened.
      console.info(`${name}: no image level`, error);
    }
  }
  return asPyramid(levels, named !== null);
}

/** Keeps arrays of one kind of image. Without metadata, the sizes must fall. */
function asPyramid(arrays: ArrayData[], isNamed: boolean): ArrayData[] {
  const sized = arrays.flatMap((data) => {
    const layout = imageLayout(data.schema, data.axes, isNamed || arrays.length > 1);
    return layout ? [{ data, layout }] : [];
  });
  sized.sort((a, b) => b.layout.x.size * b.layout.y.size - a.layout.x.size * a.layout.y.size);
  const [first] = sized;
  if (!first || (!isNamed && sized.length < 2)) {
    return [];
  }
  const sameKind = sized.filter(
    ({ data, layout }) =>
      layout.attribute === first.layout.attribute &&
      layout.planes === first.layout.planes &&
      data.axes.length === first.data.axes.length,
  );
  const ratio = first.layout.x.size / first.layout.y.size;
  const isFalling = sameKind.every(({ layout }, index) => {
    const before = sameKind[index - 1]?.layout;
    const shape = layout.x.size / layout.y.size / ratio;
    return (!before || layout.x.size < before.x.size) && shape > 0.7 && shape < 1.4;
  });
  return isNamed || (isFalling && sameKind.length > 1) ? sameKind.map(({ data }) => data) : [];
}
