/** docs/reference/limits.md: every number of domain/limits.ts, under the headings that it has there. */
import { readFileSync } from 'node:fs';
import { limits } from '../../../domain/limits.ts';
import { code, generated, table } from './table.ts';

type LimitName = keyof typeof limits;

/** Where the name alone does not say it. */
const meanings: Partial<Record<LimitName, string>> = {
  jsonBodyBytes: 'largest JSON body',
  jsonDepthLevels: 'deepest JSON body',
  freeJsonBytes: 'largest free JSON, such as `Metadata`, as it is serialised',
  freeJsonDepthLevels: 'deepest free JSON',
  nameCharacters: 'longest name or title',
  descriptionCharacters: 'longest description',
  longTextBytes: 'icons, logos, configuration values, expressions',
  headerBytes: 'target and headers of a request together',
  headerFields: 'headers of a request',
  headersTimeoutSeconds:
    'time for the headers of a request, counted from the connection or the answer before',
  keepAliveSeconds: 'an idle connection is kept for',
  connections: 'connections of one API process; further ones are closed',
  requestsAtOncePerConnection: 'requests sent ahead of their answers on one connection; more of them cut it',
  slowUploadBytesPerSecond: 'slowest upload',
  slowUploadSeconds: 'an upload below that is cut after',
  slowReaderBytesPerSecond: 'slowest reader of a reply',
  slowReaderSeconds: 'a reader below that is cut after',
  shutdownGraceSeconds: 'requests under way may go on after SIGTERM for',
  smallestId: 'smallest id',
  largestId: 'largest id and size (2^53 - 1)',
  smallestInt32: 'smallest of other integers',
  largestInt32: 'largest of other integers',
  earliestYear: 'first year of a time',
  latestYear: 'last year of a time',
  accessTokenHours: 'an access token lives',
  refreshTokenDays: 'a refresh token lives',
  offlineTokenMonths: 'an offline token lives',
  lastUsedWriteSeconds: 'the last use of a token is written at most once in',
  usersLookup: 'users in one lookup',
  authCallSeconds: 'longest check of a token; then 503',
  authForwardSeconds: 'longest call that is passed on to a separate authentication service',
  passwordHashesAtOnce: 'passwords checked at the same time, others wait',
  passwordHashesWaiting: 'sign-ins that wait for their turn; further ones are 503',
  signInFailuresPerUsernameAndAddress: 'wrong passwords for one name from one address, then 429',
  signInFailuresPerAddress: 'wrong passwords from one address, then 429',
  signInFailureWindowSeconds: 'wrong passwords count for',
  runnerTokenDefaultHours: 'a runner token lives, unless `ttlHours` says otherwise',
  runnerTokenDeveloperMaxHours: 'longest life of a runner token that a Developer makes',
  runnerTokenAdministratorMaxHours: 'longest life of a runner token that an Administrator makes',
  runnerTokenTypes: 'runner types of one token',
  runnerCreatorCheckSeconds: 'creators of runner tokens are asked about every',
  runnerCreatorTrustSeconds: 'without an answer about its creator a runner token is refused after',
  uploadBytesDefault: 'largest upload, unless `MAX_UPLOAD_BYTES` says otherwise',
  runnerOutputBytes: 'largest output in one request',
  uploadPartMinBytes: 'smallest part of an output in parts, but for the last',
  uploadPartMaxBytes: 'largest part',
  uploadParts: 'parts of one output',
  latestJsonBytes: 'largest output whose newest data are told as JSON',
  bundledUploadBytes: 'queued uploads up to this share an object',
  bundleBytes: 'largest shared object',
  leaseSeconds: 'a lease, unless the node template says otherwise',
  leaseMinSeconds: 'shortest lease',
  leaseMaxSeconds: 'longest lease',
  claimWaitMaxSeconds: 'longest wait of a claim',
  cancelGraceSeconds: 'a cancelled run ends after one lease and this, whatever its holder does',
  maxAttemptsDefault: 'attempts of a run, unless the node template says otherwise',
  maxAttemptsMax: 'most attempts',
  sharedSessionRetryAfterSeconds: '`Retry-After` of a shared session that is busy',
  sharedSessionWaitSeconds: 'a request for a shared session waits for others',
  shutdownDelayMaxSeconds: 'longest `SHUTDOWN_DELAY_SECONDS`',
  balancerIdleSeconds: 'a process that leaves keeps idle connections of a balancer for',
  requestIdCharacters: 'longest `X-Request-Id` that is taken over',
  authQuestionsSeconds: 'questions about people cost one request at the most',
  authAnswerBytes: 'largest answer of a separate authentication service',
  passwordMinCharacters: 'shortest password',
  passwordMaxCharacters: 'longest password',
  runnerTokenKeptDays: 'a runner token that has ended stays in the list for',
  outputIdentifierCharacters: 'longest identifier of an output',
  outputMetadataBytes: 'metadata of an output',
  taskUploadDays: 'an output in parts may stay open for',
  ingestPathSegments: 'segments in the address of a managed ingest',
  runnerInstanceCharacters: 'longest instance id of a runner',
  runnerInstanceKeptDays: 'an instance that is not seen stays in the list for',
  runnerDrainedKeptDays: 'a drained one for',
  runnerGoneSeconds: 'an instance that is not seen counts as gone after',
  runnerVersionCharacters: 'of what a runner tells of its version so many are kept',
  deployedProcessesPerType: 'most processes of a runner type',
  deployedProcessesPerHost: 'most processes of one host',
  deployedProcessesPerReport: 'processes in one call of a host’s heartbeat',
  deployedChangesPerCall: 'processes that one call of a host acquires or ends',
  deployedMessageCharacters: 'why a process is in its state',
  deployedSilentSeconds: 'longest `SDK_RUNNERS_HANG_SECONDS`',
  runnerStateBytes: 'state that a node keeps between its runs',
  inputsPageDefault: 'inputs on a page, unless `limit` says otherwise',
  inputsPageMax: 'most inputs on a page',
  incrementalInputsPerTaskDefault:
    'inputs of one incremental task, unless `INCREMENTAL_MAX_INPUTS` says otherwise',
  builtinTempBytes:
    'all built-in runs of a worker together take of its disk at most, unless `BUILTIN_TEMP_MB` says otherwise',
  builtinTempReserveBytes: 'stay free on that disk, unless `BUILTIN_TEMP_RESERVE_MB` says otherwise',
  builtinUnpackRatio:
    'times its size a packed file may unpack to, unless `BUILTIN_UNPACK_RATIO` says otherwise',
  builtinUnpackFreeBytes: 'may be unpacked whatever the ratio',
  builtinFileSeconds: 'one file is read and converted for at most',
  builtinSourceAnswerSeconds: 'a data source that a run needs answers within',
  builtinSourceAwaySeconds: 'one that does not is left alone for',
  builtinSourceSilentSeconds: 'while bytes come or go it may be silent for',
  builtinSourceReturns:
    'so often a run is given back and waits for a data source; then it fails and is retried as any',
  templateNodes: 'nodes of a session template',
  sessionPageSizeDefault: 'sessions on a page, unless `pageSize` says otherwise',
  sessionPageSizeMax: 'most sessions on a page',
  auditPageDefault: 'audit entries on a page, unless asked otherwise',
  auditPageMax: 'most audit entries on a page',
  nodeRunPageSizeDefault: 'runs on a page, unless `pageSize` says otherwise',
  nodeRunPageSizeMax: 'most runs on a page',
  dimensionPageSize: 'dashboards on a page of the catalog',
  queryLimitDefault: 'sessions that a query gives, unless `limit` says otherwise',
  queryLimitMax: 'most sessions that a query gives',
  queryOffsetMax: 'highest `offset` of a query',
  queryFilterLeaves: 'conditions of a query',
  queryFilterLevels: 'levels of a query',
  queryListValues: 'values of one `in`',
  queryOrderings: 'orderings of a query',
  queryPathCharacters: 'longest path into metadata',
  queryAddresses: 'addresses of people in a query',
  configurationNameCharacters: 'longest name of a configuration entry',
  timeWindowSecondsDefault: 'window of a shared session in seconds, unless the request says otherwise',
  timeWindowSecondsMax: 'longest window in seconds',
  closeReasonCharacters: 'longest reason for closing',
  sessionEventAttempts: 'most attempts, the newest, that a follower is told of at once',
  sessionEventBufferBytes:
    'events that wait for one follower; one that is further behind reads them again from the database',
  sessionEventKeepAliveSeconds: 'a quiet event stream says that it is alive every',
  sessionEventListeners: 'followers of live events at one API process',
  sessionEventListenersPerCaller: 'those of one person or offline token',
  waitingClaims: 'claims under way at one API process',
  waitingClaimsPerCaller: 'those of one runner token',
  uploadsAtOnce: 'uploads under way at one API process, of people, devices and runners',
  uploadsAtOncePerCaller: 'those of one person, offline token or runner token',
  ingestsAtOnce: 'uploads to managed ingests under way at one API process',
  ingestsAtOncePerAddress: 'those of one network address',
  unavailableRetryAfterSeconds: '`Retry-After` of a 503, unless it says otherwise',
  shareRetryAfterSeconds: '`Retry-After` of a caller whose share is used up',
};

