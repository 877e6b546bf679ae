/** What the agent of a capture machine remembers of the files that it has sent. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Journal, type SentFile } from '../../../cli/folder/journal.ts';

const sent = (number: number): SentFile => ({
  file: `lap-${number}.csv`,
  sizeBytes: number,
  modifiedAtMs: 1_700_000_000_000 + number,
  identifier: `lap-${number}.csv-0123456789abcdef`,
  outputId: number,
});

test('forgets files that have left the folder once they are many, and none that is there, beside another agent too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, '.sdp-sent.jsonl');
  const all = Array.from({ length: 10_003 }, (_, number) => sent(number));
  writeFileSync(path, all.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const [journal, ofAnother] = [await Journal.open(folder), await Journal.open(folder)];
  const before = statSync(path).size;
  const here = [sent(7), sent(10_002)];
  await journal.forgetGone([...here, sent(20_000)]);
  expect(statSync(path).size).toBe(before);

  await journal.forgetGone(here.slice(0, 1));
  expect(statSync(path).size).toBeLessThan(before / 1_000);
  await ofAnother.add(sent(30_000));
  await ofAnother.read();
  for (const one of [journal, ofAnother, await Journal.open(folder)]) {
    await one.read();
    expect(one.find(sent(7))).toEqual(sent(7));
    expect(one.find(sent(30_000))).toEqual(sent(30_000));
  }
  expect(journal.find(sent(8))).toBeUndefined();
});
