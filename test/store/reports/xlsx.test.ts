import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Cell, ReportColumn } from '../../../domain/reports/report.ts';
import { writeXlsx } from '../../../store/reports/xlsx.ts';

test('a file that is broken off ends with the reason, and with the rows it is made of', async () => {
  const column = {
    columnKey: 'a',
    name: 'A',
    expression: '',
    type: 'string',
    format: '',
    source: 'dimension',
  };
  let isEnded = false;
  async function* batches(): AsyncGenerator<readonly (readonly Cell[])[]> {
    try {
      for (;;)
        yield Array.from({ length: 1000 }, () => [{ type: 'string', value: String(Math.random()) } as const]);
    } finally {
      isEnded = true;
    }
  }
  const file = Readable.from(writeXlsx([{ ...column, order: 1 } as ReportColumn], batches()));
  await once(file, 'readable');
  const reason = new Error('cut');
  file.destroy(reason);
  expect(await once(file, 'error').catch((error: unknown) => [error])).toEqual([reason]);
  expect(isEnded).toBe(true);
});
