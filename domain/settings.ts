/** Reading the environment: once, in one place per process, with all faults told together (decisions 14). */
import type { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Each part of the product describes its own variables; `label` groups them in documentation. */
export type SettingsPart = z.ZodObject;

type SettingsOf<Parts extends Readonly<Record<string, SettingsPart>>> = {
  [Name in keyof Parts]: z.output<Parts[Name]>;
};

/** Thrown when variables are wrong or missing: `lines` holds one line for each, fit to print as they stand. */
export class SettingsError extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'SettingsError';
    this.lines = lines;
  }
}

/**
 * Parses the environment against each part's schema: `readSettings({ http: httpSettings, auth: authSettings }, env)`
 * gives `{ http, auth }`. An empty variable counts as absent. Throws `SettingsError` with every fault of every part.
 */
export function readSettings<const Parts extends Readonly<Record<string, SettingsPart>>>(
  parts: Parts,
  environment: Environment,
): SettingsOf<Parts> {
  const present = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const lines = new Set<string>();
  const settings: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(parts)) {
    const result = schema.safeParse(present);
    if (result.success) settings[name] = result.data;
    else
      for (const issue of result.error.issues) {
        const variable = issue.path.join('.');
        lines.add(
          present[variable] === undefined ? `${variable} is required.` : `${variable}: ${issue.message}`,
        );
      }
  }
  if (lines.size > 0) throw new SettingsError([...lines]);
  return settings as SettingsOf<Parts>;
}
