/** Times in rows that come as JSON: as numbers, for the text of a time costs four times as much. */

/** Milliseconds since 1970. @param time an expression of SQL */
export const milliseconds = (time: string) => `floor(extract(epoch from ${time}) * 1000)::bigint`;

/** A time that came as the text of JSON. */
export const dateOf = (text: string | null) => (text === null ? null : new Date(text));

/** Makes dates of the milliseconds in these fields; an absent one stays absent, null stays null. */
export function readTimes(rows: readonly object[], fields: readonly string[]): void {
  for (const row of rows as Record<string, unknown>[]) {
    for (const field of fields) {
      const time = row[field];
      if (typeof time === 'number') row[field] = new Date(time);
    }
  }
}
