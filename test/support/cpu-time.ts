/**
 * The processor time of this process so far, in milliseconds. Where a test bounds what a computation costs: the time by
 * the clock is that of everything else on the machine as well.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
