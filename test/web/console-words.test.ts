/** The words of the console: those that people did not understand stay away, and names are people's. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { routes } from '../../api/routes.ts';
import { checkout } from '../../local/settings.ts';
import {
  fileTitle,
  idOf,
  idTitle,
  outputTitle,
  personTitle,
  runnerTitle,
  titleOf,
  withTitles,
} from '../../web/src/names.ts';

/** What the console or the sentences of the platform once said, and what is said instead. */
const replaced: ReadonlyArray<readonly [RegExp, string]> = [
  [/Never began/, 'Not started'],
  [/Last success['"<]/, 'Last run'],
  [/newest upload (came|arrived)/, 'Last upload'],
  [/[Hh]as consumed all input/, 'Up to date'],
  [/no session to list yet/, 'No sessions yet'],
  [/Take .* away/, 'Hide …'],
  [/Find sessions/, 'Search'],
  [/Present password/, 'Current password'],
  [/Keep (it )?as it is/, 'Keep running, Cancel'],
  [/report that is chosen first/, 'Default report'],
  [/Takes files without a secret|trials only/, 'Accept uploads without a token (testing only)'],
  [/['"`>\s]Empty: /, 'Leave empty to …'],
  [/>\s*(Condition|Group|Order)\s*<\//, 'Add condition, Add group, Add order'],
  [/['"]Person['"]/, 'Owner'],
  [/[^-]held by \$\{|its lease (runs|ended)/, 'Running on …'],
  [/['">]\s*Change\s*['"<]/, 'Edit'],
  [/['"]Made( by)?['"]/, 'Created, Created by'],
  [/['"]Changed['"]/, 'Updated'],
];

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

test('no page and no sentence of the platform says an old word again', () => {
  const files = [...globSync('web/src/**/*.{ts,tsx}', { cwd: checkout }), 'domain/runs/explain.ts'];
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) => {
    const text = withoutComments(readFileSync(join(checkout, file), 'utf8'));
    return replaced.flatMap(([word, instead]) => {
      const hit = word.exec(text);
      return hit === null ? [] : [`${file}: ${hit[0].trim()} (${instead})`];
    });
  });
  expect(found).toEqual([]);
});

test('nodes and templates have titles', () => {
  expect(titleOf('system-tabular-dashboard-autodetect-next')).toBe('Table to dashboard');
  expect(titleOf('tabular-autodetect')).toBe('Read table');
  expect(titleOf('lap-splitter')).toBe('Lap splitter');
  for (const written of ['n1', 'Lap splitter 2', 'GPU-CFD', '2026-03-14', 'top speed'])
    expect(titleOf(written)).toBe(written);
});

test('operations of the audit read as words, and words find the operation', () => {
  expect(idTitle('createProject')).toBe('Create project');
  expect(idTitle('user')).toBe('User');
  for (const action of routes.map(({ id }) => id)) {
    expect(idOf(idTitle(action)), action).toBe(action);
    expect(idOf(action), action).toBe(action);
  }
  expect(idOf('')).toBe('');
});

test('people are called by their name, and without one by what they sign in with', () => {
  expect(personTitle({ firstName: 'Maria', lastName: 'Verdi', username: 'maria' })).toBe('Maria Verdi');
  expect(personTitle({ firstName: '', lastName: '', username: 'maria' })).toBe('maria');
});

test('runners are named by what they do and where', () => {
  expect(runnerTitle('top-speed:pit-wall-3:16608:4c58b1cf')).toBe('top speed on pit-wall-3');
  expect(runnerTitle('top-speed:pit-wall-3:16608:4c58b1cf.2', 'Pit wall')).toBe('top speed on pit-wall-3, 2');
  expect(runnerTitle('laboratory-3', 'Laboratory')).toBe('Laboratory');
  expect(runnerTitle('laboratory-3')).toBe('laboratory-3');
});

test('a sentence has the titles of what it names', () => {
  expect(
    withTitles('Waits for output of its parent tabular-autodetect (failed).', ['tabular-autodetect'], null),
  ).toBe('Waits for output of its parent Read table (failed).');
  expect(withTitles('Running on a-b:vm:1:0123abcd since now.', [], 'a-b:vm:1:0123abcd')).toBe(
    'Running on a b on vm since now.',
  );
});

test('outputs have the names of files', () => {
  const named = (metadata: Record<string, unknown> | null, identifier = '10.7.parquet') =>
    outputTitle({ metadata, outputIdentifier: identifier, contentType: 'application/json' });
  expect(named({ fileName: 'stint.csv' })).toBe('stint.csv');
  expect(named({ name: 'stint.csv', description: {} })).toBe('stint.csv, recording');
  expect(named({ kind: 'dashboard' })).toBe('Dashboard');
  expect(named(null)).toBe('10.7.parquet');
  const made = '01a2065e-5ebc-7033-a810-1078aa3ddc8d.1';
  expect(named(null, made)).toBe('JSON file');
  expect(named({ name: made })).toBe('Recording');
  expect(fileTitle('stint.csv', { outputIdentifier: made, contentType: 'text/csv' })).toBe('stint.csv');
  expect(fileTitle(null, { outputIdentifier: made, contentType: null })).toBe('File');
  expect(fileTitle(null, { outputIdentifier: made, contentType: 'application/octet-stream' })).toBe(
    'Binary file',
  );
  const sent = { outputIdentifier: 'stint.csv-3433511ab963755e', contentType: 'text/csv' };
  expect(fileTitle(null, sent)).toBe('stint.csv');
});
