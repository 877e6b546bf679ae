/** `sdp runner init`. What it makes is run by test/conformance/made-runners.test.ts and test/python/package.test.ts. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkManifest } from '../../domain/runners/manifest.ts';
import { empty } from '../domain/manifest-samples.ts';
import { commandLine } from './support.ts';

const { folder, runSdp } = commandLine();
const init = (...args: string[]) => runSdp(['runner', 'init', ...args], {});

test.each(['python', 'typescript'])('makes a runner in %s, named after its folder', async (language) => {
  const made = join(folder, `Lap tops_${language}`);
  const name = `lap-tops-${language}`;
  const { code, out, err } = await init(made, `--${language}`);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(`  cd '${made}'\n`);
  for (const file of readdirSync(made)) {
    expect(out).toContain(`  ${file}\n`);
    expect(readFileSync(join(made, file), 'utf8')).not.toMatch(/my-runner|KIT_FOLDER|SDP_COMMAND|NODE_HINT/);
  }
  const manifest = JSON.parse(readFileSync(join(made, 'manifest.json'), 'utf8'));
  const { errors, warnings, templates } = checkManifest(manifest, empty, null);
  expect({ errors, warnings, templates }).toEqual({ errors: [], warnings: [], templates: [name] });
});

test('leaves a folder alone that is not empty, and says so', async () => {
  const full = join(folder, 'full');
  mkdirSync(full);
  writeFileSync(join(full, 'notes.txt'), 'mine');
  expect(await init(full)).toEqual({ code: 2, out: '', err: `The folder ${full} is not empty.\n` });
  expect(readdirSync(full)).toEqual(['notes.txt']);
  const file = join(full, 'notes.txt');
  expect(await init(file)).toEqual({ code: 2, out: '', err: `${file} is not a folder.\n` });
});

test('refuses a name that the platform would refuse, before it makes anything', async () => {
  const { code, err } = await init(join(folder, 'new'), '--name', 'Lap_Tops');
  expect([code, err]).toEqual([2, expect.stringContaining("'Lap_Tops' cannot be the name of a runner")]);
  expect(readdirSync(folder)).not.toContain('new');
});
