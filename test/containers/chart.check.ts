/** The promises of ops/helm, on what Helm renders, held against docker-compose.yml and what the processes read. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { builtinNodes } from '../../activities/builtin/nodes.ts';
import { limits } from '../../domain/limits.ts';
import { parseSettings } from '../../domain/settings.ts';
import { allValues, Chart, minimalValues, podsOf, preparePrograms, type Resource } from '../helm/chart.ts';
import { processParts, secretNames } from '../helm/processes.ts';
import { readOfCheckout } from '../telemetry/operators-files.ts';
import { loadProject } from './project.ts';

const folder = mkdtempSync(join(tmpdir(), 'sdp-chart-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const chart = new Chart(preparePrograms()!, folder);
const least = chart.resources(minimalValues);
const all = chart.resources(allValues);
const pods = podsOf(all);
const { check: _, ...processes } = pods;
const { services } = loadProject();
const parts = Object.keys(processParts) as Array<keyof typeof processParts>;
const always = parts.filter((part) => part !== 'runner-host');

const ofKind = (resources: readonly Resource[], kind: string) =>
  resources.filter((resource) => resource.kind === kind);
const environmentOf = (part: string, from = pods) =>
  Object.fromEntries(from[part]!.containers[0]!.env!.map(({ name, value }) => [name, value]));
const partOf = ({ metadata }: Resource) => metadata.labels['app.kubernetes.io/component']!;

/** What the file of a secret may hold, as its process checks it. */
function secretText(path: string): string {
  const name = path.split('/').at(-1)!.toUpperCase();
  if (name.endsWith('DATABASE_URL')) return 'postgresql://user:password@database.example.org:5432/platform';
  if (name === 'TEMPORAL_TLS_KEY') return '-----BEGIN PRIVATE KEY-----';
  if (name.startsWith('TEMPORAL_TLS')) return '-----BEGIN CERTIFICATE-----';
  return 'x'.repeat(64);
}

