/** What differs between sessions, made of what the platform answers about each. Pure. */
import type { Dashboard, DashboardSource, ListedOutput, NodeRun, SessionDetails } from './types.ts';

export interface ComparedSession {
  readonly session: SessionDetails;
  /** Completed runs, newest first; null: the caller may not read them. */
  readonly runs: readonly NodeRun[] | null;
  /** There are more runs than were read. */
  readonly hasMoreRuns: boolean;
  /** An input has more files than were read. */
  readonly hasMoreFiles: boolean;
  /** The newest output of each node, and those of its inputs; null: the caller may not read them. */
  readonly outputs: readonly ListedOutput[] | null;
  /** Null: the caller may not read them. */
  readonly dashboards: readonly Dashboard[] | null;
}

export interface Difference {
  /** What it belongs to: `Session`, `Metadata`, `Template`, `Node laps`, `Recording`. */
  readonly of: string;
  /** `Configuration gate.width` */
  readonly name: string;
  /** In the order of the sessions; undefined where one has none. */
  readonly values: readonly unknown[];
}

export interface Differences {
  readonly rows: readonly Difference[];
  /** How many other things are the same in all. */
  readonly same: number;
  /** Sentences on what could not be compared. */
  readonly leftOut: readonly string[];
}

/** Values by name. For a set the rows name the members that not all sessions have. */
type Facts = Map<string, unknown>;

export function differencesOf(compared: readonly ComparedSession[]): Differences {
  const parts = {
    runs: compared.every(({ runs }) => runs !== null),
    outputs: compared.every(({ outputs }) => outputs !== null),
    dashboards: compared.every(({ dashboards }) => dashboards !== null),
  };
  const nameOf = nameRecordings(compared);
  const things = compared.map((one) => thingsOf(one, parts, nameOf));
  const rows: Difference[] = [];
  let same = 0;
  for (const of of keysOf(things)) {
    const facts = things.map((all) => all.get(of));
    const holders = facts.filter((one) => one !== undefined);
    for (const [place, name] of [...keysOf(holders)].entries()) {
      const values = facts.map((one) => one?.get(name));
      // A session without the whole thing has one row for it, not one for each of its facts.
      const isLacking = place === 0 && holders.length < facts.length;
      if (isLacking || !isSame(holders.map((one) => one.get(name))))
        rows.push({ of, name, values: distinct(values) });
      else if (holders.length > 1 && values.some((value) => value !== undefined)) same += 1;
    }
  }
  return { rows, same, leftOut: leftOutOf(parts, compared) };
}

type Parts = Readonly<Record<'runs' | 'outputs' | 'dashboards', boolean>>;

const leftOutOf = (parts: Parts, compared: readonly ComparedSession[]) => [
  ...(parts.runs ? [] : ['Runner versions are left out: you may not read the runs of all these sessions.']),
  ...(parts.outputs ? [] : ['Files are left out: you may not read those of all these sessions.']),
  ...(parts.dashboards ? [] : ['Recordings are left out: you may not read those of all these sessions.']),
  ...(parts.outputs && compared.some(({ hasMoreFiles }) => hasMoreFiles)
    ? ['Of inputs with many files only the newest are compared.']
    : []),
];

/** All keys, in the order in which they come first. */
const keysOf = (maps: readonly ReadonlyMap<string, unknown>[]): Set<string> =>
  new Set(maps.flatMap((map) => [...map.keys()]));

const written = (value: unknown) => JSON.stringify(value instanceof Set ? [...value].sort() : value);

const isSame = (values: readonly unknown[]) => new Set(values.map(written)).size === 1;

/** Without what every one of the sets has. */
function distinct(values: readonly unknown[]): unknown[] {
  const sets = values.filter((value) => value instanceof Set);
  return values.map((value) =>
    value instanceof Set ? [...value].filter((one) => !sets.every((set) => set.has(one))) : value,
  );
}

function thingsOf(
  { session, runs, hasMoreRuns, outputs, dashboards }: ComparedSession,
  parts: Parts,
  nameOf: (source: DashboardSource) => string,
): Map<string, Facts> {
  const things = new Map<string, Facts>([
    ['Session', sessionFacts(session)],
    ['Metadata', new Map(leavesOf(session.metadata))],
    ['Template', templateFacts(session)],
  ]);
  const byNode = Map.groupBy(outputs ?? [], ({ nodeInstanceId }) => nodeInstanceId);
  for (const node of session.nodeInstances) {
    const facts = nodeFacts(node, session);
    const own = byNode.get(node.id) ?? [];
    const isInput = node.parentIds.length === 0;
    if (parts.outputs && isInput) facts.set('Files', new Set(own.map(fileText)));
    if (parts.outputs && !isInput && own[0] !== undefined && !isOfPlatform(own[0]))
      facts.set('Newest output', bytesText(own[0]));
    if (parts.runs && !isInput) {
      const run = runs?.find(({ nodeInstanceId }) => nodeInstanceId === node.id);
      facts.set('Runner version', run === undefined ? unread(hasMoreRuns, node) : versionOf(run));
    }
    things.set(`Node ${node.name}`, facts);
  }
  for (const source of parts.dashboards ? sourcesOf(dashboards ?? []) : [])
    things.set(unusedName(things, nameOf(source)), recordingFacts(source));
  return things;
}

