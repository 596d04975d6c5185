import { advice } from "../errors";
import { bytesText } from "../values";

/** Reads above this size ask first. */
export const ASK_BYTES = 64 << 20;

interface ErrorProps {
  /** `null` for a step that the person cancelled. */
  error: unknown;
  onRetry: (() => void) | null;
  onKey?: () => void;
  onClose?: () => void;
}

/** Shows an error, and the step that may help. */
export function ErrorBox({ error, onRetry, onKey, onClose }: ErrorProps) {
  if (error === null) {
    return (
      <div class="box note" role="status">
        <p>
          <strong>Cancelled.</strong>
        </p>
        {onRetry && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    );
  }
  const { title, message, hint, needsKey, needsReload } = advice(error);
  return (
    <div class="box error" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      {hint && <p>{hint}</p>}
      <p class="detail">{message}</p>
      <div class="buttons">
        {needsKey && onKey && (
          <button type="button" class="primary" onClick={onKey}>
            Enter the key…
          </button>
        )}
        {needsReload && (
          <button type="button" class="primary" onClick={() => location.reload()}>
            Reload the page
          </button>
        )}
        {onRetry && !needsReload && (
          <button type="button" onClick={onRetry}>
            Try again
          </button>
        )}
        {onClose && (
          <button type="button" onClick={onClose}>
            Close
          </button>
        )}
      </div>
    </div>
  );
}

/** Explains why a panel is empty. */
export function Empty({ title, text }: { title: string; text?: string }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {text && <p>{text}</p>}
    </div>
  );
}

/** Asks before a large read. */
export function LargeRead({ bytes, onRead }: { bytes: number; onRead(): void }) {
  return (
    <div class="box note" role="status">
      <p>
        <strong>This view reads {bytesText(bytes)}.</strong> Zoom in to read less.
      </p>
      <button type="button" class="primary" onClick={onRead}>
        Read {bytesText(bytes)}
      </button>
    </div>
  );
}
