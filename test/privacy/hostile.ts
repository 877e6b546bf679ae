/**
 * Each good call again in wrong forms: addresses, tokens and passwords in every place where something else belongs.
 * No secret is put into free text, which the platform stores for its callers.
 */
import type { Canary } from './canaries.ts';
import type { Call, RecordedCall } from './driver.ts';

/** Fields whose text is the caller's own and is stored as it is. */
const freeText = new Set(
  [
    ...[
      'title',
      'description',
      'icon',
      'name',
      'simulationName',
      'simulation_name',
      'reason',
      'label',
      'text',
      'phase',
    ],
    ...['message', 'statusDetails', 'username', 'firstName', 'lastName', 'company', 'value', 'scenarioName'],
    ...[
      'sectionTitle',
      'key',
      'columnKey',
      'filterKey',
      'configurationKey',
      'expression',
      'format',
      'fileName',
    ],
    ...[
      'dimensionNameFilter',
      'simulationId',
      'prefix',
      '$schema',
      'TemplateVersion',
      'version',
      'unit',
      'outputIdentifier',
    ],
    // Names of channels in a layout.
    ...['channels', 'x', 'split'],
  ].map((name) => name.toLowerCase()),
);
/** Fields that hold free JSON. */
const freeJson = new Set([
  'metadata',
  'configuration',
  'defaultconfiguration',
  'configurationschema',
  'state',
]);
/** Nothing of such a call is stored, so its texts may hold secrets too. */
const readOnly = new Set([
  'querySessions',
  'askDashboardSeries',
  'askDashboardStatistics',
  'askDashboardExport',
  'resolveUser',
  'lookUpUsers',
  'activeUsers',
  'validateToken',
  'signIn',
]);
/** These passwords and addresses belong there: in tables of the authentication service, hashed or as they are. */
const ofAccounts = /^(password|newPassword|email|role)$/i;

export interface Hostile {
  readonly address: Canary;
  readonly token: Canary;
  readonly password: Canary;
}

