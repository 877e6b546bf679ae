/** The promises of docker-compose.yml, checked on what the compose specification's own loader reads. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiSettings } from '../../api/settings.ts';
import { authMigrateSettings, authSettings } from '../../auth/settings.ts';
import { secretVariables } from '../../domain/settings.ts';
import { checkout } from '../../local/settings.ts';
import { databaseSettings } from '../../store/connection/settings.ts';
import { objectSettings } from '../../store/objects/settings.ts';
import { runnerHostSettings } from '../../worker/runner-host/settings.ts';
import { temporalSettings } from '../../workflows/settings.ts';
import { loadProject, startOrder } from './project.ts';
import { configurationFile, scrapeJobs } from './scraping.ts';

const project = loadProject();
/** With the services that start only with a profile. */
const whole = loadProject({}, ['monitoring']);
const services = Object.entries(whole.services);
const once = ['databases', 'migrations', 'temporal-schema'];

describe('docker-compose.yml', () => {
  test('has each part as a service of its own, with the image of one exact version or of this checkout', () => {
    expect(startOrder(project).sort()).toEqual(
      [
        'api',
        'builtin-worker',
        'databases',
        'migrations',
        'postgres',
        'proxy',
        'runner-host',
        's3',
        'temporal',
        'temporal-schema',
        'temporal-ui',
        'worker',
      ].sort(),
    );
    const further = services.map(([name]) => name).filter((name) => project.services[name] === undefined);
    expect(further).toEqual(['prometheus']);
    for (const [name, { image, build }] of services) {
      if (build === undefined) expect(image, name).toMatch(/^[a-z/-]+:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
    }
  });

  test('has an image that keeps what Node compiles of each program', () => {
    const dockerfile = readFileSync(join(checkout, 'Dockerfile'), 'utf8');
    const kept = /\nRUN for program in ([^;]+);/.exec(dockerfile)![1]!.split(/[\s\\]+/);
    const own = services.filter(([, { build }]) => build !== undefined);
    const started = own.flatMap(([, { command }]) => command?.join(' ').match(/[\w/-]+\.ts/g) ?? []);
    expect(started.length).toBeGreaterThan(5);
    expect(started.filter((program) => !kept.includes(program))).toEqual([]);
    for (const program of kept) {
      const folder = mkdtempSync(join(tmpdir(), 'sdp-compiled-'));
      const env = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: folder };
      // Without settings each ends as soon as it is loaded.
      const { signal } = spawnSync(process.execPath, [program], { cwd: checkout, env, timeout: 60_000 });
      const files = readdirSync(folder, { recursive: true }).length;
      rmSync(folder, { recursive: true });
      expect([program, signal, files > 100]).toEqual([program, null, true]);
    }
  });

  test('has a health check for every service, a restart policy, limits, and minimal rights', () => {
    for (const [name, service] of services) {
      if (!once.includes(name)) expect(service.healthcheck?.test[0], name).toBe('CMD');
      expect(service.restart, name).toBe(once.includes(name) ? 'on-failure:5' : 'unless-stopped');
      const limits = service.deploy?.resources?.limits;
      expect(Number(limits?.cpus), name).toBeGreaterThan(0);
      expect(Number(limits?.memory), name).toBeGreaterThan(100_000_000);
      expect(service.cap_drop, name).toEqual(['ALL']);
      expect(service.security_opt, name).toEqual(['no-new-privileges:true']);
      expect(service.privileged ?? false, name).toBe(false);
      if (service.build !== undefined)
        expect([service.user, service.read_only], name).toEqual(['10001:10001', true]);
    }
    expect(project.services['runner-host']!.deploy?.resources?.limits?.pids).toBeGreaterThan(0);
    const more = services.filter(([, { cap_add }]) => (cap_add ?? []).length > 0);
    expect(more.map(([name, { cap_add }]) => [name, cap_add])).toEqual([['proxy', ['NET_BIND_SERVICE']]]);
  });

  test('exposes only the proxy, and the Temporal UI only to this machine', () => {
    const published = services.flatMap(([name, { ports = [] }]) =>
      ports.map(({ host_ip = '' }) => [name, host_ip]),
    );
    expect(published).toEqual([
      ['prometheus', '127.0.0.1'],
      ['proxy', ''],
      ['proxy', ''],
      ['temporal-ui', '127.0.0.1'],
    ]);
    expect(project.networks.inside?.internal).toBe(true);
    for (const name of ['postgres', 's3', 'temporal'])
      expect(Object.keys(project.services[name]!.networks), name).toEqual(['inside']);
  });

  test('gives the host of deployed runners only its own key, and network access only to the proxy', () => {
    const { secrets, environment, networks } = project.services['runner-host']!;
    expect(secrets!.map(({ target }) => target.split('/').at(-1))).toEqual(['runner_host_key']);
    expect(
      Object.keys(environment!).filter((name) => /DATABASE|SECRETS_KEY|TEMPORAL|S3_/.test(name)),
    ).toEqual([]);
    expect(Object.keys(networks)).toEqual(['runners']);
    const beside = (services: typeof project.services) =>
      Object.keys(services).filter((name) => 'runners' in services[name]!.networks);
    expect(beside(project.services).sort()).toEqual(['proxy', 'runner-host']);
    // It scrapes the host, and serves the metrics to every caller.
    expect(beside(whole.services).sort()).toEqual(['prometheus', 'proxy', 'runner-host']);
    expect(new URL(environment!.SDK_RUNNERS_URL!).hostname).toBe('proxy');
    for (const name of ['api', 'runner-host'])
      expect(project.services[name]!.environment!.RUNNER_HOST_KEY_FILE, name).toBe(
        '/run/secrets/runner_host_key',
      );
  });

  test('contains no secret: each comes from a file, and a service gets only the secrets that it reads', () => {
    const parts = {
      api: apiSettings,
      auth: authSettings,
      migrate: authMigrateSettings,
      database: databaseSettings,
      objects: objectSettings,
      temporal: temporalSettings,
      host: runnerHostSettings,
    };
    const names = [
      ...secretVariables(parts),
      'POSTGRES_PASSWORD',
      'POSTGRES_PWD',
      'SQL_PASSWORD',
      'ROOT_SECRET_KEY',
    ];
    for (const [name, { environment = {}, secrets = [], command }] of services) {
      expect(
        Object.keys(environment).filter((variable) => names.includes(variable)),
        name,
      ).toEqual([]);
      const files = name === 'prometheus' ? readFileSync(join(checkout, configurationFile), 'utf8') : '';
      const printed = JSON.stringify([environment, command, files]);
      for (const { target } of secrets) expect(printed, `${name}: ${target}`).toContain(target);
      for (const [path] of printed.matchAll(/\/run\/secrets\/[a-z0-9_]+/g))
        expect(
          secrets.map(({ target }) => target),
          name,
        ).toContain(path);
    }
    expect(readFileSync(join(checkout, '.gitignore'), 'utf8')).toContain('ops/secrets');
    expect(readFileSync(join(checkout, '.dockerignore'), 'utf8')).toContain('ops/secrets');
  });

  test('gives stopping processes more time than they need', () => {
    for (const name of ['api', 'worker', 'builtin-worker', 'runner-host'])
      expect(Number.parseInt(project.services[name]!.stop_grace_period!, 10), name).toBeGreaterThanOrEqual(
        40,
      );
  });

  test('exposes every process to Prometheus at its port, and ports without a token to no other service', () => {
    const printed = scrapeJobs().flatMap(({ job_name: job, authorization, dns_sd_configs }) =>
      dns_sd_configs.flatMap(({ names, port }) =>
        names.map((name) => ({ name, job, port, credentials: authorization?.credentials_file })),
      ),
    );
    const isOfPlatform = ([name, { build }]: (typeof services)[number]) =>
      build !== undefined && !once.includes(name);
    expect(printed.map(({ name }) => name).sort()).toEqual(
      services
        .filter(isOfPlatform)
        .map(([name]) => name)
        .sort(),
    );
    const { prometheus } = whole.services;
    // Configuration and rules are checked by the version that reads them.
    const modules = readFileSync(join(import.meta.dirname, 'tools/prometheus/go.mod'), 'utf8');
    const [, minor, patch] = /prometheus\/prometheus v0\.3(\d\d)\.(\d+) /.exec(modules)!;
    expect(prometheus!.image).toBe(`prom/prometheus:v3.${Number(minor)}.${patch}`);
    for (const { name, job, port, credentials } of printed) {
      const { environment, networks, ports = [] } = project.services[name]!;
      const isApi = name === 'api';
      // The rules ask for the job of the API by this name.
      expect(job === 'sdp-api', name).toBe(isApi);
      expect(credentials, name).toBe(isApi ? environment!.METRICS_TOKEN_FILE! : undefined);
      expect(String(port), name).toBe(isApi ? environment!.PORT : environment!.METRICS_PORT);
      expect(isApi ? environment!.HOST : environment!.METRICS_HOST, name).toBe('0.0.0.0');
      expect(ports, name).toEqual([]);
      const shared = Object.keys(networks).filter((network) => network in prometheus!.networks);
      expect(shared.length, name).toBeGreaterThan(0);
    }
    expect(prometheus!.volumes).toMatchObject([
      { source: join(checkout, 'ops/prometheus'), target: '/etc/prometheus', read_only: true },
      { source: join(checkout, 'ops/alerts'), target: '/etc/alerts', read_only: true },
      { type: 'volume', target: '/prometheus' },
    ]);
  });

  test('gives the host of deployed runners the folder of their programs to read, in memory that they fit in', () => {
    const { environment, deploy } = project.services['runner-host']!;
    const megabytes = Number(deploy?.resources?.limits?.memory) / 2 ** 20;
    const { SDK_RUNNERS_MAX_PROCESSES: processes, SDK_RUNNERS_MEMORY_MB: each } = environment!;
    // Each has some memory beside that of its JavaScript, and so has the host.
    expect((Number(processes) + 1) * (Number(each) + 75)).toBeLessThan(megabytes);
    const given = (name: string, from = project) =>
      from.services[name]!.volumes!.find(({ target }) => target === '/runners');
    for (const name of ['api', 'runner-host']) {
      expect(given(name)).toMatchObject({
        type: 'bind',
        source: join(checkout, 'ops/runners'),
        read_only: true,
        // A missing folder is an error: Docker must not make one that root owns.
        bind: { create_host_path: false },
      });
      expect(project.services[name]!.environment?.SDK_RUNNERS_DIR).toBe('/runners');
    }
    // What an operator puts there is neither committed nor part of the image.
    expect(readFileSync(join(checkout, '.gitignore'), 'utf8')).toContain('ops/runners/*');
    expect(readFileSync(join(checkout, '.dockerignore'), 'utf8')).toContain('ops/runners');
    expect(statSync(join(checkout, 'ops/runners')).isDirectory()).toBe(true);
    const elsewhere = loadProject({ SDK_RUNNERS_DIR: '/srv/runners' });
    expect(given('runner-host', elsewhere)?.source).toBe('/srv/runners');
  });
});

