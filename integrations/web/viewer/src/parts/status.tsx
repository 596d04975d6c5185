import { useEffect, useState } from "preact/hooks";
import type { Task } from "../client";
import { bytesText, countText, plural } from "../values";
import { client } from "../worker-client";

/** Shows the running steps. A live region announces them at a slow pace. */
export function StatusBar() {
  const [tasks, setTasks] = useState<Task[]>([]);
  const [announced, setAnnounced] = useState("");
  useEffect(() => client.subscribe(() => setTasks([...client.tasks])), []);
  const task = tasks.find(({ label }) => label !== "Closing");
  const id = task?.id ?? null;
  useEffect(() => {
    if (!task) {
      const timer = setTimeout(() => setAnnounced("Ready"), 300);
      return () => clearTimeout(timer);
    }
    const timer = setTimeout(() => setAnnounced(task.label), 600);
    return () => clearTimeout(timer);
  }, [id]);
  const cancelAll = () => {
    for (const task of client.tasks) {
      task.cancel();
    }
  };
  const { requests, bytes, fraction, note } = task?.progress ?? { requests: 0, bytes: 0, fraction: null, note: null };
  return (
    <footer class="status">
      <span class="visually-hidden" role="status" aria-live="polite">
        {announced}
      </span>
      {task ? (
        <>
          <progress aria-label={task.label} value={fraction ?? undefined} max={1} />
          <span class="status-label">{task.label}</span>
          <span class="status-detail">
            {[note, requests > 0 ? `${plural(requests, "request")}, ${bytesText(bytes)}` : null]
              .filter(Boolean)
              .join(" · ")}
          </span>
          {tasks.length > 1 && <span class="status-detail">and {countText(tasks.length - 1)} more</span>}
          <button type="button" class="small" onClick={cancelAll}>
            Cancel
          </button>
        </>
      ) : (
        <>
          <span class="status-label">Ready</span>
          <span class="status-detail">Data is read by this page alone. Nothing is uploaded.</span>
        </>
      )}
    </footer>
  );
}