/** Longest first, since `LevelsSeconds` ends in both. */
const units = ['Characters', 'Seconds', 'Minutes', 'Hours', 'Days', 'Months', 'Levels', 'Bytes'] as const;

export function limitsPage(): string {
  const source = readFileSync(new URL('../../../domain/limits.ts', import.meta.url), 'utf8');
  const sections: { readonly title: string; readonly names: LimitName[] }[] = [];
  for (const line of source.split('\n')) {
    const title = /^ {2}\/\/ (.+?)(?: \((?:contract|decisions).*\))?$/.exec(line)?.[1];
    if (title !== undefined) sections.push({ title, names: [] });
    const name = /^ {2}(\w+): /.exec(line)?.[1];
    if (name !== undefined && Object.hasOwn(limits, name)) sections.at(-1)?.names.push(name as LimitName);
  }
  const told = sections.flatMap(({ names }) => names);
  const untold = Object.keys(limits).filter((name) => !told.includes(name as LimitName));
  if (untold.length > 0) throw new Error(`domain/limits.ts: no heading stands above ${untold.join(', ')}.`);
  const tables = sections.map(({ title, names }) => {
    const rows = names.map((name) => [meanings[name] ?? wordsOf(name), printedValue(name), code(name)]);
    return `## ${title}\n\n${table(['What', 'Limit', 'Name in the code'], rows)}\n`;
  });
  return `${generated}
# Limits

Every number that bounds a caller or that the interface promises. KB, MB and GB are powers of 1,024 bytes. What operators
may change has a variable: see [settings](configuration.md).

${tables.join('\n')}`;
}

