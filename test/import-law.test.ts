import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const checkout = fileURLToPath(new URL('../', import.meta.url));

/**
 * The import law: each folder with the other folders that it may import. An entry is a folder or a file
 * without its ending; `types:` in front of it allows types alone.
 */
const LAW: Record<string, readonly string[]> = {
  domain: [],
  // The telemetry of every process; its log is redacted.
  telemetry: ['domain/redact', 'domain/settings'],
  // For the start of processes: reads variables and the files that they name, and starts readers of untrusted files.
  settings: ['domain'],
  store: ['telemetry', 'domain', 'settings'],
  http: ['domain', 'telemetry'],
  auth: [
    'http',
    'telemetry',
    'settings',
    // Migrations of every schema go by one migrator; the services themselves share nothing.
    'store/connection/advisory-locks',
    'store/connection/migrator',
    // Every pool loses its connections in the same way.
    'store/connection/pool-connections',
    // Ids of every kind have one form.
    'store/connection/ids',
    'domain/errors',
    'domain/examples',
    'domain/limits',
    'domain/network/database-fault',
    'domain/network/session-options',
    'domain/redact',
    'domain/access',
    'domain/settings',
    'domain/text',
  ],
  activities: ['store', 'domain', 'telemetry', 'settings', 'workflows/contract'],
  api: [
    'telemetry',
    'http',
    'store',
    'domain',
    'settings',
    'workflows/client',
    'workflows/contract',
    'workflows/settings',
    'workflows/targets',
    'auth',
  ],
  workflows: ['domain', 'types:activities'],
  worker: ['telemetry', 'activities', 'workflows', 'store', 'domain', 'settings'],
  // Clients of the platform over HTTP, which know only the interface.
  client: [],
  sdk: ['client'],
  cli: ['client'],
  // What no spreadsheet runs is one rule, for every table that the platform or a page writes.
  web: ['client', 'domain/reports/spreadsheet-text'],
  local: [
    'domain',
    'settings',
    'store/roles',
    'store/objects/buffer-garbage',
    'telemetry/unexpected',
    'auth/local-token',
  ],
};

const SOURCE = /\.(ts|tsx|mts)$/;
const NOT_OURS = new Set(['node_modules', 'dist', 'dist.partial', 'coverage', 'build']);

interface Import {
  file: string;
  specifier: string;
  isType: boolean;
}

interface Source {
  file: string;
  text: string;
  imports: Import[];
}

const sources = [...Object.keys(LAW), 'test'].flatMap((folder) => read(join(checkout, folder)));

test('the law covers every folder that holds TypeScript', () => {
  const folders = readdirSync(checkout, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_OURS.has(entry.name) && !entry.name.startsWith('.'))
    .filter((entry) => filesIn(join(checkout, entry.name)).length > 0)
    .map((entry) => entry.name);
  expect(folders.filter((name) => name !== 'test' && LAW[name] === undefined)).toEqual([]);
});

test('every folder imports only what the import law allows it', () => {
  const broken = sources.flatMap(({ imports }) => imports.filter((one) => !isLawful(one)).map(sentence));
  expect(broken).toEqual([]);
});

test('the API reaches the authentication service at one point', () => {
  const importers = sources
    .filter(({ file }) => file.startsWith('api/') && file !== 'api/compose.ts')
    .flatMap(({ imports }) => imports.filter((one) => topOf(targetOf(one) ?? '') === 'auth').map(sentence));
  expect(importers).toEqual([]);
});

test('nothing imports the API or the worker', () => {
  const isWrong = (one: Import) => {
    const top = topOf(targetOf(one) ?? '');
    return ['api', 'worker'].includes(top) && top !== topOf(one.file);
  };
  const importers = sources
    .filter(({ file }) => topOf(file) !== 'test')
    .flatMap(({ imports }) => imports.filter(isWrong).map(sentence));
  expect(importers).toEqual([]);
});

test('the workflow client is used by API and worker and never by a workflow', () => {
  const importers = sources
    .filter(({ file }) => file.startsWith('workflows/') && file !== 'workflows/client.ts')
    .flatMap(({ imports }) =>
      imports.filter((one) => !one.isType && one.specifier === '@temporalio/client').map(sentence),
    );
  expect(importers).toEqual([]);
});

