/** The browser of this machine. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first has no window to draw, and needs a sixth less processor time. */
const programs = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** Path of the machine's Chromium, or null. `CHROMIUM` names another. */
export function findChromium(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const named = process.env.CHROMIUM ?? '';
  const candidates = programs.flatMap((program) => folders.map((folder) => join(folder, program)));
  for (const candidate of named === '' ? candidates : [named]) {
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not here.
    }
  }
  return null;
}
