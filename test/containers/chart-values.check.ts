/** The values of ops/helm: wrong ones are refused with their place, and each right one changes what is rendered. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { allValues, Chart, minimalValues, podsOf, preparePrograms, readOfChart } from '../helm/chart.ts';
import { processParts, secretNames } from '../helm/processes.ts';

type Values = Readonly<Record<string, unknown>>;

const folder = mkdtempSync(join(tmpdir(), 'sdp-chart-values-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const programs = preparePrograms()!;
const chart = new Chart(programs, folder);
const versions = Object.keys(programs.openApi);
const given = readOfChart('values.yaml') as Values;

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNone = (value: unknown) => isObject(value) && Object.keys(value).length === 0;

/** Paths of all values, those of secrets as a whole. */
function leaves(values: Values, above: readonly string[] = []): string[][] {
  return Object.entries(values).flatMap(([name, value]) => {
    const path = [...above, name];
    const isLeaf = !isObject(value) || isNone(value) || (above[0] === 'secrets' && isObject(value));
    return isLeaf ? [path] : leaves(value, path);
  });
}

const read = (values: unknown, path: readonly string[]): unknown =>
  path.reduce((inner, name) => (isObject(inner) ? inner[name] : undefined), values);

/** The values with another one at a path. */
function withValue(values: Values, [name = '', ...path]: readonly string[], value: unknown): Values {
  const inner = values[name];
  return {
    ...values,
    [name]: path.length === 0 ? value : withValue(isObject(inner) ? inner : {}, path, value),
  };
}

/** Values that cannot be made from the given one. */
const others: Readonly<Record<string, unknown>> = {
  fullnameOverride: 'other',
  'image.digest': `sha256:${'0123456789abcdef'.repeat(4)}`,
  'image.pullPolicy': 'Always',
  'image.pullSecrets': ['other'],
  'temporal.address': 'other.example.org:7233',
  'temporal.tls': false,
  'temporal.uiUrl': 'https://other.example.org',
  publicUrl: 'https://other.example.org',
  traineeData: 'own',
  logLevel: 'debug',
  settings: { STAGING_MAX_BYTES: '1000000' },
  'networkPolicy.egress': [],
  'networkPolicy.runnerEgress': [{ ports: [{ port: 8123 }] }],
};

function otherThan(path: string, value: unknown): unknown {
  if (path in others) return others[path];
  if (path.endsWith('.settings')) return { OTEL_SERVICE_NAME: 'other' };
  if (path.startsWith('networkPolicy.') && Array.isArray(value))
    return [{ podSelector: { matchLabels: { 'example.org/kind': 'other' } } }];
  if (path.endsWith('.tolerations')) return [{ key: 'example.org/own', operator: 'Exists' }];
  if (path.endsWith('.affinity')) return { podAntiAffinity: {} };
  if (path.startsWith('secrets.') && path !== 'secrets.name') return { name: 'other', key: 'other' };
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (isNone(value)) return { 'example.org/one': 'other' };
  // An amount, or a text of which there is more.
  const text = String(value ?? '');
  return /^\d/.test(text) ? `7${text}` : `${text}other`;
}

/** With hosts of runners and an ingress, in fixed numbers. */
const fixed = {
  ...minimalValues,
  secrets: { name: 'sdp', runnerHostKey: { key: 'runner_host_key' } },
  trustedProxies: 1,
  certificates: { configMap: 'authorities', trusted: 'ours.pem' },
  runnerHost: { enabled: true, modules: { configMap: 'modules' } },
  ingress: { enabled: true, host: 'sdp.example.org' },
};
const bases: readonly Values[] = [allValues, fixed, minimalValues];

test('Helm finds nothing doubtful in the chart', () => {
  for (const values of bases) {
    const { isGood, printed } = chart.run('lint', values, '--strict');
    expect(isGood, printed).toBe(true);
    expect(printed).not.toMatch(/WARNING|ERROR/);
  }
});

test('each value changes what is rendered, and the result is one that Kubernetes takes', () => {
  const before = bases.map((values) => chart.text(values));
  const changed: string[] = [];
  for (const path of leaves(given)) {
    const name = path.join('.');
    const printed: string[] = [];
    const found = bases.some((base, at) => {
      const now = read(base, path) ?? read(given, path);
      const { isGood, printed: text } = chart.run('template', withValue(base, path, otherThan(name, now)));
      if (!isGood || text === before[at]) {
        printed.push(text);
        return false;
      }
      changed.push(text);
      return true;
    });
    expect(found, `${name}: ${printed.join('\n')}`).toBe(true);
  }
  expect(changed.length).toBeGreaterThan(80);
  for (const version of versions) expect(chart.faults(changed.join('\n---\n'), version), version).toEqual([]);
});

