/** Test files that this machine cannot run. */
import { globSync, readFileSync } from 'node:fs';
import { missingForCpp } from '../../sdk/support/cpp-programs.ts';
import { findChromium } from '../../web/support/chromium.ts';

/** @property use in a file whose every test needs the program */
const needs = [
  { program: 'Chromium', isMissing: findChromium() === null, use: /^describeInBrowser\(/m },
  { program: missingForCpp.join(', '), isMissing: missingForCpp.length > 0, use: /\bbuildCpp\(/ },
];

/**
 * Such files are left out, not skipped: a file starts its platform before its tests, and where all are skipped vitest calls no
 * `afterAll` that would stop it.
 */
export function leftOut(): string[] {
  const files = globSync('test/**/*.test.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  return needs.flatMap(({ program, isMissing, use }) => {
    const found = isMissing ? files.filter(({ text }) => use.test(text)) : [];
    if (found.length > 0) console.warn(`Left out: ${found.length} files of tests, which need ${program}.`);
    return found.map(({ path }) => path);
  });
}
