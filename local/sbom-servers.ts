/**
 * The contents of a server built with Go: the modules linked into it, as the program itself lists them, and their
 * licences, from their files in Go's module cache (local/tools/licences).
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PlainError } from './plain-error.ts';
import { checkout } from './settings.ts';

export interface GoModule {
  readonly name: string;
  readonly version: string;
  /** SPDX ids of all its licences; none: they could not be determined. */
  readonly licences: readonly string[];
}

/** A server and all that is linked into it. */
export interface LinkedServer {
  readonly server: GoModule;
  readonly modules: readonly GoModule[];
}

type NamedModule = Omit<GoModule, 'licences'>;

const maxBytes = 64 * 1024 * 1024;
const maxMs = 10 * 60_000;
const licencesFolder = join(checkout, 'local/tools/licences');
/** The name under which vulnerability databases know Go's own packages. */
const standardLibrary = 'stdlib';

/**
 * Reads programs that Go built. Modules that Go has removed from its cache meanwhile are fetched again.
 * @param programs paths of the programs
 * @param folder of the go.mod and go.sum that they were built by
 * @throws PlainError without Go, or for a file that is no program of Go
 */
export async function linkedServers(programs: readonly string[], folder: string): Promise<LinkedServer[]> {
  const linked = await Promise.all(programs.map(modulesOf));
  const all = linked.flatMap(({ server, modules }) => [server, ...modules]);
  const unique = [...new Map(all.map((module) => [keyOf(module), module])).values()];
  const licences = await licencesOf(unique, folder);
  const withLicences = (module: NamedModule): GoModule => ({
    ...module,
    licences: licences.get(keyOf(module)) ?? [],
  });
  return linked.map(({ server, modules }) => ({
    server: withLicences(server),
    modules: modules.map(withLicences),
  }));
}

/** By `go version -m`. A replaced module is named as its replacement, whose code runs. */
async function modulesOf(program: string): Promise<{ server: NamedModule; modules: NamedModule[] }> {
  const text = await go(['version', '-m', program], checkout);
  const [head = '', ...lines] = text.split('\n');
  const modules: NamedModule[] = [];
  let server: NamedModule | undefined;
  for (const [kind, name = '', version = ''] of lines.map((line) => line.trim().split('\t'))) {
    if (kind === 'mod') server = { name, version };
    else if (kind === 'dep') modules.push({ name, version });
    else if (kind === '=>') modules.splice(-1, 1, { name, version });
  }
  const goVersion = /: go(\S+)/.exec(head)?.[1];
  if (server === undefined || goVersion === undefined)
    throw new PlainError(`${program} has no build information.`);
  return { server, modules: [...modules, { name: standardLibrary, version: goVersion }] };
}

async function licencesOf(modules: readonly NamedModule[], folder: string): Promise<Map<string, string[]>> {
  const folders = new Map<string, string>();
  const fetched = modules.filter(({ name }) => name !== standardLibrary).map(keyOf);
  // It ends with 1 when one of them no longer exists, after listing all the others.
  const printed = await go(['mod', 'download', '-json', ...fetched], folder, true);
  for (const part of printed.split(/\n(?=\{)/)) {
    const { Path, Version, Dir } = JSON.parse(part) as Record<'Path' | 'Version' | 'Dir', string | undefined>;
    if (Dir !== undefined) folders.set(`${Path}@${Version}`, Dir);
  }
  const root = (await go(['env', 'GOROOT'], folder)).trim();
  for (const module of modules) if (module.name === standardLibrary) folders.set(keyOf(module), root);
  const running = go(['run', '.'], licencesFolder, false, [...new Set(folders.values())].join('\n'));
  const found = JSON.parse(await running) as Record<string, string[]>;
  return new Map([...folders].map(([key, path]) => [key, found[path] ?? []]));
}

const keyOf = ({ name, version }: NamedModule) => `${name}@${version}`;

/** @param isPartEnough its output counts although it failed */
async function go(args: string[], cwd: string, isPartEnough = false, input = ''): Promise<string> {
  // The user's own settings must not change what is read or built.
  const env = { ...process.env, GOFLAGS: '-buildvcs=false', GOWORK: 'off', CGO_ENABLED: '0' };
  const running = promisify(execFile)('go', args, { cwd, env, maxBuffer: maxBytes, timeout: maxMs });
  running.child.stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (code === 'ENOENT')
      throw new PlainError('Go 1.26 or newer is required to list the modules of the servers.');
    if (isPartEnough && stdout !== '') return stdout;
    throw new PlainError(`go ${args.slice(0, 3).join(' ')} failed: ${stderr.trim()}`);
  }
}