describe('the first run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-first-run-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const firstRun = (where: string) =>
    execFileSync('sh', [join(checkout, 'ops/compose/first-run.sh'), join(folder, where)], { stdio: 'pipe' });

  test('creates every secret of the file once for each installation, readable only by its owner', () => {
    firstRun('one');
    firstRun('two');
    const files = Object.values(project.secrets).map(({ file }) => file.split('/').at(-1)!);
    expect(readdirSync(join(folder, 'one')).sort()).toEqual([...files].sort());
    expect(statSync(join(folder, 'one')).mode & 0o777).toBe(0o700);
    for (const file of files) {
      const [one, two] = ['one', 'two'].map((where) => readFileSync(join(folder, where, file), 'utf8'));
      expect(one!.trim().length, file).toBeGreaterThanOrEqual(20);
      expect(one, file).not.toBe(two);
    }
    const before = readFileSync(join(folder, 'one', 'token_key'), 'utf8');
    expect(String(firstRun('one'))).toMatch(/is there already, and stays as it is/);
    expect(readFileSync(join(folder, 'one', 'token_key'), 'utf8')).toBe(before);
  });

  test('creates new secrets after an upgrade, changes no other, and replaces no lost one', () => {
    firstRun('old');
    const later = ['report_database_password', 'report_database_url', 'metrics_token', 'runner_host_key'];
    const path = (name: string) => join(folder, 'old', name);
    const read = () =>
      readdirSync(join(folder, 'old'))
        .filter((name) => !later.includes(name))
        .map((name) => [name, readFileSync(path(name), 'utf8')]);
    const before = read();
    for (const name of later) rmSync(path(name));
    expect(String(firstRun('old'))).toMatch(
      /^New in .*: report_database_password report_database_url metrics_token runner_host_key\. What was there stays/,
    );
    expect(read()).toEqual(before);
    const password = readFileSync(path('report_database_password'), 'utf8').trim();
    expect(readFileSync(path('report_database_url'), 'utf8')).toContain(`//sdp_report:${password}@`);
    expect(String(firstRun('old'))).toMatch(/stays as it is/);
    rmSync(path('secrets_key'));
    expect(() => firstRun('old')).toThrow(/secrets_key is missing: take it from your copy/);
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });
});
