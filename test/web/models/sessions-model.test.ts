/** What the list of sessions and the metadata of one decide without a browser. */
import { describe, expect, test } from 'vitest';
import type { SessionList, SessionListRow } from '../../../client/types.ts';
import { found, type PaletteEntry, ranked } from '../../../web/src/palette/entries.ts';
import { readFilter } from '../../../web/src/query/model.ts';
import {
  changesOf,
  entriesOf,
  newDraft,
  valueOfText,
  valueText,
  withChanges,
} from '../../../web/src/session/metadata-model.ts';
import { filterOf, listAddress, listQueryOf, readView } from '../../../web/src/sessions/address.ts';
import { exampleText } from '../../../web/src/sessions/example.ts';
import { csvOf, nodesDone, refreshed, statusWords } from '../../../web/src/sessions/list-model.ts';

const view = (text: string) => readView(new URLSearchParams(text));

describe('the view of the list', () => {
  test.each([
    '',
    'tab=failed',
    'tab=mine&search=a+b&project=7&template=2&from=2026-11-16&to=2026-11-22&page=3',
    'sortBy=name&sortOrder=asc',
  ])('%j stands in the address as it was read', (text) =>
    expect(listAddress(view(text))).toBe(text === '' ? '/sessions' : `/sessions?${text}`),
  );

  test('reads nonsense as the default', () => {
    expect(view('tab=x&project=-1&from=yesterday&page=0&sortBy=id')).toEqual(view(''));
  });

  test('asks for whole days, the state or the person of its tab', () => {
    expect(listQueryOf(view('tab=failed&from=2026-11-16&to=2026-11-16'))).toMatchObject({
      state: 'failed',
      from: new Date(2026, 10, 16).toISOString(),
      to: new Date(2026, 10, 17).toISOString(),
      page: 1,
    });
    expect(listQueryOf(view('tab=mine'))).toMatchObject({ owner: 'me' });
    expect(listQueryOf(view(''))).not.toHaveProperty('state');
  });

  test('goes on in the query builder with its filters', () => {
    expect(filterOf(view(''))).toBeNull();
    const filter = filterOf(view('tab=failed&project=7&from=2026-11-16'));
    expect(readFilter(filter)?.nodes).toMatchObject([
      { path: 'projectId', text: '7' },
      { path: 'createdAt', operator: 'gte' },
      { path: 'state', text: 'failed' },
    ]);
  });
});

const session = (id: string, fields: Partial<SessionListRow> = {}): SessionListRow => ({
  id,
  name: `Session ${id}`,
  simulationName: null,
  projectId: 7,
  projectTitle: 'Tracks',
  sessionTemplateId: 1,
  sessionTemplateName: 'table',
  createdAt: '2026-11-20T10:00:00.000Z',
  metadata: null,
  state: 'done',
  frozen: false,
  priority: 0,
  nodeCounts: { Succeeded: 3 },
  outputBytes: 10,
  lastActivityAt: '2026-11-20T10:05:00.000Z',
  owner: { id: 'x', name: 'Petra' },
  pinnedMetadata: [],
  dashboardUrl: null,
  ...fields,
});
const answer = (sessions: SessionListRow[], totalPages = 1): SessionList => ({
  sessions,
  page: 1,
  pageSize: 3,
  totalCount: sessions.length,
  totalCountIsExact: true,
  totalPages,
});

describe('a list that is shown', () => {
  const shown = ['c', 'b', 'a'].map((id) => ({ session: session(id), isGone: false }));
  const rowsOf = ({ rows }: ReturnType<typeof refreshed>) =>
    rows.map((row) => `${row.session.id} ${row.session.state}${row.isGone ? ' gone' : ''}`);

  test('keeps its rows in their places, with their new states', () => {
    const next = refreshed(shown, answer([session('b'), session('c', { state: 'failed' }), session('a')]));
    expect(rowsOf(next)).toEqual(['c failed', 'b done', 'a done']);
    expect(next.newer).toBe(0);
  });

  test('counts newer ones; rows that they moved to the next page stay', () => {
    const next = refreshed(shown, answer([session('d'), session('c'), session('b')], 2));
    expect(rowsOf(next)).toEqual(['c done', 'b done', 'a done']);
    expect(next.newer).toBe(1);
  });

  test('marks what has left the list', () => {
    expect(rowsOf(refreshed(shown, answer([session('c'), session('a')])))).toEqual([
      'c done',
      'b done gone',
      'a done',
    ]);
  });
});

test('rows say how many nodes are done, and values as people read them', () => {
  expect(nodesDone({ nodeCounts: { Succeeded: 4, Failed: 1, NeverBegan: 2 } })).toEqual({
    done: 4,
    total: 7,
  });
  expect([true, 12, 'soft', ['a', 1], { a: 1 }, null].map(valueText)).toEqual([
    'yes',
    '12',
    'soft',
    'a, 1',
    '{"a":1}',
    'null',
  ]);
});

test('an export is a table that a spreadsheet does not run', () => {
  const text = csvOf([
    session('a', { name: '=1+1, "x"', pinnedMetadata: [{ path: 'tyre', value: 'soft' }] }),
    session('b', { state: 'failed', nodeCounts: { Failed: 1 } }),
    // Many spreadsheets begin a cell there.
    session('c', { name: 'x;=1+1' }),
  ]);
  expect(text.split('\r\n')).toEqual([
    'id,name,state,nodes done,nodes,project,template,owner,created,last activity,bytes,tyre',
    `a,"'=1+1, ""x""",Done,3,3,Tracks,table,Petra,2026-11-20T10:00:00.000Z,2026-11-20T10:05:00.000Z,10,soft`,
    'b,Session b,Failed,0,1,Tracks,table,Petra,2026-11-20T10:00:00.000Z,2026-11-20T10:05:00.000Z,10,',
    "c,x;'=1+1,Done,3,3,Tracks,table,Petra,2026-11-20T10:00:00.000Z,2026-11-20T10:05:00.000Z,10,",
  ]);
});

