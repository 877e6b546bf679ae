/**
 * Connections of a shown tab: a hidden one has none, since a browser allows few connections to one server, and catches up
 * when it is shown again.
 */

/** A signal that ends with `signal`, and when the tab is hidden. */
export function connectionOf(signal: AbortSignal): { signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  const end = () => controller.abort();
  const onVisibility = () => document.hidden && end();
  signal.addEventListener('abort', end);
  document.addEventListener('visibilitychange', onVisibility);
  return {
    signal: controller.signal,
    close() {
      signal.removeEventListener('abort', end);
      document.removeEventListener('visibilitychange', onVisibility);
      end();
    },
  };
}

/** Until the tab is shown, or `signal` ends. */
export function untilShown(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const delayed = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', delayed);
      signal.removeEventListener('abort', delayed);
      resolve();
    };
    document.addEventListener('visibilitychange', delayed);
    signal.addEventListener('abort', delayed);
  });
}
