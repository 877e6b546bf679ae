/** Removes from a recorded history what identifies the machine on which it was recorded. */

/** Free texts that may contain paths and addresses, and names that contain host and process. */
const rewritten: Readonly<Record<string, string>> = {
  identity: 'recorder',
  stackTrace: '',
  binaryChecksum: 'recorded',
  buildId: 'recorded',
};
const sticky = 'TASK_QUEUE_KIND_STICKY';

/** A copy of a history's JSON without host names, process ids, ports and paths. */
export function withoutMachine(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMachine);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const isSticky = entries.some(([key, item]) => key === 'kind' && item === sticky);
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const replacement = isSticky && key === 'name' ? 'recorder-sticky' : rewritten[key];
      return [
        key,
        replacement !== undefined && typeof item === 'string' ? replacement : withoutMachine(item),
      ];
    }),
  );
}
