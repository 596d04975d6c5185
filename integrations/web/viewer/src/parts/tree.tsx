/** The tree of a group. Folders load when they are opened. */

import { useEffect, useRef, useState } from "preact/hooks";
import { advice, isAbort } from "../errors";
import type { Child, ObjectType } from "../protocol";
import { client } from "../worker-client";

interface Props {
  source: number;
  rootName: string;
  selected: string;
  at: number | null;
  onSelect(path: string): void;
}

interface Node {
  path: string | null;
  uri: string;
  name: string;
  type: ObjectType | null;
  level: number;
  children: Node[] | null;
  isOpen: boolean;
  isLoading: boolean;
  error: string | null;
}

function toNode(child: Child, level: number): Node {
  const { path, name, type, uri } = child;
  return { path, uri, name, type, level, children: null, isOpen: false, isLoading: false, error: null };
}

/** Returns the visible nodes from top to bottom. */
function flatten(node: Node): Node[] {
  return [node, ...(node.isOpen ? (node.children ?? []).flatMap(flatten) : [])];
}

export function Tree({ source, rootName, selected, at, onSelect }: Props) {
  const [root] = useState<Node>(() => toNode({ path: "", name: rootName, type: "folder", uri: "" }, 1));
  const [, redraw] = useState(0);
  const [focused, setFocused] = useState<Node>(root);
  const list = useRef<HTMLUListElement>(null);
  const update = () => redraw((before) => before + 1);

  const load = async (node: Node) => {
    if (node.path === null || node.children || node.isLoading) {
      return;
    }
    node.isLoading = true;
    node.error = null;
    update();
    const ref = { source, path: node.path, at };
    try {
      if (node === root) {
        node.type = await client.call("type", ref, "Looking at the folder");
      }
      const children = node.type === "array" ? [] : await client.call("children", ref, `Listing ${node.name}`);
      node.children = children.map((child) => toNode(child, node.level + 1));
    } catch (error) {
      node.isOpen = false;
      node.error = isAbort(error) ? "cancelled" : advice(error).message;
    }
    node.isLoading = false;
    update();
  };
  const toggle = (node: Node, isOpen: boolean) => {
    node.isOpen = isOpen;
    update();
    return isOpen ? load(node) : Promise.resolve();
  };

  // Opens the folders on the way to the selected path.
  useEffect(() => {
    let isCurrent = true;
    const reveal = async () => {
      let node: Node | undefined = root;
      while (node && isCurrent) {
        if (node.path === selected && node !== root) {
          setFocused(node);
          return;
        }
        await toggle(node, true);
        node = node.children?.find(
          ({ path }) => path !== null && (selected === path || selected.startsWith(`${path}/`)),
        );
      }
    };
    void reveal();
    return () => {
      isCurrent = false;
    };
  }, [selected]);

  const visible = flatten(root);
  const focus = (node: Node | undefined) => {
    if (node) {
      setFocused(node);
      requestAnimationFrame(() => list.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus());
    }
  };
  const activate = (node: Node) => {
    if (node.path !== null) {
      onSelect(node.path);
    }
    setFocused(node);
  };
  const isBranch = (node: Node) => node.type !== "array" && node.path !== null;

  const onKeyDown = (event: KeyboardEvent) => {
    const index = visible.indexOf(focused);
    const node = visible[index] ?? root;
    const actions: Record<string, () => void> = {
      ArrowDown: () => focus(visible[index + 1]),
      ArrowUp: () => focus(visible[index - 1]),
      Home: () => focus(visible[0]),
      End: () => focus(visible[visible.length - 1]),
      ArrowRight: () => {
        if (isBranch(node) && !node.isOpen) {
          void toggle(node, true);
        } else {
          focus(node.isOpen ? node.children?.[0] : undefined);
        }
      },
      ArrowLeft: () => {
        if (isBranch(node) && node.isOpen) {
          void toggle(node, false);
        } else {
          focus(visible.slice(0, index).findLast(({ level }) => level < node.level));
        }
      },
      Enter: () => activate(node),
      " ": () => activate(node),
    };
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const after = [...visible.slice(index + 1), ...visible.slice(0, index + 1)];
      focus(after.find(({ name }) => name.toLowerCase().startsWith(event.key.toLowerCase())));
    }
  };

  const current = visible.includes(focused) ? focused : root;
  return (
    <ul class="tree" role="tree" aria-label="Group" ref={list} onKeyDown={onKeyDown}>
      {visible.map((node) => (
        <li
          key={`${node.path}\n${node.uri}`}
          role="treeitem"
          aria-level={node.level}
          aria-expanded={isBranch(node) ? node.isOpen : undefined}
          aria-selected={node.path === selected}
          aria-disabled={node.path === null || undefined}
          tabIndex={node === current ? 0 : -1}
          data-level={Math.min(node.level, 8)}
          title={node.error ?? (node.path === null ? `outside of this source: ${node.uri}` : undefined)}
          onClick={() => activate(node)}
          onDblClick={() => isBranch(node) && toggle(node, !node.isOpen)}
        >
          {isBranch(node) ? (
            <span
              class={node.isOpen ? "twist open" : "twist"}
              aria-hidden="true"
              onClick={(event) => {
                event.stopPropagation();
                void toggle(node, !node.isOpen);
              }}
            />
          ) : (
            <span class="twist none" aria-hidden="true" />
          )}
          <span class={`kind ${node.type ?? "folder"}`} aria-hidden="true" />
          <span class="tree-name">{node.name || "(root)"}</span>
          <span class="visually-hidden">{node.type ?? ""}</span>
          {node.isLoading && <span class="soft">…</span>}
          {node.error && <span class="tree-error">cannot be listed</span>}
        </li>
      ))}
      {root.isOpen && root.children?.length === 0 && root.type !== "array" && (
        <li class="tree-none" role="none">
          No arrays or groups
        </li>
      )}
    </ul>
  );
}
