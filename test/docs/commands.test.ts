/** Runs the commands of the pages in docs/, each page in a separate shell, on one real platform. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testProcesses } from '../support/processes.ts';
import { runnerStage } from '../support/runner.ts';
import { ship } from '../support/templates.ts';
import { allPages, checkout, notRunOf, readPage } from './pages.ts';
import { checkPrinted, type Reader, runCommands } from './reader.ts';

/** Pages whose commands this file runs; other pages with commands have their own tests, which they name. */
const run = [
  'docs/quick-start.md',
  'docs/concepts.md',
  'docs/first-runner.md',
  'docs/device-uploads.md',
  'docs/recordings.md',
  'docs/operations/repair.md',
  'docs/operations/faults.md',
  'docs/operations/retention-and-audit.md',
  'docs/security.md',
];

const stage = await runnerStage();
await ship(stage.database);
const processes = testProcesses(stage.platform.environment);
const shells = testProcesses({});
const folder = mkdtempSync(join(tmpdir(), 'sdp-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { password } = stage.platform.administrator;
const reader: Reader = {
  folder,
  replacements: [
    ['http://localhost:8080', stage.api.url],
    ['"password": "..."', `"password": ${JSON.stringify(password)}`],
    // The page shows a platform that is well; on a busy machine a part may answer too late for that.
    ['npx sdp doctor', 'until npx sdp doctor > doctor.txt 2>&1; do sleep 1; done; cat doctor.txt'],
  ],
  setup: readPage('docs/quick-start.md').blocks.find(({ info }) => info === 'setup')!,
  startScript: (file, variables) => shells.startScript(file, variables, { program: 'bash' }),
};

/** The program behind `npx sdp`, started without npm, which saves a second; the quick start uses npm. */
const withoutNpm: Reader = {
  ...reader,
  replacements: [...reader.replacements, ['npx sdp ', `node ${join(checkout, 'cli/sdp.ts')} `]],
};

const missing = ['bash', 'curl', 'python3'].filter(
  (program) => spawnSync(program, ['--version']).status !== 0,
);
const why = missing.length === 0 ? '' : ` (there is no ${missing.join(', no ')})`;
describe.skipIf(missing.length > 0)(`the commands of a page${why}`, () => {
  beforeAll(async () => {
    await processes.startWorker('all');
  });

  test.each(run)('%s print what it says', async (path) => {
    const page = readPage(path);
    const own = path === 'docs/quick-start.md' ? reader : withoutNpm;
    checkPrinted(page, await runCommands(page, own), own);
  });
});

const pages = allPages();

// The README's are `npm start`, `npm run demo` and `npm test`: test/local/ starts the platform, and this is a test.
test('commands that are not run here state why', () => {
  const silent = pages.flatMap((page) => {
    if (run.includes(page.path) || page.path === 'README.md') return [];
    const reasons = new Set(notRunOf(page));
    const without = page.blocks.filter((block) => block.language === 'sh' && !reasons.has(block));
    return without.map(({ line }) => `${page.path}:${line}`);
  });
  expect(silent).toEqual([]);
});

// Listed one by one, so that they are not mistaken for tested.
describe('not run by this file', () => {
  for (const page of pages)
    for (const { line, notRun, text } of notRunOf(page))
      test.skip(`${page.path}:${line} ${text.split('\n')[0]} (${notRun})`, () => undefined);
});
