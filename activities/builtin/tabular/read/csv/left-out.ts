/** Lines of a table that are no rows: the copies without them, and what is remarked of each. */
import { excerpt } from '../../errors.ts';
import { copyPart } from '../copy-part.ts';
import { findBrokenEnd, findFooter } from './footer.ts';
import { copyWithoutComments } from './lines.ts';
import { beginsRow, type CsvRecord } from './records.ts';
import { copyWithoutRepeats } from './repeated-headings.ts';

export interface CopiedTable {
  readonly layout: {
    readonly delimiter: string;
    readonly headings: readonly string[];
    readonly hasHeading: boolean;
    /** The first line of the table, as it stands in the file. */
    readonly firstLine: string;
    /** The first rows. */
    readonly records: readonly CsvRecord[];
  };
  /** The lines above the heading that are in the file that is read. */
  readonly skipLines: number;
  readonly from: string;
  readonly to: string;
  readonly signal: AbortSignal | undefined;
}

/** In the order in which they are left out: each is found among the rows that remain. */
export const leftOut = ['repeats', 'comments', 'footer', 'brokenEnd'] as const;
export type LeftOut = (typeof leftOut)[number];

/** Each makes the copy where there are such lines. @returns the remark, null where there are none */
export const copyWithout: Record<LeftOut, (table: CopiedTable) => Promise<string | null>> = {
  async repeats({ layout, from, to, signal }) {
    if (!layout.hasHeading) return null;
    const count = await copyWithoutRepeats(from, to, layout.firstLine, signal);
    return count === 0 ? null : `The heading stands again between the rows, and was left out: ${count}.`;
  },

  async comments({ layout, skipLines, from, to, signal }) {
    if (!layout.records.every(({ cells }) => beginsRow(cells[0] ?? ''))) return null;
    const count = await copyWithoutComments(from, to, { delimiter: layout.delimiter, skipLines }, signal);
    return count === 0 ? null : `Lines of comment between the rows were not read: ${count}.`;
  },

  async footer(table) {
    const footer = await findFooter(table.from, shapeOf(table));
    if (footer === null) return null;
    await copyAbove(table, footer.start);
    return `Lines below the table, from ${excerpt(footer.text)} on, were not read: ${footer.lines}.`;
  },

  async brokenEnd(table) {
    const end = await findBrokenEnd(table.from, shapeOf(table));
    if (end === null) return null;
    await copyAbove(table, end.start);
    return `The last line breaks off, and was not read: ${excerpt(end.text)}.`;
  },
};

function shapeOf({ layout, skipLines }: CopiedTable) {
  return { delimiter: layout.delimiter, fields: layout.headings.length, skipLines };
}

async function copyAbove({ from, to, signal }: CopiedTable, end: number): Promise<void> {
  await copyPart({ from, to, end }, null, signal);
}
