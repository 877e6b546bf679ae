/** What the console gives a person who connects a runner. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandsOf, manifestOf } from '../../../web/src/admin/runner-commands.ts';

test('the manifest is the one that the command line writes', () => {
  const file = new URL('../../../cli/templates/shared/manifest.json', import.meta.url);
  expect(manifestOf('my-runner')).toEqual(JSON.parse(readFileSync(file, 'utf8')));
});

test('the commands start the programs of both kits', () => {
  for (const [language, program] of [
    ['python', '.venv/bin/sdp-runner runner.py'],
    ['typescript', 'npx sdp-runner runner.ts'],
  ] as const) {
    const lines = commandsOf('top-speed', language, 'https://sdp.example.org', 'hrt_x');
    expect(lines).toContain(`SDP_URL=https://sdp.example.org SDP_RUNNER_TOKEN=hrt_x ${program}`);
    const readme = new URL(`../../../cli/templates/${language}/README.md`, import.meta.url);
    expect(readFileSync(readme, 'utf8')).toMatch(new RegExp(`SDP_RUNNER_TOKEN=.*\\n${program}\\n`));
  }
});
