/** The files that docs/operations/kubernetes.md shows, as Helm, kubeconform and Prometheus read them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readPage } from '../docs/pages.ts';
import { Chart, preparePrograms } from '../helm/chart.ts';
import { programs } from './project.ts';
import type { ScrapeJob } from './scraping.ts';

const folder = mkdtempSync(join(tmpdir(), 'sdp-chart-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const prepared = preparePrograms()!;
const chart = new Chart(prepared, folder);
const { text: page } = readPage('docs/operations/kubernetes.md');

/** A file of the page; those of a list are set in. */
function fileOf(name: string): string {
  const [, indent = '', text = ''] = new RegExp(`^( *)\`\`\`yaml ${name}\\n([\\s\\S]*?)^ *\`\`\`$`, 'm').exec(
    page,
  )!;
  return text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

const promtool = (...args: string[]) =>
  spawnSync(programs.promtool!, args, { cwd: folder, encoding: 'utf8' });

test('the values of the page are right, and what they render is what Kubernetes takes', () => {
  const text = chart.text(fileOf('values.yaml'));
  for (const version of Object.keys(prepared.openApi)) expect(chart.faults(text, version)).toEqual([]);
  expect(text).toContain('kind: Ingress');
});

test('the autoscaler of your own runners is one that Kubernetes takes', () => {
  for (const version of Object.keys(prepared.openApi))
    expect(chart.faults(fileOf('runners.yaml'), version)).toEqual([]);
});

test('Prometheus reads the configuration, which names each Service for metrics of a release called sdp', () => {
  const text = fileOf('prometheus.yml');
  writeFileSync(join(folder, 'prometheus.yml'), text);
  const { status, stdout, stderr } = promtool('check', 'config', '--lint=all', 'prometheus.yml');
  expect(status, `${stdout}${stderr}`).toBe(0);
  const { scrape_configs: jobs } = parse(text) as { scrape_configs: ScrapeJob[] };
  const names = jobs.flatMap(({ dns_sd_configs }) => dns_sd_configs.flatMap((one) => one.names));
  const values = {
    ...parse(fileOf('values.yaml')),
    secrets: { name: 'sdp', runnerHostKey: { key: 'runner_host_key' } },
    runnerHost: { enabled: true, modules: { claim: 'modules' } },
  };
  const services = chart
    .resources(values)
    .filter(({ kind, spec }) => kind === 'Service' && spec.clusterIP === 'None');
  expect(names.sort()).toEqual(services.map(({ metadata }) => `${metadata.name}.sdp.svc`).sort());
});

test('the rule of the adapter finds the metrics that the chart scales by, and is one that Prometheus reads', () => {
  const { externalRules } = parse(fileOf('adapter.yaml')) as {
    externalRules: ReadonlyArray<{ seriesQuery: string; metricsQuery: string }>;
  };
  const asked = chart
    .resources({
      ...parse(fileOf('values.yaml')),
      worker: { autoscaling: { enabled: true } },
      builtinWorker: { autoscaling: { enabled: true } },
    })
    .filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
    .flatMap(({ spec }) => spec.metrics)
    .flatMap(({ external }) => (external === undefined ? [] : [external.metric.name as string]));
  expect(asked).toHaveLength(2);
  const [rule] = externalRules;
  const [, pattern = ''] = /__name__=~"([^"]+)"/.exec(rule!.seriesQuery)!;
  for (const metric of asked) expect(metric).toMatch(new RegExp(`^(${pattern})$`));
  const expressions = asked.map((metric) =>
    rule!.metricsQuery
      .replace('<<.Series>>', metric)
      .replace('<<.LabelMatchers>>', 'namespace="sdp",template=~"one|other"'),
  );
  const rules = [...expressions, rule!.seriesQuery].map((expr, at) => ({ record: `adapter:${at}`, expr }));
  writeFileSync(join(folder, 'rules.yml'), stringify({ groups: [{ name: 'adapter', rules }] }));
  const { status, stdout, stderr } = promtool('check', 'rules', '--lint=none', 'rules.yml');
  expect(status, `${stdout}${stderr}`).toBe(0);
});
