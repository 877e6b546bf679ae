/** Reading the environment: once, in one place per process, with all faults reported together (decisions 14). */
import { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

/** From the fewest lines to the most, and none. */
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The value of `LOG_LEVEL`. */
export const logLevel = () =>
  z.enum(logLevels, { error: 'must be fatal, error, warn, info, debug, trace or silent' }).default('info');

/** A value that is a whole number; every other one has the same fault. */
export function wholeNumber(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(error).int(error).min(min, error).max(max, error);
}

/** A value that is the address of a server. */
export const webAddress = () =>
  z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address', abort: true });

/** A value that is the address by which people reach the platform, which has a host name or port of its own. */
export const publicAddress = () =>
  webAddress().refine((address) => /^https?:\/\/[^/?#@]+\/?$/i.test(address), {
    error: 'must be an address without a path: the platform cannot be below one',
  });

/** A value that is the address of a server that speaks no HTTP. */
export const hostAndPort = () =>
  z.string().regex(/^[^\s:/]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$/, 'must be host:port');

/** A value that no log and no page shows. */
export const secretText = (minCharacters: number) =>
  z.string().min(minCharacters, `must hold at least ${minCharacters} characters`).meta({ secret: true });

/** Each part of the product describes its own variables; `label` groups them in documentation. */
export type SettingsPart = z.ZodObject;

type SettingsOf<Parts extends Readonly<Record<string, SettingsPart>>> = {
  [Name in keyof Parts]: z.output<Parts[Name]>;
};

/** Thrown when variables are wrong or missing: `lines` holds one line for each, ready to print. */
export class SettingsError extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'SettingsError';
    this.lines = lines;
  }
}

/**
 * What is wrong with the settings of a server that cannot listen; any other error unchanged.
 * @param prefix of the names of its variables
 */
export function listenFault(error: unknown, prefix: '' | 'METRICS_' = ''): unknown {
  const { code = '', port, address, hostname } = error as Readonly<Record<string, string | undefined>>;
  const faults: Readonly<Record<string, string>> = {
    EADDRINUSE: `PORT: ${port} is in use by another program.`,
    EACCES: `PORT: this user may not listen on ${port}.`,
    EADDRNOTAVAIL: `HOST: ${address} is no address of this machine.`,
    ENOTFOUND: `HOST: ${hostname} is unknown.`,
  };
  const fault = faults[code];
  return fault === undefined ? error : new SettingsError([prefix + fault]);
}

/** Gives the text of a file; throws when it cannot be read. */
export type ReadFile = (path: string) => string;

/** The name under which a secret variable's file is given. */
const fileVariable = (name: string): string => `${name}_FILE`;

/**
 * Names of the variables marked `.meta({ secret: true })`: each may be given by a file, named by {@link fileVariable}.
 */
export function secretVariables(parts: Readonly<Record<string, SettingsPart>>): ReadonlySet<string> {
  const names = Object.values(parts).flatMap((part) =>
    Object.entries(part.shape).filter(([, schema]) => (schema as z.ZodType).meta()?.secret === true),
  );
  return new Set(names.map(([name]) => name));
}

/**
 * Parses the environment against each part's schema: `parseSettings({ http: httpSettings, auth: authSettings }, env)`
 * gives `{ http, auth }`. An empty variable counts as absent. A secret may be given by a file instead, of which the
 * end of the last line does not count. Throws `SettingsError` with every fault of every part.
 */
export function parseSettings<const Parts extends Readonly<Record<string, SettingsPart>>>(
  parts: Parts,
  environment: Environment,
  readFile: ReadFile,
): SettingsOf<Parts> {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const { values, files, faults } = withFiles(given, secretVariables(parts), readFile);
  const lines = new Set([...faults.values(), ...fileFaults(parts, values, readFile)]);
  const settings: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(parts)) {
    const result = schema.safeParse(values);
    if (result.success) settings[name] = result.data;
    else
      for (const issue of result.error.issues) {
        const variable = issue.path.join('.');
        // One that could not be read from its file has its line.
        if (faults.has(variable)) continue;
        const isMissing = values[variable] === undefined && issue.code !== 'custom';
        lines.add(
          isMissing ? `${variable} is required.` : `${files.get(variable) ?? variable}: ${issue.message}`,
        );
      }
  }
  if (lines.size > 0) throw new SettingsError([...lines]);
  return settings as SettingsOf<Parts>;
}

/** Files that a variable's own text names (`.meta({ files: (text) => paths })`) must be there too. */
function fileFaults(
  parts: Readonly<Record<string, SettingsPart>>,
  values: Readonly<Record<string, string | undefined>>,
  readFile: ReadFile,
): string[] {
  const fields = Object.values(parts).flatMap((part) => Object.entries(part.shape));
  return fields.flatMap(([name, schema]) => {
    const text = values[name];
    const filesOf = (schema as z.ZodType).meta()?.files as ((text: string) => string[]) | undefined;
    if (text === undefined || filesOf === undefined) return [];
    return filesOf(text).flatMap((path) => {
      try {
        readFile(path);
        return [];
      } catch (error) {
        return [`${name}: ${error instanceof Error ? error.message : String(error)}`];
      }
    });
  });
}

/** The variables, with those given by files; `files` and `faults` by the name of the variable. */
function withFiles(
  given: Readonly<Record<string, string | undefined>>,
  secrets: ReadonlySet<string>,
  readFile: ReadFile,
) {
  const values: Record<string, string | undefined> = { ...given };
  const files = new Map<string, string>();
  const faults = new Map<string, string>();
  for (const name of secrets) {
    const variable = fileVariable(name);
    const path = given[variable];
    if (path === undefined) continue;
    files.set(name, variable);
    if (given[name] !== undefined) {
      faults.set(name, `${variable}: ${name} is set too; set only one of them.`);
      continue;
    }
    try {
      const text = readFile(path).replace(/[\r\n]+$/, '');
      if (text === '') faults.set(name, `${variable}: the file is empty.`);
      else values[name] = text;
    } catch (error) {
      faults.set(name, `${variable}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { values, files, faults };
}
