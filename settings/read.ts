/** The one way in which processes read their settings: variables, and the files that some of them name. */
import { readFileSync, statSync } from 'node:fs';
import { type Environment, parseSettings, type SettingsPart } from '../domain/settings.ts';

export { type Environment, SettingsError } from '../domain/settings.ts';

const maxFileBytes = 64 * 1024;

/**
 * Reads and checks all variables of the parts: `readSettings({ http: httpSettings, auth: authSettings }, process.env)`
 * gives `{ http, auth }`. Throws `SettingsError` with every fault of every part.
 */
export function readSettings<const Parts extends Readonly<Record<string, SettingsPart>>>(
  parts: Parts,
  environment: Environment,
) {
  return parseSettings(parts, environment, readSecretFile);
}

/** A file that a variable names, of 64 KB at the most. Throws with a text for the operator that reveals no content. */
function readSecretFile(path: string): string {
  try {
    if (statSync(path).size > maxFileBytes) throw new Error('too large');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      ENOENT: 'the file does not exist',
      EACCES: 'permission denied',
      EISDIR: 'it is a folder',
    };
    throw new Error(`${path} cannot be read: ${reasons[code] ?? (code || message)}.`);
  }
}