test('domain reads no clock and no chance, so that a rule gives the same answer every time', () => {
  const impure =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\brandomUUID\(|\bsetTimeout\(/;
  const found = sources.filter(
    ({ file, text }) => topOf(file) === 'domain' && impure.test(withoutComments(text)),
  );
  expect(found.map(({ file }) => file)).toEqual([]);
});

test('domain does no input or output, so that the workflow bundler takes it', () => {
  const effects = sources
    .filter(({ file }) => topOf(file) === 'domain')
    .flatMap(({ imports }) =>
      imports.filter((one) => one.specifier.startsWith('node:') && !one.isType).map(sentence),
    );
  expect(effects).toEqual([]);
});

test('no files import each other in a circle, so that each can be read after what it imports', () => {
  const targets = new Map(
    sources.map(({ file, imports }) => [file, imports.map((one) => targetOf(one) ?? '')] as const),
  );
  expect(circlesOf(targets)).toEqual([]);
});

// Files above folders put them together, or serve all of them, as `api/routes.ts` and `api/route.ts` do.
test('nor do folders that lie beside each other, and in the store no folders', () => {
  const isAbove = (upper: string, lower: string) => topOf(upper) !== 'store' && lower.startsWith(`${upper}/`);
  const targets = new Map<string, string[]>();
  for (const { file, imports } of sources.filter((one) => topOf(one.file) !== 'test')) {
    const from = dirname(file);
    const others = imports
      .map((one) => dirname(targetOf(one) ?? ''))
      .filter((to) => to !== from && topOf(to) === topOf(from) && !isAbove(from, to) && !isAbove(to, from));
    targets.set(from, [...(targets.get(from) ?? []), ...others]);
  }
  expect(circlesOf(targets)).toEqual([]);
});

test('nor do those of the Python package, imports within functions and for types alone included', () => {
  const root = join(checkout, 'sdk/python/src');
  const files = (readdirSync(root, { recursive: true }) as string[]).filter((file) => file.endsWith('.py'));
  const targets = new Map(files.map((file) => [file, pythonTargets(root, file)] as const));
  expect([...targets.values()].flat().length).toBeGreaterThan(100);
  expect(circlesOf(targets)).toEqual([]);
});

test('imports of our own end in .ts, so that the sources run without a build', () => {
  const wrong = sources
    // The console is built by Vite, which resolves styles and components too.
    .filter(({ file }) => topOf(file) !== 'web')
    .flatMap(({ imports }) => imports)
    .filter((one) => one.specifier.startsWith('.') && !/\.(ts|json)$/.test(one.specifier))
    .map(sentence);
  expect(wrong).toEqual([]);
});

test('every import of our own leads to a file', () => {
  const lost = sources
    .filter(({ file }) => topOf(file) !== 'web')
    .flatMap(({ imports }) => imports)
    .filter((one) => targetOf(one) !== undefined && !existsSync(join(checkout, targetOf(one) ?? '')))
    .map(sentence);
  expect(lost).toEqual([]);
});

test('no source uses enums, namespaces, parameter properties or decorators, which type stripping cannot run', () => {
  const forbidden: [RegExp, string][] = [
    [/^\s*(export\s+)?(declare\s+)?(const\s+)?enum\s+\w+\s*\{/m, 'enum'],
    [/^\s*(export\s+)?(declare\s+)?namespace\s+[\w.]+\s*\{/m, 'namespace'],
    [/^\s*@\w+(\(.*\))?\s*$/m, 'decorator'],
    [/constructor\s*\([^)]*\b(private|public|protected|readonly)\s+\w+\s*[:?]/, 'parameter property'],
  ];
  const found = sources.flatMap(({ file, text }) =>
    forbidden
      .filter(([pattern]) => pattern.test(withoutComments(text)))
      .map(([, name]) => `${file}: ${name}`),
  );
  expect(found).toEqual([]);
});

function isLawful(one: Import): boolean {
  const target = targetOf(one);
  const from = topOf(one.file);
  if (target === undefined || from === 'test' || topOf(target) === from) return true;
  return (LAW[from] ?? []).some((allowed) => {
    const isTypesOnly = allowed.startsWith('types:');
    const place = isTypesOnly ? allowed.slice('types:'.length) : allowed;
    const isThere = target === `${place}.ts` || target.startsWith(`${place}/`);
    return isThere && (!isTypesOnly || one.isType);
  });
}

/** The file of ours that an import means, from the checkout; undefined for packages. */
function targetOf(one: Import): string | undefined {
  if (!one.specifier.startsWith('.')) return undefined;
  return relative(checkout, resolve(checkout, dirname(one.file), one.specifier));
}

function topOf(file: string): string {
  return file.split('/')[0] ?? '';
}

function sentence(one: Import): string {
  return `${one.file} imports ${one.isType ? 'types of ' : ''}${one.specifier}`;
}

function read(folder: string): Source[] {
  return filesIn(folder).map((path) => {
    const file = relative(checkout, path);
    const text = readFileSync(path, 'utf8');
    return { file, text, imports: importsOf(file, withoutComments(text)) };
  });
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesIn(path);
    return SOURCE.test(entry.name) ? [path] : [];
  });
}

/** Static imports and exports, dynamic imports of a constant, and `import('...')` in types. */
function importsOf(file: string, text: string): Import[] {
  const statements = text.matchAll(
    /^\s*(?:import|export)\s+(type\s+)?(?:[\w*$\s{},]+?\s+from\s+)?['"]([^'"]+)['"]/gm,
  );
  const calls = text.matchAll(/(typeof\s+)?\bimport\(\s*['"]([^'"]+)['"]\s*\)/g);
  const workers = text.matchAll(/new URL\(\s*['"](\.[^'"]+\.ts)['"]\s*,\s*import\.meta\.url\s*\)()/g);
  return [
    ...[...statements, ...calls].map((match) => ({
      file,
      specifier: match[2] ?? '',
      isType: match[1] !== undefined,
    })),
    ...[...workers].map((match) => ({ file, specifier: match[1] ?? '', isType: false })),
  ];
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** @param targets what each file imports */
function circlesOf(targets: ReadonlyMap<string, readonly string[]>): string[] {
  const isDone = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    if (isDone.has(file) || path.includes(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    isDone.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return circles;
}

/** The files of the package that a file imports by relative imports; it has no others of its own. */
function pythonTargets(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^\s*from (\.+)([\w.]*) import (.*)$/gm)].flatMap(([, dots, module, names]) => {
    const folder = join(dirname(file), '../'.repeat(dots!.length - 1));
    const place = join(folder, module!.replaceAll('.', '/'));
    // A package, or modules of it.
    const modules = names!.split(',').map((name) => `${join(place, name.trim())}.py`);
    return [`${place}.py`, join(place, '__init__.py'), ...modules].filter((one) =>
      existsSync(join(root, one)),
    );
  });
}