describe('the chart', () => {
  test('has each process of docker-compose.yml, with its command, its user and its health check', () => {
    expect(Object.keys(processes).sort()).toEqual([...parts].sort());
    expect(Object.keys(podsOf(least)).sort()).toEqual([...always, 'check'].sort());
    for (const part of parts) {
      const { user, command, healthcheck } = services[part]!;
      const { containers, securityContext } = pods[part]!;
      const [container] = containers;
      expect(containers, part).toHaveLength(1);
      expect(container!.args, part).toEqual(command);
      expect(`${securityContext.runAsUser}:${securityContext.runAsGroup}`, part).toBe(user);
      if (part === 'migrations') continue;
      const probes = [container!.startupProbe!, container!.readinessProbe!, container!.livenessProbe!];
      for (const { httpGet, exec } of probes) {
        if (part === 'api') expect(httpGet).toEqual({ path: '/ready_check', port: 'http' });
        else expect(['CMD', ...exec!.command], part).toEqual(healthcheck!.test);
      }
    }
    // No part of the process answers for others there, and it says when it stops.
    expect(readOfCheckout('api/health/routes.ts')).toContain("path: '/ready_check'");
  });

  test('starts every process with settings that it takes, and with none that nobody reads', () => {
    for (const [values, resources] of [
      [minimalValues, least],
      [allValues, all],
    ] as const) {
      const own = podsOf(resources);
      for (const part of parts.filter((name) => name in own)) {
        const environment = environmentOf(part, own);
        expect(() => parseSettings(processParts[part], environment, secretText), part).not.toThrow();
        if (values === minimalValues) continue;
        const read = new Set(
          [processParts[part], processParts.worker, processParts.api, processParts['runner-host']]
            .flatMap((schemas) => Object.values(schemas))
            .flatMap(({ shape }) => Object.keys(shape)),
        );
        const unread = Object.keys(environment).filter(
          (name) => ![name, name.replace(/_FILE$/, '')].some((known) => read.has(known)),
        );
        expect(unread, part).toEqual(part === 'runner-host' ? [] : ['NODE_EXTRA_CA_CERTS']);
      }
    }
    // What the checks are for.
    const environment = environmentOf('api', podsOf(least));
    for (const name of ['DATABASE_URL_FILE', 'S3_ENDPOINT', 'TEMPORAL_ADDRESS', 'TOKEN_KEY_FILE']) {
      const { [name]: __, ...rest } = environment;
      expect(() => parseSettings(processParts.api, rest, secretText)).toThrow(
        `${name.replace('_FILE', '')} is required.`,
      );
    }
  });

  test('sets what docker-compose.yml sets, and the same where an installation chooses nothing', () => {
    const own = ['READY_FILE', 'METRICS_PORT', 'METRICS_HOST', 'PORT', 'HOST', 'SDK_RUNNERS_DIR'];
    for (const part of parts) {
      const given = environmentOf(part);
      const missing = Object.keys(services[part]!.environment!).filter(
        // Its default is the same.
        (name) => !(name in given) && name !== 'BUILTIN_TEMP_RESERVE_MB',
      );
      expect(missing, part).toEqual([]);
      const beside = services[part]!.environment!;
      for (const name of own.filter((name) => name in beside)) expect(given[name], name).toBe(beside[name]);
    }
  });

  test('holds no secret: each is a file from a key of a Secret, and a process gets those that it reads', () => {
    expect(ofKind(all, 'Secret')).toEqual([]);
    const text = chart.text(allValues);
    expect(text).not.toContain('secretKeyRef');
    for (const part of parts) {
      const environment = environmentOf(part);
      expect(
        Object.keys(environment).filter((name) => secretNames.has(name)),
        part,
      ).toEqual([]);
      const mounted = pods[part]!.volumes!.flatMap(({ projected }) => projected?.sources ?? []).flatMap(
        ({ secret }) => secret.items.map(({ path }) => path),
      );
      const read = Object.entries(environment).filter(
        ([name]) => name.endsWith('_FILE') && name !== 'READY_FILE',
      );
      expect(read.map(([, path]) => path).sort(), part).toEqual(
        mounted.map((path) => `/run/secrets/${path}`).sort(),
      );
      const beside = (services[part]!.secrets ?? []).map(({ target }) => target.split('/').at(-1)!);
      // In compose, the files have the name of the secret, here that of the variable.
      const known = beside.map((name) => (part === 'migrations' ? name.replace('owner_', '') : name));
      expect(
        known.filter((name) => !mounted.includes(name)),
        part,
      ).toEqual([]);
    }
    const host = pods['runner-host']!.volumes!.flatMap(({ projected }) => projected?.sources ?? []);
    expect(host).toEqual([
      { secret: { name: 'sdp', items: [{ key: 'runnerHostKey', path: 'runner_host_key' }] } },
    ]);
    const [database] = pods.api!.volumes!.flatMap(({ projected }) => projected?.sources ?? []);
    expect(database!.secret).toEqual({
      name: 'database',
      items: [{ key: 'application', path: 'database_url' }],
    });
  });

  test('gives containers nothing but what they need, with limits', () => {
    for (const [part, { containers, securityContext, automountServiceAccountToken }] of Object.entries(
      pods,
    )) {
      expect(automountServiceAccountToken, part).toBe(false);
      expect(securityContext, part).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext: own, resources } of containers) {
        expect(own, part).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        for (const amounts of [resources.requests, resources.limits])
          expect(Object.keys(amounts).sort(), part).toEqual(['cpu', 'memory']);
      }
    }
    const accounts = ofKind(all, 'ServiceAccount');
    const withRole = accounts.filter(({ metadata }) => metadata.annotations?.['example.org/role']);
    // The migrations make the bucket; deployed runners get no role.
    expect(withRole.map(partOf).sort()).toEqual(['migrations', 'platform']);
    expect(pods['runner-host']!.serviceAccountName).toBe('platform-runner-host');
  });

  test('replaces processes one by one, and gives those that stop more time than they need', () => {
    for (const { metadata, spec } of ofKind(all, 'Deployment'))
      expect(spec.strategy.rollingUpdate, metadata.name).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    const graceOf = (values: object, part: string) =>
      podsOf(chart.resources(values))[part]!.terminationGracePeriodSeconds!;
    for (const shutdownDelaySeconds of [0, 10, 60]) {
      const values = { ...minimalValues, api: { shutdownDelaySeconds } };
      const { api } = podsOf(chart.resources(values));
      expect(environmentOf('api', { api: api! }).SHUTDOWN_DELAY_SECONDS).toBe(String(shutdownDelaySeconds));
      const needed = shutdownDelaySeconds + 3 + limits.shutdownGraceSeconds;
      expect(graceOf(values, 'api')).toBeGreaterThanOrEqual(needed + 5);
    }
    for (const part of ['worker', 'builtin-worker'] as const) {
      const beside = Number.parseInt(services[part]!.stop_grace_period!, 10);
      expect(pods[part]!.terminationGracePeriodSeconds, part).toBeGreaterThanOrEqual(beside);
    }
    const runnerHost = { ...allValues.runnerHost, graceSeconds: 120 };
    expect(graceOf({ ...allValues, runnerHost }, 'runner-host')).toBeGreaterThanOrEqual(120 + 20);
    // A stopping process is asked for nothing new after its first failure, and ended only after several.
    const { readinessProbe, livenessProbe } = pods.api!.containers[0]!;
    expect(readinessProbe!.failureThreshold).toBe(1);
    expect(livenessProbe!.failureThreshold * livenessProbe!.periodSeconds).toBeGreaterThanOrEqual(45);
  });

  test('migrates before all else, at installs and upgrades, with nothing that is made later', () => {
    const before = all.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']?.startsWith('pre-'));
    expect(before.map(({ kind }) => kind).sort()).toEqual(['Job', 'NetworkPolicy', 'ServiceAccount']);
    for (const { kind, metadata } of before) {
      expect(metadata.annotations!['helm.sh/hook'], kind).toBe('pre-install,pre-upgrade');
      expect(Number(metadata.annotations!['helm.sh/hook-weight']) < 0, kind).toBe(kind !== 'Job');
    }
    expect(pods.migrations!.serviceAccountName).toBe('platform-migrations');
    const [, database] = pods.migrations!.volumes!.flatMap(({ projected }) => projected?.sources ?? []);
    const items = pods.migrations!.volumes!.flatMap(({ projected }) => projected?.sources ?? []);
    expect(database).toBeDefined();
    expect(items.map(({ secret }) => secret.items[0])).toContainEqual({
      key: 'owner_database_url',
      path: 'database_url',
    });
  });

  test('has a budget, a Service for metrics and a policy for each part, which find its pods', () => {
    for (const part of parts.filter((name) => name !== 'migrations')) {
      const { spec, metadata } = ofKind(all, 'Deployment').find((resource) => partOf(resource) === part)!;
      const { labels } = spec.template.metadata;
      const finds = (selector: Readonly<Record<string, string>>) =>
        Object.entries(selector).every(([name, value]) => labels[name] === value);
      const selecting = (kind: string, selectorOf: (resource: Resource) => Record<string, string>) =>
        ofKind(all, kind).filter((resource) => finds(selectorOf(resource)));
      expect(finds(spec.selector.matchLabels), part).toBe(true);
      expect(
        selecting('PodDisruptionBudget', (one) => one.spec.selector.matchLabels),
        part,
      ).toHaveLength(1);
      expect(
        selecting('NetworkPolicy', (one) => one.spec.podSelector.matchLabels),
        part,
      ).toHaveLength(1);
      const named = selecting('Service', (one) => one.spec.selector).map((one) => one.metadata.name);
      expect(named, part).toContain(`${metadata.name}-metrics`);
      expect(named.includes('platform-api'), part).toBe(part === 'api');
      const ports = spec.template.spec.containers[0].ports.map((port: { name: string }) => port.name);
      expect(ports, part).toEqual(part === 'api' ? ['http', 'metrics'] : ['metrics']);
    }
  });

  test('scales by metrics that the platform has, and built-in workers by the nodes that they run', () => {
    const reference = readOfCheckout('docs/reference/metrics.md');
    const scaled = ofKind(all, 'HorizontalPodAutoscaler');
    expect(scaled.map(partOf).sort()).toEqual(['api', 'builtin-worker', 'worker']);
    const deployments = new Map(ofKind(all, 'Deployment').map((one) => [one.metadata.name, one]));
    for (const { spec } of scaled) {
      expect(deployments.get(spec.scaleTargetRef.name)!.spec.replicas).toBeUndefined();
      for (const { external } of spec.metrics)
        if (external !== undefined) expect(reference).toContain(`| \`${external.metric.name}\` |`);
    }
    expect(ofKind(least, 'HorizontalPodAutoscaler')).toEqual([]);
    for (const { spec } of ofKind(least, 'Deployment')) expect(spec.replicas).toBe(2);
    const ofBuiltins = scaled.find((one) => partOf(one) === 'builtin-worker')!.spec.metrics[1].external;
    const [{ values }] = ofBuiltins.metric.selector.matchExpressions;
    // Input nodes have no tasks.
    const names = builtinNodes.map(({ name }) => name).filter((name) => name !== 'input-node');
    expect([...values].sort()).toEqual(names.sort());
  });

  test('lets deployed runners reach the API and public addresses, and lets nobody reach workers but for metrics', () => {
    const policy = (part: string, from = all) =>
      ofKind(from, 'NetworkPolicy').find((one) => partOf(one) === part)!.spec;
    const [dns, api, outside, more] = policy('runner-host').egress;
    expect(dns.ports.map(({ port }: { port: number }) => port)).toEqual([53, 53]);
    expect(api.to[0].podSelector.matchLabels['app.kubernetes.io/component']).toBe('api');
    expect(outside.to[0].ipBlock.except).toEqual(
      expect.arrayContaining(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16']),
    );
    expect(more).toEqual(allValues.networkPolicy.runnerEgress[0]);
    for (const part of ['worker', 'builtin-worker', 'runner-host'])
      expect(policy(part).ingress, part).toEqual([
        { from: allValues.networkPolicy.monitoring, ports: [{ port: 'metrics' }] },
      ]);
    for (const part of ['worker', 'builtin-worker', 'migrations'])
      expect(policy(part, least).ingress, part).toBeUndefined();
    expect(policy('api').ingress[0].from).toHaveLength(3);
    expect(policy('api', least).ingress).toEqual([{ ports: [{ port: 'http' }] }]);
    const off = { ...minimalValues, networkPolicy: { enabled: false } };
    expect(ofKind(chart.resources(off), 'NetworkPolicy')).toEqual([]);
  });
});
