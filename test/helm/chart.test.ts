/**
 * The chart is rendered by Helm and checked by kubeconform. `npm run test:containers` builds these programs, and checks much
 * more (test/containers/chart.check.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { allValues, Chart, minimalValues, preparePrograms } from './chart.ts';

const programs = preparePrograms('--if-built');
// Nothing is removed after tests that are left out.
const folder = programs === null ? '' : mkdtempSync(join(tmpdir(), 'sdp-chart-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const why = programs === null ? ' (Helm is not built: npm run test:containers)' : '';
describe.skipIf(programs === null)(`the chart${why}`, () => {
  const chart = new Chart(programs!, folder);
  const versions = Object.keys(programs?.openApi ?? {});

  test.each([
    ['the least', minimalValues],
    ['everything', allValues],
  ])('renders %s as resources that Kubernetes takes', (_, values) => {
    const text = chart.text(values);
    for (const version of versions) expect(chart.faults(text, version), version).toEqual([]);
  });

  test('is found wrong with a wrong value or an unknown field', () => {
    const text = chart.text();
    for (const [right, wrong] of [
      ['replicas: 2', 'replicas: two'],
      ['maxSurge: 1', 'maxSurges: 1'],
      ['apiVersion: policy/v1', 'apiVersion: policy/v1beta1'],
      ['containerPort: 8080', "containerPort: '8080'"],
      ['serviceAccountName', 'serviceAccount-Name'],
    ] as const) {
      expect(text).toContain(right);
      for (const version of versions)
        expect(chart.faults(text.replace(right, wrong), version), wrong).not.toEqual([]);
    }
  });
});
