/** The frame of the page: header, tree, the open object, and the status bar. */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { droppedFolder } from "./folders";
import { useTask } from "./hooks";
import { EMPTY, forPath, type LinkSource, type State } from "./link";
import { KeyDialog } from "./parts/key-dialog";
import { ErrorBox } from "./parts/messages";
import { StatusBar } from "./parts/status";
import { Tree } from "./parts/tree";
import { Welcome } from "./parts/welcome";
import type { OpenSource } from "./protocol";
import { store, useStore } from "./store";
import { ArrayPage } from "./views/array";
import { GroupPage } from "./views/group";
import { client } from "./worker-client";

/** Returns the form of a source that a link can hold. */
function linkOf(source: OpenSource): LinkSource {
  switch (source.kind) {
    case "http":
    case "s3":
      return source;
    default:
      return { kind: "folder", name: source.name };
  }
}

function nameOf(source: LinkSource): string {
  if (source.kind === "folder") {
    return source.name;
  }
  const path = source.kind === "http" ? new URL(source.url).pathname : `${source.bucket}/${source.prefix}`;
  const last = path.split("/").filter(Boolean).pop();
  return last ? decode(last) : source.kind === "http" ? new URL(source.url).host : source.bucket;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function addressOf(source: LinkSource): string {
  if (source.kind === "folder") {
    return "a folder of this computer";
  }
  return source.kind === "http" ? source.url : `${source.endpoint}/${source.bucket}/${source.prefix}`;
}

export function App() {
  const state = useStore();
  const [folder, setFolder] = useState<OpenSource | null>(null);
  const [isDragged, setDragged] = useState(false);
  const [isOpening, setOpening] = useState(false);
  const [keyFor, setKeyFor] = useState<number | null>(null);
  const [round, setRound] = useState(0);
  const { source } = state;

  const open = useCallback((next: OpenSource) => {
    if (next.kind === "handle" || next.kind === "files") {
      setFolder(next);
    }
    setOpening(false);
    const link = linkOf(next);
    // A folder that a link names keeps the rest of the link.
    const before = store.state;
    const isSame = link.kind === "folder" && before.source?.kind === "folder" && before.source.name === link.name;
    store.push(isSame ? { source: link } : { ...EMPTY, source: link });
  }, []);

  const target: OpenSource | null =
    source?.kind === "folder" ? (folder && "name" in folder && folder.name === source.name ? folder : null) : source;

  const opened = useTask(
    target ? (signal) => client.call("open", { source: target }, "Opening the source", signal) : null,
    [JSON.stringify(source), target],
  );
  const id = opened.data?.id ?? null;
  useEffect(() => {
    if (id === null) {
      return;
    }
    return () => {
      client.call("close", { source: id }, "Closing").catch(() => {});
    };
  }, [id]);

  useEffect(() => {
    document.title = source ? `${state.path.split("/").pop() || nameOf(source)} · tdb viewer` : "tdb viewer";
  }, [JSON.stringify(source), state.path]);

  const select = useCallback((path: string) => store.push(forPath(store.state, path)), []);

  return (
    <div
      class={isDragged ? "app dragged" : "app"}
      onDragOver={(event) => {
        event.preventDefault();
        setDragged(true);
      }}
      onDragLeave={(event) => {
        if (event.relatedTarget === null) {
          setDragged(false);
        }
      }}
      onDrop={() => setDragged(false)}
    >
      <button type="button" class="skip" onClick={() => document.getElementById("content")?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <button type="button" class="brand" onClick={() => store.reset()} title="Start page">
          <img src="./icon.svg" alt="" width="22" height="22" />
          <span>tdb viewer</span>
        </button>
        {source && <Breadcrumb source={source} state={state} onSelect={select} />}
        <span class="spacer" />
        {source && (
          <>
            <CopyLink isFolder={source.kind === "folder"} />
            {id !== null && (
              <button type="button" onClick={() => setKeyFor(id)}>
                Key…
              </button>
            )}
            <button type="button" onClick={() => setOpening(!isOpening)} aria-expanded={isOpening}>
              Open…
            </button>
          </>
        )}
      </header>
      {!source || isOpening ? (
        <main id="content" class="page" tabIndex={-1}>
          <Welcome onOpen={open} missing={null} />
        </main>
      ) : source.kind === "folder" && !target ? (
        <main id="content" class="page" tabIndex={-1}>
          <Welcome onOpen={open} missing={source.name} />
        </main>
      ) : opened.error ? (
        <main id="content" class="page" tabIndex={-1}>
          <ErrorBox error={opened.error} onRetry={opened.retry} />
          <Welcome onOpen={open} missing={null} />
        </main>
      ) : (
        <div class="split">
          <nav class="side" aria-label="Arrays and groups">
            <div class="side-head" title={addressOf(source)}>
              {addressOf(source)}
            </div>
            {id !== null && (
              <Tree
                key={`${id}:${round}`}
                source={id}
                rootName={nameOf(source)}
                selected={state.path}
                at={state.at}
                onSelect={select}
              />
            )}
          </nav>
          <main id="content" class="content" tabIndex={-1}>
            {id !== null && (
              <ObjectPage
                key={`${id}:${state.path}:${round}`}
                source={id}
                state={state}
                name={nameOf(source)}
                onKey={() => setKeyFor(id)}
              />
            )}
          </main>
        </div>
      )}
      <StatusBar />
      {keyFor !== null && (
        <KeyDialog
          onClose={() => setKeyFor(null)}
          onKey={async (key) => {
            await client.call("key", { source: keyFor, key }, "Setting the key");
            setKeyFor(null);
            setRound(round + 1);
          }}
        />
      )}
      {isDragged && <div class="drop-note">Drop the folder of an array or group. Nothing is uploaded.</div>}
      <DropTarget onOpen={open} />
    </div>
  );
}

/** Accepts drops everywhere on the page. */
function DropTarget({ onOpen }: { onOpen(source: OpenSource): void }) {
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const drop = (event: DragEvent) => {
      event.preventDefault();
      if (event.dataTransfer) {
        setError(null);
        droppedFolder(event.dataTransfer).then(onOpen, setError);
      }
    };
    addEventListener("drop", drop);
    return () => removeEventListener("drop", drop);
  }, [onOpen]);
  return error ? (
    <div class="toast">
      <ErrorBox error={error} onRetry={null} onClose={() => setError(null)} />
    </div>
  ) : null;
}

