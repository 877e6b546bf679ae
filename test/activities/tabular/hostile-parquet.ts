/** Small Parquet files that were made to break their readers; metadata are in Thrift's compact form. */

const magic = Buffer.from('PAR1');

function parquetOf(metadata: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(metadata.length);
  return Buffer.concat([magic, metadata, length, magic]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

const version = Buffer.from([0x15, 0x02]);
const structs = (field: number, count: number) => Buffer.concat([Buffer.from([field, 0xfc]), varint(count)]);
/** A column `a` of doubles; the root of the schema with one child; no rows and no row groups. */
const leaf = Buffer.from([0x15, 0x0a, 0x25, 0x02, 0x18, 0x01, 0x61, 0x00]);
const parent = Buffer.from([0x35, 0x02, 0x18, 0x01, 0x61, 0x15, 0x02, 0x00]);
const noRows = Buffer.from([0x16, 0x00, 0x19, 0x0c]);
const end = Buffer.from([0x00]);

/** Some bytes that declare so many entries of the metadata's own list. */
export function declaringEntries(count: number): Buffer {
  return parquetOf(
    Buffer.concat([version, structs(0x19, 2), parent, leaf, noRows, structs(0x19, count), end]),
  );
}

/** A column within so many others. */
export function nestedColumns(levels: number): Buffer {
  const parents = Array.from({ length: levels }, () => parent);
  return parquetOf(Buffer.concat([version, structs(0x19, levels + 1), ...parents, leaf, noRows, end]));
}
