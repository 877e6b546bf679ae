/** Checks of the documentation: generated pages are current, links lead somewhere, named tests exist. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  formatToken,
  leakedTokenPattern,
  type TokenFamily,
  tokenPrefixes,
} from '../../domain/access/token-format.ts';
import { type Bom, billOfMaterials, licenceExceptions, licenceFaults } from '../../local/sbom.ts';
import { allPages, anchorsOf, linksOf, readPage } from './pages.ts';
import { referencePages } from './reference/pages.ts';

const pages = allPages();

test('the generated pages are up to date: `npm run generate:reference` would not change them', () => {
  for (const [path, text] of Object.entries(referencePages()))
    expect(readFileSync(path, 'utf8') === text, `${path} is out of date: npm run generate:reference`).toBe(
      true,
    );
});

test('every link leads to an existing page or file, and to an existing heading', () => {
  const broken = pages.flatMap((page) =>
    linksOf(page).flatMap(({ link, file, anchor }) => {
      if (!existsSync(file)) return [`${page.path}: ${link}: there is no ${file}`];
      if (anchor === '' || anchorsOf(readPage(file).text).has(anchor)) return [];
      return [`${page.path}: ${link}: ${file} has no heading ${anchor}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('every page is reached from the index', () => {
  const reached = new Set(['docs/README.md']);
  for (const path of reached)
    for (const { file } of linksOf(readPage(path)))
      if (file.endsWith('.md') && existsSync(file)) reached.add(file);
  expect(pages.map(({ path }) => path).filter((path) => path !== 'README.md' && !reached.has(path))).toEqual(
    [],
  );
});

/** A test that a page names: its file, and its name in the source. */
const named = (text: string) =>
  [...text.matchAll(/`(test\/[\w./-]+\.ts)`(?:: \*([^*]+)\*)?/g)].map(([, file = '', name]) => ({
    file,
    name: name?.replaceAll(/\s+/g, ' '),
  }));

test('every line of the threat model names the tests that hold it, and these are there', () => {
  const rows = readPage('docs/threat-model.md')
    .text.split('\n')
    .filter((line) => /^\| (?!Threat )/.test(line));
  expect(rows.length).toBeGreaterThan(40);
  const unheld = rows.filter((row) => {
    const tests = named(row);
    return tests.length === 0 || tests.some(({ name }) => name === undefined);
  });
  expect(unheld).toEqual([]);
});

test('every test that a page names exists', () => {
  const sources = new Map<string, string>();
  const missing = pages.flatMap((page) =>
    named(page.text).flatMap(({ file, name }) => {
      if (!existsSync(file)) return [`${page.path}: ${file}`];
      const source = sources.get(file) ?? readFileSync(file, 'utf8');
      sources.set(file, source);
      return name === undefined || source.includes(name) ? [] : [`${page.path}: ${file}: ${name}`];
    }),
  );
  expect(missing).toEqual([]);
});

test('every kind of token that is made is found by the published pattern, and a wrong checksum is recognised', async () => {
  const { text, blocks } = readPage('docs/security.md');
  const published = blocks.find(({ language }) => language === 'regex')?.text ?? '';
  expect(published).toBe(leakedTokenPattern);
  const program = blocks.find(({ info }) => info === 'is-token.mjs')?.text ?? '';
  // The reader's own program, without its last lines, which print.
  const body = program.slice(0, program.indexOf('for (const token of')).concat('export { checksum };');
  const { checksum } = await import(`data:text/javascript,${encodeURIComponent(body)}`);
  for (const [family, prefix] of Object.entries(tokenPrefixes)) {
    expect(text).toContain(`\`${prefix}\``);
    const token = formatToken(family as TokenFamily, randomBytes(32));
    const found = `bearer=${token};`.match(new RegExp(published, 'g'));
    expect(found).toEqual([token]);
    expect(checksum(token.slice(0, -6))).toBe(token.slice(-6));
    const wrong = `${token.slice(0, 10)}${token[10] === 'x' ? 'y' : 'x'}${token.slice(11)}`;
    expect(checksum(wrong.slice(0, -6))).not.toBe(wrong.slice(-6));
  }
});