const unitOf = (name: string) => units.find((unit) => name.endsWith(unit));

function wordsOf(name: string): string {
  const bare = name.slice(0, name.length - (unitOf(name)?.length ?? 0)) || name;
  return bare
    .replaceAll(/([A-Z])/g, ' $1')
    .toLowerCase()
    .trim();
}

function printedValue(name: LimitName): string {
  const value: number = limits[name];
  const unit = unitOf(name);
  if (/Bytes/.test(name)) {
    const perSecond = /PerSecond/.test(name) ? ' a second' : '';
    return `${bytes(value)}${perSecond}`;
  }
  if (unit === 'Seconds' && value >= 120 && value % 60 === 0) return counted(value / 60, 'minutes');
  if (unit === 'Hours' && value > 48 && value % 24 === 0)
    return `${counted(value, 'hours')} (${value / 24} days)`;
  if (/Year|Id$|Int32/.test(name)) return String(value);
  return unit === undefined ? value.toLocaleString('en') : counted(value, unit.toLowerCase());
}

const counted = (value: number, unit: string) =>
  `${value.toLocaleString('en')} ${value === 1 ? unit.slice(0, -1) : unit}`;

function bytes(value: number): string {
  const [size, unit] = [
    [1024 ** 3, 'GB'],
    [1024 ** 2, 'MB'],
    [1024, 'KB'],
  ].find(([least]) => value >= Number(least) && value % Number(least) === 0) ?? [1, 'bytes'];
  return `${(value / Number(size)).toLocaleString('en')} ${unit}`;
}
