/** What a command must not leave behind when a signal ends it, such as Ctrl-C: `finally` is not reached then. */

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const cleanups = new Set<() => void>();
const handlers = new Map<NodeJS.Signals, number>();

/** Handles these signals in place of an end, until the returned function is called. */
export function handleSignals(handled: readonly NodeJS.Signals[], handler: () => void): () => void {
  const count = (signal: NodeJS.Signals, step: number) =>
    handlers.set(signal, (handlers.get(signal) ?? 0) + step);
  for (const signal of handled) count(signal, 1);
  for (const signal of handled) process.on(signal, handler);
  return () => {
    for (const signal of handled) count(signal, -1);
    for (const signal of handled) process.off(signal, handler);
  };
}

/**
 * Cleans up when a signal ends this process, unless another part of the program handles the signal.
 * @param clean works without waiting
 * @returns to be called when nothing is left to clean
 */
export function whenInterrupted(clean: () => void): () => void {
  if (cleanups.size === 0) for (const signal of signals) process.on(signal, onSignal);
  cleanups.add(clean);
  return () => {
    cleanups.delete(clean);
    if (cleanups.size === 0) stopListening();
  };
}

function onSignal(signal: NodeJS.Signals): void {
  if ((handlers.get(signal) ?? 0) > 0) return;
  for (const clean of cleanups) clean();
  stopListening();
  // It ends by the signal, as it would have without the listener.
  process.kill(process.pid, signal);
}

function stopListening(): void {
  for (const signal of signals) process.off(signal, onSignal);
}