/** The contents of real servers are checked by test/containers/sbom.check.ts, which needs Go and the servers. */
describe('the bill of materials', () => {
  const module = (name: string, ...licences: string[]) => ({ name, version: 'v1.0.0', licences });
  const both = module('example.org/both', 'BSD-3-Clause', 'MIT');
  let bom: Bom;
  beforeAll(async () => {
    bom = await billOfMaterials([
      {
        server: module('example.org/one', 'MIT'),
        modules: [both, module('example.org/files', 'MPL-2.0'), module('example.org/silent')],
      },
      { server: module('example.org/other', 'MIT'), modules: [both, module('example.org/all', 'AGPL-3.0')] },
    ]);
  });

  test('holds every package of the lock file and every server, and no licence surprises', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { version?: string; name?: string; link?: boolean }>;
    };
    const held = new Set(bom.components.map(({ purl }) => purl));
    const missing = Object.entries(packages).flatMap(([path, { name, version, link }]) => {
      if (path === '' || link === true) return [];
      const known = name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const purl = `pkg:npm/${known.replace('@', '%40')}@${version}`;
      return held.has(purl) ? [] : [purl];
    });
    expect(missing).toEqual([]);
    expect(bom.components.filter(({ name }) => name === 'postgresql')).toHaveLength(1);
    const ofLock = bom.components.filter(({ purl }) => !purl.startsWith('pkg:golang/'));
    expect(licenceFaults({ ...bom, components: ofLock })).toEqual([]);
    const names = new Set(bom.components.map(({ name }) => name));
    expect(Object.keys(licenceExceptions).filter((name) => !names.has(name))).toEqual([]);
  });

  test('holds each module of the servers once, tells which server it is in, and of licences that go too far', () => {
    const modules = bom.components.filter(({ purl }) => purl.startsWith('pkg:golang/'));
    const shown = modules.map(({ name, type, licenses = [] }) => [
      name,
      type,
      licenses.map(({ license }) => license?.id ?? license?.name),
    ]);
    expect(shown).toEqual([
      ['example.org/one', 'application', ['MIT']],
      ['example.org/other', 'application', ['MIT']],
      ['example.org/both', 'library', ['BSD-3-Clause', 'MIT']],
      ['example.org/files', 'library', ['MPL-2.0']],
      ['example.org/silent', 'library', ['NOASSERTION']],
      ['example.org/all', 'library', ['AGPL-3.0']],
    ]);
    expect(bom.dependencies).toContainEqual({
      ref: 'pkg:golang/example.org/other@v1.0.0',
      dependsOn: ['pkg:golang/example.org/both@v1.0.0', 'pkg:golang/example.org/all@v1.0.0'],
    });
    expect(licenceFaults(bom)).toEqual([
      'pkg:golang/example.org/silent@v1.0.0: NOASSERTION',
      'pkg:golang/example.org/all@v1.0.0: AGPL-3.0',
    ]);
  });

  test('tells of a licence that nobody has looked at', () => {
    const [first] = bom.components;
    const strange = { ...first!, name: 'strange', licenses: [{ expression: 'MIT AND AGPL-3.0-only' }] };
    const silent = { ...first!, name: 'silent', licenses: [] };
    const chosen = { ...first!, name: 'chosen', licenses: [{ expression: '(MIT OR GPL-3.0-only)' }] };
    expect(licenceFaults({ ...bom, components: [strange, silent, chosen] })).toEqual([
      `${first!.purl}: MIT AND AGPL-3.0-only`,
      `${first!.purl}: no licence`,
    ]);
  });

  test('has the form of CycloneDX', () => {
    expect(bom).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: expect.stringMatching(/^1\.[5-9]$/),
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
      metadata: { timestamp: expect.stringMatching(/Z$/) },
    });
    const refs = bom.components.map((component) => component['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    for (const { type, name, version, purl } of bom.components) {
      expect(type).toMatch(/^(library|application|framework)$/);
      expect(purl).toMatch(/^pkg:(npm|golang|generic)\/\S+@\S+$/);
      expect([name, version].every((text) => text !== '')).toBe(true);
    }
  });
});
