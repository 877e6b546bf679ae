/** The fields that a caller gave; null for none, as a call without any leaves the row and its time of change as they are. */
export function definedFields<Changes extends object>(changes: Changes): Partial<Changes> | null {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return given.length === 0 ? null : (Object.fromEntries(given) as Partial<Changes>);
}
