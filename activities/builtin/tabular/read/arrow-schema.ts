/**
 * The schema of Arrow that its writers put beside a Parquet file: an IPC message, which is a FlatBuffer. Parquet has no
 * type for a duration, so this alone tells one from a whole number.
 */

/** Places of fields in the tables of Arrow's `Message.fbs` and `Schema.fbs`. */
const messageHeader = 2;
const schemaFields = 1;
const field = { name: 0, typeType: 2, type: 3 } as const;
const durationUnit = 0;

const durationType = 18;
const units = ['s', 'ms', 'us', 'ns'] as const;
const defaultUnit = 1;
/** Before the FlatBuffer: a mark of four bytes, and its length. */
const prefixBytes = 8;

/** Columns of durations with their units; none where the message is not of this form. */
export function arrowDurations(message: Buffer): [name: string, unit: string][] {
  try {
    return readDurations(message.subarray(prefixBytes));
  } catch (error) {
    // An offset leads out of the message.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function readDurations(bytes: Buffer): [name: string, unit: string][] {
  const target = (at: number) => at + bytes.readUInt32LE(at);
  /** Where a field of a table is; null where the table leaves it out. */
  const placeOf = (table: number, index: number): number | null => {
    const layout = table - bytes.readInt32LE(table);
    const slot = 4 + 2 * index;
    const offset = slot < bytes.readUInt16LE(layout) ? bytes.readUInt16LE(layout + slot) : 0;
    return offset === 0 ? null : table + offset;
  };
  const tableAt = (place: number | null): number => {
    if (place === null) throw new RangeError('The message has no such table.');
    return target(place);
  };
  const schema = tableAt(placeOf(target(0), messageHeader));
  const list = tableAt(placeOf(schema, schemaFields));
  const count = bytes.readUInt32LE(list);
  const durations: [name: string, unit: string][] = [];
  for (let index = 0; index < count; index++) {
    const column = target(list + 4 + 4 * index);
    const type = placeOf(column, field.typeType);
    if (type === null || bytes.readUInt8(type) !== durationType) continue;
    const place = placeOf(tableAt(placeOf(column, field.type)), durationUnit);
    const unit = units[place === null ? defaultUnit : bytes.readInt16LE(place)];
    const name = tableAt(placeOf(column, field.name));
    const text = bytes.toString('utf8', name + 4, name + 4 + bytes.readUInt32LE(name));
    if (unit !== undefined) durations.push([text, unit]);
  }
  return durations;
}