function sessionFacts(session: SessionDetails): Facts {
  return new Map<string, unknown>([
    ['State', session.state],
    ['Project', session.project.title],
    ['Simulation', session.simulationName ?? undefined],
    ['Scenarios', new Set(session.scenarios.map(({ scenarioName }) => scenarioName))],
    ['Owner', session.owner.name ?? session.owner.id],
    ['Frozen', session.frozen],
    ['Priority', session.priority],
  ]);
}

function templateFacts({ sessionTemplate, templateChanged }: SessionDetails): Facts {
  return new Map<string, unknown>([
    ['Name', sessionTemplate.name],
    ['Description', sessionTemplate.description],
    ['Newer than the session', templateChanged],
    ...prefixed('Configuration', leavesOf(parsed(sessionTemplate.configuration))),
  ]);
}

function nodeFacts(node: SessionDetails['nodeInstances'][number], session: SessionDetails): Facts {
  const parents = session.nodeInstances.filter(({ id }) => node.parentIds.includes(id));
  return new Map<string, unknown>([
    ['Node template', node.nodeTemplateName],
    ['State', node.state],
    ['Reason', node.state === 'Failed' ? node.statusDetails : undefined],
    ['Parents', new Set(parents.map(({ name }) => name))],
    ['Rejected inputs', node.rejectedInputs],
    ...prefixed('Configuration', leavesOf(parsed(node.configuration))),
  ]);
}

const versionOf = (run: NodeRun) => run.attempts.at(-1)?.runner?.version ?? undefined;

const unread = (hasMoreRuns: boolean, { currentOutputId }: { readonly currentOutputId: number | null }) =>
  hasMoreRuns && currentOutputId !== null ? 'not among the newest runs' : undefined;

/** Names an output by its file, else by its identifier. */
function fileText(output: ListedOutput): string {
  const name = output.metadata?.fileName;
  return `${typeof name === 'string' && name !== '' ? name : output.outputIdentifier}, ${bytesText(output)}`;
}

/** Recordings and dashboards hold ids of their session: their bytes are never the same. */
const isOfPlatform = ({ metadata }: ListedOutput) =>
  metadata?.kind === 'recording' || metadata?.kind === 'dashboard';

const bytesText = ({ sizeBytes, sha256 }: ListedOutput) =>
  `${sizeBytes} bytes${sha256 === null ? '' : `, SHA-256 ${sha256.slice(0, 12)}`}`;

function recordingFacts({ rowCount, time, channels }: DashboardSource): Facts {
  const hasTime = time.basis === 'column' && time.from !== null && time.to !== null;
  return new Map<string, unknown>([
    ['Rows', rowCount],
    ['Time', time.basis === 'column' ? time.kind : 'none'],
    ['Duration', hasTime ? `${(Date.parse(time.to) - Date.parse(time.from)) / 1000} s` : undefined],
    ['Channels', new Set(channels.map(channelText))],
  ]);
}

const channelText = ({ name, unit, type }: DashboardSource['channels'][number]) =>
  [name, ...(unit ? [`[${unit}]`] : []), ...(isNumber(type) ? [] : [`as ${type}`])].join(' ');

/** A column of whole numbers may have fractions in the next recording. */
const isNumber = (type: string) => type === 'number' || type === 'integer';

/** Two dashboards of a session may show the same output. */
const sourcesOf = (dashboards: readonly Dashboard[]): DashboardSource[] => [
  ...new Map(
    dashboards.flatMap(({ sources }) => sources.map((one) => [one.outputId, one] as const)),
  ).values(),
];

/** The only recording of a session is compared with that of another, of whatever name; of several those of one name. */
function nameRecordings(compared: readonly ComparedSession[]): (source: DashboardSource) => string {
  const areSingle = compared.every(({ dashboards }) => sourcesOf(dashboards ?? []).length <= 1);
  return ({ name }) => (areSingle ? 'Recording' : `Recording ${name}`);
}

function unusedName(things: ReadonlyMap<string, Facts>, name: string): string {
  let unused = name;
  for (let number = 2; things.has(unused); number += 1) unused = `${name} (${number})`;
  return unused;
}

const prefixed = (name: string, leaves: readonly (readonly [string, unknown])[]) =>
  leaves.map(([path, value]) => [`${name} ${path}`, value] as const);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The values of a document by their paths: `gate.width`, `series[1].unit`. A list of plain values is one. */
function leavesOf(document: unknown, path = ''): (readonly [string, unknown])[] {
  const isList = Array.isArray(document);
  const isBranch = isList ? document.some(isObject) : isObject(document) && Object.keys(document).length > 0;
  if (!isBranch) return path === '' && (!document || isObject(document)) ? [] : [[path, document]];
  return Object.entries(document as object).flatMap(([key, value]) =>
    leavesOf(value, isList ? `${path}[${key}]` : pathOf(path, key)),
  );
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function pathOf(above: string, key: string): string {
  if (!/^[^.[\]\s"]+$/.test(key)) return `${above}[${JSON.stringify(key)}]`;
  return above === '' ? key : `${above}.${key}`;
}

/** The values of a row for people, empty where there is none. Those that differ never read the same. */
export function textsOf({ values }: Difference): string[] {
  const plain = values.map(plainText);
  const areDistinct = new Set(plain).size >= new Set(values.map(written)).size;
  return areDistinct ? plain : values.map((value) => written(value) ?? '');
}

function plainText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const isListOfTexts = Array.isArray(value) && value.every((one) => typeof one === 'string');
  return isListOfTexts ? value.join('; ') : JSON.stringify(value);
}
