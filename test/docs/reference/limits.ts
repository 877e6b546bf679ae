/** docs/reference/limits.md: every number of domain/limits.ts, under the headings that it has there. */
import { readFileSync } from 'node:fs';
import { limits } from '../../../domain/limits.ts';
import { code, generated, table } from './table.ts';

type LimitName = keyof typeof limits;

/** For names that do not explain themselves. */
const meanings: Partial<Record<LimitName, string>> = {
  jsonBodyBytes: 'largest JSON body',
  jsonDepthLevels: 'deepest JSON body',
  freeJsonBytes: 'largest free JSON, such as `Metadata`, serialised',
  freeJsonDepthLevels: 'deepest free JSON',
  nameCharacters: 'longest name or title',
  descriptionCharacters: 'longest description',
  longTextBytes: 'icons, logos, configuration values, expressions',
  headerBytes: 'request target and headers together',
  headerFields: 'number of headers of a request',
  headersTimeoutSeconds: 'time for the headers of a request, from the connection or the previous response',
  keepAliveSeconds: 'an idle connection stays open for',
  connections: 'connections of one API process; further ones are closed',
  requestsAtOncePerConnection: 'pipelined requests on one connection; more of them close it',
  slowUploadBytesPerSecond: 'slowest upload',
  slowUploadSeconds: 'a slower upload is aborted after',
  slowReaderBytesPerSecond: 'slowest reader of a response',
  slowReaderSeconds: 'a slower reader is disconnected after',
  shutdownGraceSeconds: 'requests in progress may continue after SIGTERM for',
  smallestId: 'smallest id',
  largestId: 'largest id and size (2^53 - 1)',
  smallestInt32: 'smallest value of other integers',
  largestInt32: 'largest value of other integers',
  earliestYear: 'first year of a time',
  latestYear: 'last year of a time',
  accessTokenHours: 'lifetime of an access token',
  refreshTokenDays: 'lifetime of a refresh token',
  offlineTokenMonths: 'lifetime of an offline token',
  lastUsedWriteSeconds: 'the last use of a token is written at most once every',
  usersLookup: 'users in one lookup',
  authCallSeconds: 'longest check of a token; then 503',
  authForwardSeconds: 'longest call forwarded to a separate authentication service',
  passwordHashesAtOnce: 'passwords checked at the same time; others wait',
  passwordHashesWaiting: 'waiting sign-ins; further ones are 503',
  signInFailuresPerUsernameAndAddress: 'wrong passwords for one username from one address, then 429',
  signInFailuresPerAddress: 'wrong passwords from one address, then 429',
  signInFailureWindowSeconds: 'window in which wrong passwords count',
  runnerTokenDefaultHours: 'lifetime of a runner token without `ttlHours`',
  runnerTokenDeveloperMaxHours: "longest lifetime of a Developer's runner token",
  runnerTokenAdministratorMaxHours: "longest lifetime of an Administrator's runner token",
  runnerTokenTypes: 'runner types of one token',
  runnerCreatorCheckSeconds: 'creators of runner tokens are checked every',
  runnerCreatorTrustSeconds: 'a runner token whose creator cannot be checked is refused after',
  uploadBytesDefault: 'largest upload; set by `MAX_UPLOAD_BYTES`',
  runnerOutputBytes: 'largest output in one request',
  uploadPartMinBytes: 'smallest part of a multi-part output, except the last',
  uploadPartMaxBytes: 'largest part',
  uploadParts: 'parts of one output',
  latestJsonBytes: 'largest newest output that is served as JSON',
  bundledUploadBytes: 'queued uploads up to this share an object',
  bundleBytes: 'largest shared object',
  leaseSeconds: 'lease, unless the node template sets it',
  leaseMinSeconds: 'shortest lease',
  leaseMaxSeconds: 'longest lease',
  nextWaitMaxSeconds: 'longest wait for the next task with the end of one',
  claimWaitMaxSeconds: 'longest wait of a claim',
  cancelGraceSeconds: 'a cancelled run ends at the latest after one lease plus',
  maxAttemptsDefault: 'attempts of a run, unless the node template sets them',
  maxAttemptsMax: 'most attempts',
  sharedSessionRetryAfterSeconds: '`Retry-After` of a busy shared session',
  sharedSessionWaitSeconds: 'a request for a shared session waits for others',
  shutdownDelayMaxSeconds: 'longest `SHUTDOWN_DELAY_SECONDS`',
  balancerIdleSeconds: 'a stopping process keeps idle connections of a load balancer for',
  requestIdCharacters: 'longest accepted `X-Request-Id`',
  authQuestionsSeconds: 'longest time of one request for lookups of people',
  authAnswerBytes: 'largest response of a separate authentication service',
  passwordMinCharacters: 'shortest password',
  passwordMaxCharacters: 'longest password',
  runnerTokenKeptDays: 'an ended runner token stays in the list for',
  outputIdentifierCharacters: 'longest identifier of an output',
  outputMetadataBytes: 'metadata of an output',
  taskUploadDays: 'a multi-part output may stay open for',
  ingestPathSegments: 'segments in the path of a managed ingest',
  runnerInstanceCharacters: 'longest instance id of a runner',
  runnerInstanceKeptDays: 'an unseen instance stays in the list for',
  runnerDrainedKeptDays: 'a drained instance stays in the list for',
  runnerGoneSeconds: 'an unseen instance counts as gone after',
  runnerVersionCharacters: 'longest stored version of a runner',
  deployedProcessesPerType: 'processes of a runner type',
  deployedProcessesPerHost: 'processes of one host',
  deployedProcessesPerReport: 'processes in one call of a host’s heartbeat',
  deployedChangesPerCall: 'processes that one call of a host acquires or ends',
  deployedMessageCharacters: 'longest message about the state of a process',
  deployedSilentSeconds: 'longest `SDK_RUNNERS_HANG_SECONDS`',
  runnerStateBytes: 'state of a node between its runs',
  inputsPageDefault: 'inputs per page without `limit`',
  inputsPageMax: 'most inputs per page',
  incrementalInputsPerTaskDefault: 'inputs of one incremental task; set by `INCREMENTAL_MAX_INPUTS`',
  builtinTempBytes: 'disk space of all built-in runs of a worker together; set by `BUILTIN_TEMP_MB`',
  builtinTempReserveBytes: 'disk space that stays free; set by `BUILTIN_TEMP_RESERVE_MB`',
  builtinUnpackRatio: 'largest ratio of unpacked to packed size; set by `BUILTIN_UNPACK_RATIO`',
  builtinUnpackFreeBytes: 'unpacked size below which the ratio does not apply',
  builtinFileSeconds: 'longest conversion of one file',
  builtinSourceAnswerSeconds: 'a data source must answer a run within',
  builtinSourceAwaySeconds: 'an unavailable data source is not called again for',
  builtinSourceSilentSeconds: 'longest pause in a transfer from or to a data source',
  builtinSourceReturns: 'releases of a run that waits for a data source; then the attempt fails',
  templateNodes: 'nodes of a session template',
  sessionPageSizeDefault: 'sessions per page without `pageSize`',
  sessionPageSizeMax: 'most sessions per page',
  auditPageDefault: 'audit entries per page by default',
  auditPageMax: 'most audit entries per page',
  nodeRunPageSizeDefault: 'runs per page without `pageSize`',
  nodeRunPageSizeMax: 'most runs per page',
  rejectedInputsPageSizeDefault: 'rejected inputs per page without `pageSize`',
  rejectedInputsPageSizeMax: 'most rejected inputs per page',
  reprocessInputs: 'chosen inputs of one reprocess',
  dimensionPageSize: 'dashboards per page of the catalog',
  queryLimitDefault: 'sessions that a query returns without `limit`',
  queryLimitMax: 'most sessions that a query returns',
  queryOffsetMax: 'highest `offset` of a query',
  queryFilterLeaves: 'conditions of a query',
  queryFilterLevels: 'levels of a query',
  queryListValues: 'values of one `in`',
  queryOrderings: 'orderings of a query',
  queryPathCharacters: 'longest path into metadata',
  queryAddresses: 'addresses of people in a query',
  configurationNameCharacters: 'longest name of a configuration entry',
  timeWindowSecondsDefault: 'window of a shared session, unless the request sets it',
  timeWindowSecondsMax: 'longest window',
  closeReasonCharacters: 'longest reason for closing',
  sessionEventAttempts: 'most attempts, the newest, sent to a follower at once',
  sessionEventBufferBytes: 'events buffered for one follower; a slower one reads them from the database',
  sessionEventKeepAliveSeconds: 'a quiet event stream sends a keep-alive every',
  sessionEventListeners: 'followers of live events at one API process',
  sessionEventListenersPerCaller: 'followers of one person or offline token',
  waitingClaims: 'open claims at one API process',
  waitingClaimsPerCaller: 'open claims of one runner token',
  uploadsAtOnce: 'concurrent uploads at one API process, of people, devices and runners',
  uploadsAtOncePerCaller: 'concurrent uploads of one person, offline token or runner token',
  ingestsAtOnce: 'concurrent uploads to managed ingests at one API process',
  ingestsAtOncePerAddress: 'concurrent uploads to managed ingests of one network address',
  unavailableRetryAfterSeconds: 'default `Retry-After` of a 503',
  shareRetryAfterSeconds: '`Retry-After` of a caller that has used up its share',
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
  if (untold.length > 0) throw new Error(`domain/limits.ts: no heading above ${untold.join(', ')}.`);
  const tables = sections.map(({ title, names }) => {
    const rows = names.map((name) => [meanings[name] ?? wordsOf(name), printedValue(name), code(name)]);
    return `## ${title}\n\n${table(['What', 'Limit', 'Name in the code'], rows)}\n`;
  });
  return `${generated}
# Limits

Every limit of the interface. KB, MB and GB are powers of 1,024 bytes. Some limits
can be changed by a variable: see [settings](configuration.md).

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