/** All wrong forms of one call. `by` replaces its bearer token, which may have ended meanwhile. */
export function wrongFormsOf(call: RecordedCall, by: string, hostile: Hostile): Call[] {
  const token = call.token === undefined ? undefined : by;
  const { method, path, bytes, headers, json } = call;
  const base: Call = {
    method,
    path,
    ...(token === undefined ? {} : { token }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(headers === undefined ? {} : { headers }),
    ...(json === undefined ? {} : { json }),
  };
  return [
    ...wrongPaths(call, base, hostile),
    ...wrongQueries(call, base, hostile),
    ...wrongHeaders(call, base, hostile),
    ...wrongBodies(call, base, hostile),
  ];
}

function wrongPaths(call: RecordedCall, base: Call, { address, token, password }: Hostile): Call[] {
  return Object.entries(call.params).flatMap(([name, given]) => {
    // A name in a path is its caller's own word, and is repeated as such.
    const last = name === 'name' ? token.value : `${token.value} ${password.value}`;
    return [address.value, last].map((value) => {
      const segment = encodeURIComponent(value);
      const bare = call.bare.split('/').map((part) => (decodeURIComponent(part) === given ? segment : part));
      return { ...base, path: bare.join('/') + (call.query === '' ? '' : `?${call.query}`) };
    });
  });
}

function wrongQueries({ bare, query, route }: RecordedCall, base: Call, hostile: Hostile): Call[] {
  const { address, token, password } = hostile;
  const smuggled = new URLSearchParams(query);
  smuggled.set('access_token', token.value);
  smuggled.set('token', token.value);
  smuggled.set('email', address.value);
  smuggled.set('password', password.value);
  const known = (route.query as { shape?: object } | undefined)?.shape ?? {};
  const wrong = Object.keys(known).map((name, index) => {
    const changed = new URLSearchParams(query);
    changed.set(name, index % 2 === 0 ? address.value : token.value);
    return changed;
  });
  return [smuggled, ...wrong].map((parameters) => ({ ...base, path: `${bare}?${parameters}` }));
}

/** As header bytes: fetch accepts characters of one byte. */
const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
/** Headers that name an output, a runner or a secret. */
const readsHeaders = /\/runner\/tasks\/|\/outputs\/|\/ingest\//;

function wrongHeaders({ bare }: RecordedCall, base: Call, hostile: Hostile): Call[] {
  const { address, token, password } = hostile;
  const extra = {
    'user-agent': latin1(`runner/1.0 (+mailto:${address.value}; ${token.value})`),
    referer: latin1(`https://example.org/?token=${token.value}&email=${encodeURIComponent(address.value)}`),
    cookie: latin1(`session=${token.value}; user=${encodeURIComponent(password.value)}`),
    'x-request-id': token.value,
    'x-forwarded-for': latin1(address.value),
    'x-api-key': token.value,
    'last-event-id': token.value,
    from: latin1(address.value),
  };
  const ofOutputs: Record<string, string>[] = [
    { 'x-platform-runner-instance': token.value },
    { 'x-platform-runner-instance': latin1(address.value) },
    { 'x-platform-output-identifier': token.value },
    { 'x-platform-output-identifier': latin1(address.value) },
    { 'x-platform-output-metadata': latin1(`{"$${address.value}":1,"${token.value}`) },
    { 'x-platform-watermark': token.value },
    { 'x-ingest-secret': token.value, 'content-md5': latin1(password.value) },
    { range: latin1(`bytes=${address.value}`), 'if-none-match': latin1(address.value) },
    { 'content-type': latin1(`text/${address.value}`), 'content-encoding': token.value },
  ];
  const basic = Buffer.from(`${address.value}:${password.value}`).toString('base64');
  const { token: _, ...withoutToken } = base;
  return [
    { ...base, headers: { ...base.headers, ...extra } },
    ...(readsHeaders.test(bare) ? ofOutputs : []).map((headers) => ({
      ...base,
      headers: { ...base.headers, ...headers },
    })),
    { ...withoutToken, headers: { ...base.headers, authorization: `Basic ${basic}` } },
    { ...withoutToken, headers: { ...base.headers, authorization: latin1(`Bearer ${address.value}`) } },
    { ...base, token: token.value },
  ];
}

function wrongBodies({ route }: RecordedCall, base: Call, hostile: Hostile): Call[] {
  if (base.json === undefined) return [];
  const { address, token, password } = hostile;
  const raw = (text: string) => {
    const { json: _, ...rest } = base;
    return { ...rest, bytes: text, headers: { ...base.headers, 'content-type': 'application/json' } };
  };
  const inPlace = leavesOf(base.json, readOnly.has(route.id)).flatMap((at, index) => {
    const isOfAccount = ofAccounts.test(String(at.at(-1)));
    const other = index % 2 === 0 || isOfAccount ? token.value : password.value;
    return (isOfAccount ? [other] : [address.value, other]).map((value) => ({
      ...base,
      json: replaced(base.json, at, value),
    }));
  });
  const beside = {
    ...(base.json as object),
    accessToken: token.value,
    unknown: [address.value, password.value],
  };
  return [
    ...inPlace,
    { ...base, json: beside },
    { ...base, json: [token.value, password.value, address.value] },
    raw(`{"email":"${address.value}","token":"${token.value}","password":"${password.value}`),
    raw(`{"${address.value} ${token.value}":1,"${address.value} ${token.value}":2}`),
  ];
}

type Path = readonly (string | number)[];

/** Paths of the values in a body, but for free text and free JSON. */
function leavesOf(value: unknown, everything: boolean, at: Path = []): Path[] {
  const name = String(at.findLast((part) => typeof part === 'string') ?? '').toLowerCase();
  if (!everything && (freeText.has(name) || freeJson.has(name))) return [];
  if (typeof value !== 'object' || value === null) return [at];
  return Object.entries(value).flatMap(([key, item]) =>
    leavesOf(item, everything, [...at, Array.isArray(value) ? Number(key) : key]),
  );
}

function replaced(value: unknown, [first, ...rest]: Path, by: string): unknown {
  if (first === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (index === first ? replaced(item, rest, by) : item));
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [first]: replaced(fields[first], rest, by) };
}
