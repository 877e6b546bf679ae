/**
 * Calls `stop` once, when this process is asked to end (Ctrl-C, SIGTERM, SIGHUP) or when the bootstrap that
 * started it was killed outright, which shows as the closed channel to it. Further signals change nothing: the
 * order of stopping is kept.
 */
export function onEnd(stop: (why: string) => void): void {
  let isAsked = false;
  const once = (why: string) => {
    if (isAsked) return;
    isAsked = true;
    stop(why);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => once(signal));
  if (process.channel != null) process.on('disconnect', () => once('the command that started it has ended'));
}