function Breadcrumb({ source, state, onSelect }: { source: LinkSource; state: State; onSelect(path: string): void }) {
  const parts = state.path.split("/").filter(Boolean);
  const crumbs = [
    { name: nameOf(source), path: "" },
    ...parts.map((name, index) => ({ name, path: parts.slice(0, index + 1).join("/") })),
  ];
  return (
    <nav class="crumbs" aria-label="Path">
      <ol>
        {crumbs.map(({ name, path }, index) => (
          <li key={path}>
            {index === crumbs.length - 1 ? (
              <span aria-current="page">{name}</span>
            ) : (
              <button type="button" class="link" onClick={() => onSelect(path)}>
                {name}
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function CopyLink({ isFolder }: { isFolder: boolean }) {
  const [note, setNote] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setNote("Copied");
    } catch {
      setNote("Copy the address bar");
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setNote(""), 2000);
  };
  const title = isFolder
    ? "The link keeps the view. Whoever opens it chooses the folder again."
    : "The link keeps the array, the view, the slices, the filter and the time";
  return (
    <button type="button" onClick={copy} title={title}>
      <span aria-live="polite">{note || "Copy link"}</span>
    </button>
  );
}

function ObjectPage({ source, state, name, onKey }: { source: number; state: State; name: string; onKey(): void }) {
  const ref = { source, path: state.path, at: state.at };
  const type = useTask((signal) => client.call("type", ref, "Looking at the folder", signal), [source, state.path]);
  if (type.error) {
    return <ErrorBox error={type.error} onRetry={type.retry} onKey={onKey} />;
  }
  if (!type.data) {
    return type.isCancelled ? <ErrorBox error={null} onRetry={type.retry} /> : <p class="loading">Opening…</p>;
  }
  const title = state.path.split("/").pop() || name;
  return type.data === "array" ? (
    <ArrayPage target={ref} name={title} onKey={onKey} />
  ) : (
    <GroupPage target={ref} name={title} isGroup={type.data === "group"} onKey={onKey} />
  );
}
