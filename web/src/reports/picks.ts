/** Columns that are ticked rather than written. Pure: tested without a browser. */
import type { ReportNames, SessionMetadataKey } from '../../../client/types.ts';
import { type DraftColumn, newColumn, sources } from './model.ts';

export interface Pick {
  readonly group: string;
  readonly name: string;
  readonly expression: string;
  readonly type: DraftColumn['type'];
  readonly source: DraftColumn['source'];
  /** Values as sessions have them. */
  readonly sample: string;
}

const field = (
  group: string,
  name: string,
  expression: string,
  type: DraftColumn['type'] = 'string',
): Pick => {
  const [root] = expression.split('.');
  const source = sources.find((one) => one === root) ?? 'dimension';
  return { group, name, expression, type, source, sample: '' };
};

const fields: readonly Pick[] = [
  field('Session', 'Session', 'dimension.sessionName'),
  field('Session', 'Project', 'dimension.projectTitle'),
  field('Session', 'Template', 'dimension.sessionTemplateName'),
  field('Session', 'Simulation', 'dimension.simulationName'),
  field('Session', 'Created', 'dimension.sessionCreatedAt', 'date'),
  field('Session', 'Session id', 'dimension.sessionId'),
  field('Dashboard', 'Dashboard', 'dimension.title'),
  field('Dashboard', 'Dashboard address', 'dashboard.url'),
  field('Scenario', 'Scenario', 'scenarioInstance.scenarioName'),
  field('Scenario', 'Scenario start', 'scenarioInstance.from', 'date'),
  field('Scenario', 'Scenario end', 'scenarioInstance.to', 'date'),
  field('Annotations', 'Annotations', "annotations.map(a, a.label).join(', ')"),
  field('Annotations', 'Number of annotations', 'annotations.size()', 'number'),
  field('People', 'Participant', 'user.name'),
  field('People', 'Email of the participant', 'user.email'),
];

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const reserved = new Set(
  'in true false null as break const continue else for function if import let loop namespace package return var void while'.split(
    ' ',
  ),
);

/** A name that the language has no word for stands in brackets: `tyre["kind of"]`. */
export const memberOf = (expression: string, key: string): string =>
  plainName.test(key) && !reserved.has(key)
    ? `${expression}.${key}`
    : `${expression}[${JSON.stringify(key)}]`;

export const metadataExpression = (path: string): string => path.split('.').reduce(memberOf, 'metadata');

type ChannelField = 'max' | 'mean' | 'min' | 'standardDeviation' | 'count';

/** The statistics of a channel, as columns of their headings. */
export const channelStatistics: readonly { readonly field: ChannelField; readonly title: string }[] = [
  { field: 'max', title: 'Highest' },
  { field: 'mean', title: 'Mean' },
  { field: 'min', title: 'Lowest' },
  { field: 'standardDeviation', title: 'Deviation' },
  { field: 'count', title: 'Values' },
];

/** One statistic of a channel, over all recordings of a dashboard. */
export function channelPick(
  { name, unit }: ReportNames['channels'][number],
  { field, title }: (typeof channelStatistics)[number],
): Pick {
  const of = unit === null || field === 'count' ? name : `${name} [${unit}]`;
  return {
    group: 'Channels',
    name: `${title} ${of}`,
    expression: `${memberOf('channels', name)}.${field}`,
    type: 'number',
    source: 'dimension',
    sample: '',
  };
}

export function picksOf(keys: readonly SessionMetadataKey[]): Pick[] {
  const own = keys.map(({ path, samples }): Pick => {
    const are = (type: string) => samples.length > 0 && samples.every((sample) => typeof sample === type);
    return {
      group: 'Metadata',
      name: path,
      expression: metadataExpression(path),
      type: are('number') ? 'number' : are('boolean') ? 'boolean' : 'string',
      source: 'metadata',
      sample: samples.slice(0, 3).join(', '),
    };
  });
  return [...fields, ...own];
}

export const isPicked = (pick: Pick, columns: readonly DraftColumn[]) =>
  columns.some(({ expression }) => expression.trim() === pick.expression);

/** The columns with a pick ticked or not; those that people wrote stay. */
export function picked(columns: readonly DraftColumn[], pick: Pick, on: boolean): DraftColumn[] {
  const others = columns.filter(({ expression }) => expression.trim() !== pick.expression);
  const { name, expression, type, source } = pick;
  return on ? [...others, { ...newColumn(), name, expression, type, source }] : others;
}

/** What a new report begins with. */
export const firstColumns = (): DraftColumn[] =>
  fields.slice(0, 2).reduce<DraftColumn[]>((columns, pick) => picked(columns, pick, true), []);
