/** Alert rules, dashboard and configuration as Prometheus itself reads them, and the rules over the hours of a platform. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { checkout } from '../../local/settings.ts';
import { type AlertRule, alertRules, dashboardExpressions } from '../telemetry/operators-files.ts';
import { programs } from './project.ts';
import { configurationFile } from './scraping.ts';

/** What is expected at one time of the rules' tests. */
interface Expectation {
  readonly expr?: string;
  readonly exp_samples?: readonly unknown[];
  readonly alertname?: string;
  readonly exp_alerts?: readonly unknown[];
}
interface TestGroup {
  readonly promql_expr_test?: readonly Expectation[];
  readonly alert_rule_test?: readonly Expectation[];
}

const rules = join(checkout, 'ops/alerts/platform.yml');
const testsFile = join(import.meta.dirname, 'alerts.test.yml');
const tests = parse(readFileSync(testsFile, 'utf8')) as { readonly tests: readonly TestGroup[] };
const folder = mkdtempSync(join(tmpdir(), 'sdp-alerts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function promtool(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(programs.promtool!, args, { cwd: checkout, encoding: 'utf8' });
  return { status, printed: `${stdout}${stderr}` };
}

const isOf = (alert: string) => (expected: Expectation) =>
  expected.alertname === alert || expected.expr?.includes(`alertname="${alert}"`) === true;
const isOfAll = ({ expr }: Expectation) => expr === 'ALERTS';

/** Runs the tests of one alert, and of all, with another rule in its place. Returns whether they pass. */
function holds({ alert }: AlertRule, rule: object): boolean {
  const isWanted = (expected: Expectation) => isOf(alert)(expected) || isOfAll(expected);
  const groups = tests.tests.flatMap((group) => {
    const expressions = group.promql_expr_test?.filter(isWanted) ?? [];
    const alerts = group.alert_rule_test?.filter(isWanted) ?? [];
    if (expressions.length + alerts.length === 0) return [];
    return [{ ...group, promql_expr_test: expressions, alert_rule_test: alerts }];
  });
  writeFileSync(join(folder, 'rules.yml'), stringify({ groups: [{ name: 'one', rules: [rule] }] }));
  const path = join(folder, 'rules.test.yml');
  writeFileSync(path, stringify({ ...tests, rule_files: ['rules.yml'], tests: groups }));
  return promtool('test', 'rules', path).status === 0;
}

test('the alert rules are rules of Prometheus, without anything that its checker finds doubtful', () => {
  const { status, printed } = promtool('check', 'rules', '--lint=all', '--lint-fatal', rules);
  expect(printed).toContain(`SUCCESS: ${alertRules().length} rules found`);
  expect(status, printed).toBe(0);
});

test('each alert fires when it should, and neither sooner nor on a platform that is well', () => {
  const { status, printed } = promtool('test', 'rules', testsFile);
  expect(status, printed).toBe(0);
});

test('every alert has a test in which it fires and one in which it does not, and these detect a wrong rule', () => {
  const expected = tests.tests.flatMap((group) => [
    ...(group.promql_expr_test ?? []),
    ...(group.alert_rule_test ?? []),
  ]);
  const unseen = alertRules().flatMap((rule) => {
    const own = expected.filter(isOf(rule.alert));
    const firing = own.filter(
      ({ exp_samples = [], exp_alerts = [] }) => exp_samples.length + exp_alerts.length > 0,
    );
    const wrong = {
      blind: { expr: `(${rule.expr}) and vector(1) == 2` },
      hasty: { for: '0s' },
      eager: { expr: rule.expr.replace(/ > [\d.]+$/, ' > -1') },
    };
    return [
      ...(firing.length > 0 && firing.length < own.length ? [] : [`${rule.alert} has not both tests`]),
      ...(holds(rule, rule) ? [] : [`${rule.alert} fails by itself`]),
      ...Object.entries(wrong)
        .filter(([, change]) => !('expr' in change && change.expr === rule.expr))
        .filter(([, change]) => holds(rule, { ...rule, ...change }))
        .map(([how]) => `${rule.alert} may be ${how}`),
    ];
  });
  expect(unseen).toEqual([]);
});

test('every expression of the dashboard is one that Prometheus reads', () => {
  const check = (expressions: readonly string[]) => {
    const records = expressions.map((expr, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const path = join(folder, 'dashboard.yml');
    writeFileSync(path, stringify({ groups: [{ name: 'dashboard', rules: records }] }));
    return promtool('check', 'rules', '--lint=none', path);
  };
  const expressions = dashboardExpressions();
  const { status, printed } = check(expressions);
  expect(printed).toContain(`SUCCESS: ${expressions.length} rules found`);
  expect(status, printed).toBe(0);
  // What the checker is for.
  expect(check([...expressions, 'sum by (le (rate(sdp_queue_tasks[5m]))']).status).not.toBe(0);
});

test('panels that name the process of a figure show each process once, also a worker of both queues', () => {
  const processes = { a: ['api'], b: ['worker', 'worker-builtin'], c: ['worker-builtin'] };
  const figures = [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_p99_seconds',
  ];
  const series = Object.entries(processes).flatMap(([instance, names]) => [
    ...names.map((process) => `sdp_process_info{process="${process}",instance="${instance}"}`),
    ...figures.map((figure) => `${figure}{instance="${instance}"}`),
  ]);
  const naming = dashboardExpressions().filter((expr) => expr.includes('group_left (process)'));
  expect(naming).toHaveLength(figures.length);
  const path = join(folder, 'panels.test.yml');
  const group = {
    interval: '1m',
    input_series: series.map((one) => ({ series: one, values: '1x10' })),
    promql_expr_test: naming.map((expr) => ({
      expr: `count by (process) (${expr.replaceAll('$__rate_interval', '5m')})`,
      eval_time: '10m',
      exp_samples: ['api', 'worker', 'worker-builtin'].map((process) => ({
        labels: `{process="${process}"}`,
        value: 1,
      })),
    })),
  };
  writeFileSync(path, stringify({ rule_files: [], tests: [group] }));
  const { status, printed } = promtool('test', 'rules', path);
  expect(status, printed).toBe(0);
});

test('the configuration beside the containers is one of Prometheus, with the rules and the token where it says', () => {
  // As the container has them.
  const place = join(folder, 'container');
  mkdirSync(join(place, 'prometheus'), { recursive: true });
  cpSync(join(checkout, 'ops/alerts'), join(place, 'alerts'), { recursive: true });
  writeFileSync(join(place, 'metrics_token'), 'a token of the scraper\n');
  const text = readFileSync(join(checkout, configurationFile), 'utf8').replace('/run/secrets', place);
  const path = join(place, 'prometheus/prometheus.yml');
  const check = (changed: string) => {
    writeFileSync(path, changed);
    return promtool('check', 'config', '--lint=all', '--lint-fatal', path);
  };
  const { status, printed } = check(text);
  expect(status, printed).toBe(0);
  expect(printed).toContain('SUCCESS: 1 rule files found');
  expect(printed).toContain(`SUCCESS: ${alertRules().length} rules found`);
  // What the checker is for.
  for (const [right, wrong] of [
    ['alerts/platform.yml', 'alerts/other.yml'],
    ['/metrics_token', '/other_token'],
    ['dns_sd_configs', 'dns_configs'],
  ] as const)
    expect(check(text.replace(right, wrong)).status, wrong).not.toBe(0);
});
