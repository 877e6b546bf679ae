/**
 * Connections of a shown tab: a hidden one has none, since a browser allows few connections to one server, and catches up
 * when it is shown again.
 */
import { pause } from '../../client/back-off.ts';

/** A signal that ends with `signal`, when the tab is hidden, and when the machine loses its network. */
export function connectionOf(signal: AbortSignal): { signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  const end = () => controller.abort();
  const onVisibility = () => document.hidden && end();
  signal.addEventListener('abort', end);
  document.addEventListener('visibilitychange', onVisibility);
  // A connection of which nothing comes any more is else taken for live until its silence was long enough.
  window.addEventListener('offline', end);
  return {
    signal: controller.signal,
    close() {
      signal.removeEventListener('abort', end);
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('offline', end);
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

/** A pause before the next try; it ends early when the machine has its network again, or `signal` ends. */
export async function pauseOrOnline(timeMs: number, signal: AbortSignal): Promise<void> {
  const online = new AbortController();
  const end = () => online.abort();
  window.addEventListener('online', end);
  await pause(timeMs, AbortSignal.any([signal, online.signal])).catch(() => undefined);
  window.removeEventListener('online', end);
}