test.each<[string, object, string]>([
  ['an unknown value', { apis: {} }, "additional properties 'apis' not allowed"],
  ['a misspelt one', { api: { replica: 2 } }, "at '/api': additional properties 'replica' not allowed"],
  ['too few replicas', { api: { replicas: -1 } }, "at '/api/replicas': minimum: got -1, want 0"],
  ['a number as a text', { worker: { replicas: '2' } }, "at '/worker/replicas': got string, want integer"],
  ['a digest that is none', { image: { digest: 'latest' } }, "at '/image/digest'"],
  ['no address of Temporal', { temporal: { address: '' } }, "at '/temporal/address'"],
  ['Temporal with a scheme', { temporal: { address: 'https://temporal:7233' } }, "at '/temporal/address'"],
  ['a store without a scheme', { s3: { endpoint: 's3.example.org' } }, "at '/s3/endpoint'"],
  ['a secret', { secrets: { tokenKey: 'x'.repeat(32) } }, "at '/secrets/tokenKey': got string, want object"],
  ['no token key', { secrets: { tokenKey: null } }, "missing property 'tokenKey'"],
  ['no name of a Secret', { secrets: { name: '' } }, 'secrets.name is required'],
  ['half a pair of keys', { secrets: { s3AccessKeyId: null } }, "at '/secrets/s3SecretAccessKey'"],
  ['a secret as a setting', { settings: { DATABASE_URL: 'x' } }, "invalid propertyName 'DATABASE_URL'"],
  ['a file of a secret as a setting', { api: { settings: { TOKEN_KEY_FILE: '/x' } } }, 'TOKEN_KEY_FILE'],
  ['a setting that a value sets', { api: { settings: { PORT: '80' } } }, "invalid propertyName 'PORT'"],
  ['a setting that is no text', { settings: { MAX_UPLOAD_BYTES: 5e11 } }, 'want string'],
  ['a public address below a path', { publicUrl: 'https://example.org/sdp' }, "at '/publicUrl'"],
  ['a log level that is none', { logLevel: 'loud' }, "at '/logLevel'"],
  ['a size that is none', { api: { tempSize: '4 GB' } }, "at '/api/tempSize'"],
  ['no limits', { api: { resources: { limits: null } } }, "missing property 'limits'"],
  [
    'fewer at the most than at the least',
    { api: { autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 2 } } },
    'minReplicas of api (3) is above its maxReplicas (2)',
  ],
  ['a budget of nothing', { api: { maxUnavailable: 0 } }, "at '/api/maxUnavailable'"],
  [
    'an ingress whose callers would all have one address',
    { ingress: { enabled: true, host: 'sdp.example.org' } },
    "at '/trustedProxies': minimum: got 0, want 1",
  ],
  ['an ingress without a host', { trustedProxies: 1, ingress: { enabled: true } }, "at '/ingress/host'"],
  [
    'runner hosts without modules',
    { secrets: { runnerHostKey: { key: 'k' } }, runnerHost: { enabled: true } },
    "at '/runnerHost/modules'",
  ],
  [
    'runner hosts with two folders',
    {
      secrets: { runnerHostKey: { key: 'k' } },
      runnerHost: { enabled: true, modules: { claim: 'one', configMap: 'other' } },
    },
    "at '/runnerHost/modules'",
  ],
  [
    'runner hosts without their key',
    { runnerHost: { enabled: true, modules: { claim: 'modules' } } },
    "at '/secrets': missing property 'runnerHostKey'",
  ],
  ['a trusted file of no ConfigMap', { certificates: { trusted: 'ca.pem' } }, "at '/certificates/configMap'"],
])('refuses %s, and says where', (_, wrong, words) => {
  const merged = Object.entries(wrong).map(([part, own]) => {
    const base = (minimalValues as Readonly<Record<string, object>>)[part];
    return [part, isObject(own) ? { ...base, ...own } : own];
  });
  const { isGood, printed } = chart.run('template', { ...minimalValues, ...Object.fromEntries(merged) });
  expect(isGood).toBe(false);
  expect(printed).toContain(words);
});

test('the variables that are no settings are those of secrets, of other values, and of the image', () => {
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../ops/helm/values.schema.json'), 'utf8'),
  );
  const refused: string[] = schema.definitions.settings.propertyNames.not.anyOf[0].enum;
  const pods = podsOf(chart.resources(allValues));
  const set = Object.keys(processParts).flatMap((part) =>
    pods[part]!.containers[0]!.env!.map(({ name }) => name),
  );
  const plain = set.filter((name) => !name.endsWith('_FILE') || name === 'READY_FILE');
  // Two are settings of `allValues`, for all parts and for one.
  const { DATABASE_POOL_SIZE, S3_DOWNLOAD_ENDPOINT, ...ours } = Object.fromEntries(
    plain.map((name) => [name, true]),
  );
  expect([DATABASE_POOL_SIZE, S3_DOWNLOAD_ENDPOINT]).toEqual([true, true]);
  const ofImage = ['TEMP_DIR', 'TMPDIR', 'WORKFLOW_CACHE_DIR'];
  expect([...refused].sort()).toEqual(
    [...new Set([...Object.keys(ours), ...secretNames, ...ofImage])].sort(),
  );
});

test('the chart asks for the oldest Kubernetes that it is checked against', () => {
  const { kubeVersion } = readOfChart('Chart.yaml') as { kubeVersion: string };
  const [major, minor] = versions[0]!.slice(1).split('.');
  expect(kubeVersion).toBe(`>=${major}.${minor}.0-0`);
});
