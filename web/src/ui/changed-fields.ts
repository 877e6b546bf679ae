/**
 * The fields that differ from what a form began with. Sending no others keeps what somebody else changed meanwhile: the
 * platform leaves absent fields as they are.
 */
export function changedFields<Fields extends object>(before: Partial<Fields>, now: Fields): Partial<Fields> {
  const differs = (name: keyof Fields) => JSON.stringify(before[name]) !== JSON.stringify(now[name]);
  const names = Object.keys(now) as (keyof Fields)[];
  return Object.fromEntries(names.filter(differs).map((name) => [name, now[name]])) as Partial<Fields>;
}
