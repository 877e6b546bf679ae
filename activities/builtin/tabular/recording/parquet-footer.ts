/**
 * Additions to a Parquet file after its rows are written, without writing them again.
 *
 * A Parquet file ends in: metadata, its length (4 bytes), `PAR1`. The metadata refers to all data by place from the
 * file's start, so bytes may be inserted between data and metadata. A description that is known only after the rows
 * (their number, their times) replaces a placeholder of the same length, that was written as one of the key-value
 * pairs; the rest of the description's place is blanks, which JSON ignores.
 */
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';

export interface Placeholder {
  text: string;
}

/** @param bytes room for the description */
export function newPlaceholder(bytes: number): Placeholder {
  return { text: `sdp-${randomBytes(16).toString('hex')}`.padEnd(bytes, ' ') };
}

const tailBytes = 8;

/** Where the bytes of {@link completeParquet} will begin. */
export async function additionOffset(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    return (await readFooter(file)).offset;
  } finally {
    await file.close();
  }
}

/**
 * Puts `parts` before the metadata and `description` in the place of the placeholder.
 * @returns the file's size in bytes
 * @throws Error when the description is longer than the placeholder
 */
export async function completeParquet(
  path: string,
  parts: readonly Float64Array[],
  placeholder: Placeholder,
  description: string,
): Promise<number> {
  const file = await open(path, 'r+');
  try {
    const { offset, footer } = await readFooter(file);
    const value = Buffer.alloc(placeholder.text.length, ' ');
    if (Buffer.byteLength(description) > value.length)
      throw new Error('The description is longer than its placeholder.');
    value.write(description);
    const at = footer.indexOf(placeholder.text);
    if (at === -1) throw new Error('The placeholder of the description is not in the Parquet metadata.');
    value.copy(footer, at);
    let end = offset;
    for (const part of parts) {
      const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      await file.write(bytes, 0, bytes.length, end);
      end += bytes.length;
    }
    await file.write(footer, 0, footer.length, end);
    end += footer.length;
    await file.sync();
    return end;
  } finally {
    await file.close();
  }
}

type OpenFile = Awaited<ReturnType<typeof open>>;

/** The metadata with the eight bytes behind it, and where it begins. */
async function readFooter(file: OpenFile): Promise<{ offset: number; footer: Buffer }> {
  const { size } = await file.stat();
  const tail = Buffer.alloc(tailBytes);
  await file.read(tail, 0, tailBytes, size - tailBytes);
  const length = tail.readUInt32LE(0) + tailBytes;
  if (tail.toString('latin1', 4) !== 'PAR1' || length > size)
    throw new Error('The Parquet file has no footer.');
  const footer = Buffer.alloc(length);
  await file.read(footer, 0, length, size - length);
  return { offset: size - length, footer };
}