test('a session is called shared where machines share it, and closed where the platform closed it', () => {
  const window = { startTimeUtc: '2026-11-20T10:00:00.000Z', timeWindowSeconds: 300, machineGroup: 1 };
  const closed = { status: 'closed', closedAt: '2026-11-20T10:00:00.000Z', closedBy: 'x' };
  const words = (metadata: Record<string, unknown> | null) => statusWords(session('a', { metadata }));
  expect(words({ ...window, status: 'open' })).toBe('shared, open');
  expect(words({ ...window, ...closed })).toBe('shared, closed');
  expect(words(closed)).toBe('closed');
  expect([words({ status: 'open' }), words({ status: 'closed' }), words(null)]).toEqual([null, null, null]);
});

describe('metadata that are edited', () => {
  const metadata = { track: { name: 'Spa', length: 7004 }, wet: false, tags: ['a'], 'a.b': 1, openedBy: 'x' };
  const entries = entriesOf(metadata);

  test('are entries in the order of their names, without people and what the platform says', () => {
    expect(entries.map(({ keys }) => keys)).toEqual([
      ['a.b'],
      ['tags'],
      ['track', 'length'],
      ['track', 'name'],
      ['wet'],
    ]);
    expect(entriesOf({ machineGroup: 1, status: 'open', driver: 'MV' })).toEqual([
      { keys: ['driver'], value: 'MV' },
    ]);
    expect(entriesOf(null)).toEqual([]);
    const closed = {
      status: 'closed',
      closedAt: '2026-11-20T10:00:00.000Z',
      closedBy: 'x',
      closeReason: 'over',
    };
    expect(entriesOf({ ...closed, driver: 'MV' })).toEqual([{ keys: ['driver'], value: 'MV' }]);
    expect(entriesOf({ status: 'open' })).toHaveLength(1);
  });

  test('keep what was not changed, and types of what was', () => {
    const drafts = entries.map((entry) => newDraft(entry));
    expect(changesOf(drafts, entries)).toEqual([]);
    const changed = drafts
      .filter(({ path }) => path !== 'wet')
      .map((draft) => (draft.path === 'track.length' ? { ...draft, text: '7,5' } : draft))
      .map((draft) => (draft.path === 'track.name' ? { ...draft, text: '12' } : draft));
    const changes = changesOf(
      [...changed, { ...newDraft(), path: 'tyre.kind', text: 'soft' }, newDraft()],
      entries,
    );
    expect(withChanges(metadata, changes)).toEqual({
      track: { name: '12', length: '7,5' },
      tags: ['a'],
      'a.b': 1,
      openedBy: 'x',
      tyre: { kind: 'soft' },
    });
  });

  test('lose objects that become empty, and never the prototype', () => {
    expect(withChanges({ a: { b: { c: 1 } }, d: 2 }, [{ keys: ['a', 'b', 'c'], value: undefined }])).toEqual({
      d: 2,
    });
    const odd = withChanges(null, [{ keys: ['__proto__', 'x'], value: 1 }]);
    expect(Object.hasOwn(odd, '__proto__')).toBe(true);
  });

  test('are refused with names twice, or none', () => {
    const draft = (path: string) => ({ ...newDraft(), path, text: '1' });
    expect(() => changesOf([draft('a'), draft('a')], [])).toThrow('“a” is named twice.');
    expect(() => changesOf([draft('a..b')], [])).toThrow('is no name');
    expect(() => changesOf([draft('')], [])).toThrow('is no name');
  });

  test.each([
    ['12', undefined, 12],
    ['-1.5e3', undefined, -1500],
    ['007', undefined, '007'],
    ['true', undefined, true],
    ['soft', undefined, 'soft'],
    ['["a"]', undefined, ['a']],
    ['[a', undefined, '[a'],
    ['12', 'before', '12'],
    ['13', 12, 13],
  ])('%j in place of %j is %j', (text, before, value) => {
    expect(valueOfText(text, before)).toEqual(value);
  });
});

test('the palette shows what contains the words as they stand before what has them somewhere', () => {
  const entry = (label: string): PaletteEntry => ({ key: label, kind: 'Session', label, act: () => {} });
  const entries = ['stint tools on vm, 2', 'Car 16, stint 2', 'Stint 2 of car 44', 'Blueprint 2 stints'].map(
    entry,
  );
  expect(ranked(entries, 'stint 2').map(({ label }) => label)).toEqual([
    'Stint 2 of car 44',
    'Car 16, stint 2',
    'stint tools on vm, 2',
    'Blueprint 2 stints',
  ]);
});

test('the palette shows the sessions that a text finds, however many projects have it too', () => {
  const entry = (kind: string, label: string): PaletteEntry => ({ key: label, kind, label, act: () => {} });
  const projects = Array.from({ length: 300 }, (_, at) => entry('Project', `Monza ${at}`));
  const shown = found(projects, [entry('Session', 'Monza, stint 2')], 'monza');
  expect(shown.length).toBe(40);
  expect(shown.at(-1)!.label).toBe('Monza, stint 2');
});

test('the example is a recording of six laps', () => {
  const lines = exampleText().trim().split('\n');
  expect(lines.length).toBe(4801);
  expect(new Set(lines.map((line) => line.split(',').length))).toEqual(new Set([7]));
});
