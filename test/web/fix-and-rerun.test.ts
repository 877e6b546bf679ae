/** From a failed node to its fix in a real browser: configuration, newer template, another file in the place of a bad one. */
import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { ask } from '../support/api.ts';
import { runnerStage, type TestRunner } from '../support/runner.ts';
import { inputNode, ship, templateFile } from '../support/templates.ts';
import { faultsInAllAppearances } from './support/all-appearances.ts';
import { appearances, wear } from './support/axe.ts';
import { describeInBrowser, goWithin, openBrowser, type TestBrowser, tooWide } from './support/browser.ts';
import { asksBeforeReload, reloadsUnasked } from './support/closing.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;
const feature = `fix-${randomUUID()}`;

const call = async (method: string, path: string, json?: unknown) => {
  const answer = await ask(api.url, method, path, { token: people.Developer.token, json });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

const configurationSchema = {
  type: 'object',
  required: ['column'],
  properties: {
    column: { type: 'string', title: 'Column', minLength: 2 },
    laps: { type: 'integer', description: 'Laps that count.' },
    gate: { type: 'object', title: 'Gate', properties: { width: { type: 'number' } } },
    unit: { enum: ['km/h', 'm/s', 'm'], minLength: 2 },
    smooth: { type: 'boolean' },
  },
};

function importTemplate(configuration: object, updateIfExists = false) {
  const node = {
    Name: 'work',
    NodeTemplateName: feature,
    DefaultConfiguration: configuration,
    Parents: ['in'],
  };
  const file = templateFile(feature, [inputNode('in'), node], { updateIfExists });
  return call('POST', '/api/v2/admin/session-templates', file);
}

describeInBrowser('a failed node', () => {
  let browser: TestBrowser;
  let page: Page;
  let runner: TestRunner;
  let session: { id: string; input: number; work: number };

  beforeAll(async () => {
    await ship(stage.database);
    const { objects, database } = api.composed.services;
    await ensurePlatformDataSource(database, objects.platformAccess);
    await call('POST', '/api/v2/admin/runner-manifests', {
      manifestVersion: 1,
      feature: { name: feature, version: '1.0', ownershipType: 'ThirdParty' },
      runnerTypes: [{ name: feature, runtime: 'external' }],
      nodeTemplates: [
        {
          name: feature,
          runnerType: feature,
          type: 'Processing',
          configurationSchema,
          maxAttempts: 1,
          leaseSeconds: 900,
        },
      ],
    });
    await importTemplate({ column: 'velocity', gate: { width: 3 } });
    const templates = await call('GET', '/api/v2/session/session_templates');
    const template = templates.find(({ name }: { name: string }) => name === feature);
    const project = await call('POST', '/projects', { Title: 'Fixing' });
    const made = await call('POST', '/session', { ProjectId: project.id, SessionTemplateId: template.id });
    const idOf = (name: string) =>
      made.nodeInstances.find((node: { name: string }) => node.name === name).id as number;
    session = { id: made.id, input: idOf('in'), work: idOf('work') };
    await stage.upload(
      { sessionId: session.id, projectId: project.id, nodes: { in: session.input }, dataSourceId: 0 },
      'in',
      'bad',
      { 'x-platform-output-identifier': 'lap-7-morning.csv' },
    );
    runner = stage.runner();
    const task = await runner.acquire(feature);
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'There is no column velocity.' });
    ({ browser, page } = await openBrowser(api.url));
  });

  const panel = () => page.getByRole('region', { name: 'Node work' });
  const configurationPath = () => `/api/v2/node-instance/${session.work}/configuration`;
  const looks = async (name: string) => expect(await faultsInAllAppearances(page, name)).toEqual([]);

  test('shows its configuration as a form, which the platform checks, and runs again with what was changed', async () => {
    await signInAs(page, `${api.url}/sessions/${session.id}?tab=pipeline`, people.Developer);
    await panel().getByText('revision 1').waitFor();
    await expect.poll(() => panel().getByLabel('Column').inputValue()).toBe('velocity');
    await expect.poll(() => panel().getByLabel('width').inputValue()).toBe('3');
    // Those that are required come first, then the order in which the schema was published.
    expect(await panel().locator('.configuration .field > span:first-child').allTextContents()).toEqual([
      'Column *',
      'laps',
      'width',
      'unit',
      'smooth',
    ]);
    await expect
      .poll(() => panel().getByRole('button', { name: 'Retry' }).getAttribute('class'))
      .not.toContain('primary');
    await panel().getByLabel('laps').fill('two');
    await panel().getByText('Enter a whole number').waitFor();
    await panel().getByLabel('laps').fill('2');
    await panel().getByLabel('Column').fill('x');
    await panel().getByLabel('unit').selectOption({ label: 'm' });
    await panel().getByRole('button', { name: 'Save', exact: true }).click();
    await panel().getByRole('alert').getByText('2 fields need correction.').waitFor();
    await expect
      .poll(() => panel().locator('.field-fault').allTextContents())
      .toEqual(['Enter at least 2 characters', 'Enter at least 2 characters']);
    for (const field of ['Column', 'unit'])
      expect(await panel().getByLabel(field).getAttribute('aria-invalid'), field).toBe('true');
    await looks('configuration-refused');
    await panel().getByLabel('Column').fill('speed');
    await panel().getByLabel('unit').selectOption({ label: 'm/s' });
    await panel().getByRole('button', { name: 'Change and rerun' }).click();
    await panel().getByText('Saved; the node runs again with it.').waitFor();
    await panel().getByText('revision 2', { exact: true }).waitFor();
    expect(await call('GET', configurationPath())).toEqual({
      revision: 2,
      configuration: { column: 'speed', laps: 2, gate: { width: 3 }, unit: 'm/s' },
    });
    const task = await runner.acquire(feature, 10);
    expect(task.configuration ?? task.node.configuration).toMatchObject({ column: 'speed' });
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'Row 7 has no speed.' });
  });

  test('keeps what was typed and not saved while other parts of the session are shown', async () => {
    await panel().getByLabel('laps').fill('4');
    await panel().getByLabel('width').fill('wide');
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByRole('searchbox', { name: 'Search files' }).waitFor();
    await page.goBack();
    await expect.poll(() => panel().getByLabel('laps').inputValue()).toBe('4');
    await expect.poll(() => panel().getByLabel('width').inputValue()).toBe('wide');
    await asksBeforeReload(page);
    await panel().getByRole('button', { name: 'Undo' }).click();
    await page.locator(`[data-node="${session.input}"]`).click();
    await page.getByRole('region', { name: 'Node in' }).waitFor();
    await page.locator(`[data-node="${session.work}"]`).click();
    await expect.poll(() => panel().getByLabel('laps').inputValue()).toBe('2');
    const metadata = page.getByRole('region', { name: 'Metadata' });
    const value = metadata.getByLabel(/^Value of/);
    await page.getByRole('tab', { name: 'Overview' }).click();
    await metadata.getByRole('button', { name: 'Add metadata' }).click();
    await value.fill('Maria');
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await expect.poll(() => value.inputValue()).toBe('Maria');
    await asksBeforeReload(page);
    await metadata.getByRole('button', { name: 'Cancel' }).click();
    await reloadsUnasked(page);
    await page.getByRole('tab', { name: 'Pipeline' }).click();
    await page.locator(`[data-node="${session.work}"]`).click();
  });

  test('refuses a change of what somebody else changed meanwhile, and shows that after a reload', async () => {
    await panel().getByLabel('laps').fill('5');
    await call('PUT', configurationPath(), { configuration: { column: 'speed', laps: 9 } });
    await panel().getByRole('button', { name: 'Save', exact: true }).click();
    await panel().getByText('Another person changed it.').waitFor();
    await panel().getByRole('button', { name: 'Reload' }).click();
    await panel().getByText('revision 3', { exact: true }).waitFor();
    await expect.poll(() => panel().getByLabel('laps').inputValue()).toBe('9');
    await panel().getByText('Revisions', { exact: true }).click();
    await panel().getByRole('button', { name: 'Put revision 1 into the form' }).click();
    await expect.poll(() => panel().getByLabel('Column').inputValue()).toBe('velocity');
    await panel().getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => panel().getByLabel('Column').inputValue()).toBe('speed');
  });

  test('keeps what was typed, and says so, when somebody else saved while another part was shown', async () => {
    await panel().getByLabel('laps').fill('6');
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByRole('searchbox', { name: 'Search files' }).waitFor();
    await call('PUT', configurationPath(), { configuration: { column: 'speed', laps: 8 } });
    await page.goBack();
    await panel().getByText('Another person changed it.').waitFor();
    await expect.poll(() => panel().getByLabel('laps').inputValue()).toBe('6');
    await panel().getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(() => call('GET', configurationPath())).toMatchObject({ configuration: { laps: 8 } });
    await asksBeforeReload(page);
    await panel().getByRole('button', { name: 'Reload' }).click();
    await expect.poll(() => panel().getByLabel('laps').inputValue()).toBe('8');
    await panel().getByText('Another person changed it.').waitFor({ state: 'detached' });
    await reloadsUnasked(page);
  });

  test('tells an Instructor, who may not run it, how it runs with the change', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, `${api.url}/sessions/${session.id}?node=${session.work}`, people.Instructor);
    const own = tab.getByRole('region', { name: 'Node work' });
    await own.getByLabel('laps').fill('7');
    await own.getByRole('button', { name: 'Save', exact: true }).click();
    await own.getByText('To start one, upload a file or ask a Developer.').waitFor();
    await tab.getByRole('tab', { name: 'Overview' }).click();
    await tab.locator('.session-failure').getByRole('link', { name: 'Show the failed node' }).waitFor();
    const runs = await call('GET', `/api/v2/node-runs?nodeInstanceId=${session.work}`);
    await goWithin(tab, `/runs/${runs.nodeRuns[0].id}`);
    await tab.locator('.run-actions').getByText('Show the failed node').waitFor();
    await tab.close();
    await call('PUT', configurationPath(), { configuration: { column: 'speed', laps: 9 } });
  });

  test('leads a Trainee, who may not read its runs, to the file that can be replaced', async () => {
    const tab = await browser.newPage();
    await signInAs(tab, `${api.url}/sessions/${session.id}?node=${session.work}`, people.Trainee);
    const failed = tab.getByRole('region', { name: 'Node work' });
    await failed.getByText('To run it with another file').getByRole('button', { name: 'in' }).click();
    await tab.getByRole('button', { name: 'Replace lap-7-morning.csv', exact: true }).waitFor();
    await tab.close();
  });

  test('runs again when another file takes the place of the one that failed', async () => {
    // A phone with text of twice the size.
    await page.setViewportSize({ width: 195, height: 422 });
    await panel().getByRole('button', { name: 'Replace lap-7-morning.csv', exact: true }).waitFor();
    expect(await tooWide(page)).toEqual([]);
    await wear(page, appearances[0]!);
    const choosing = page.waitForEvent('filechooser');
    await panel().getByRole('button', { name: 'Replace lap-7-morning.csv', exact: true }).click();
    await (await choosing).setFiles({ name: 'good.csv', mimeType: 'text/csv', buffer: Buffer.from('good') });
    await page.getByText(/, stored/).waitFor();
    const outputs = await call('GET', `/api/v2/node-instance/${session.input}/outputs`);
    expect(outputs.map(({ outputIdentifier }: { outputIdentifier: string }) => outputIdentifier)).toEqual([
      'lap-7-morning.csv',
    ]);
    const task = await runner.acquire(feature, 10);
    await runner.write(task.taskId, 'done');
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    await page.locator(`[data-node="${session.work}"][data-state="Succeeded"]`).waitFor();
    await page.locator(`[data-node="${session.input}"]`).click();
    await page.getByRole('button', { name: 'Replace good.csv', exact: true }).waitFor();
  });

  test('is offered what its template says by now, and adopts it after showing the changes', async () => {
    await importTemplate({ column: 'speed', laps: 12 }, true);
    await page.goto(`${api.url}/sessions/${session.id}?node=${session.work}`);
    await page.getByRole('button', { name: 'Show the changes' }).click();
    const changes = page.getByRole('list', { name: 'Changes' });
    await changes.getByText('loses what people changed here').waitFor();
    // What differs alone: before, the node had laps and a gate of its own revision.
    const laps = await changes.getByRole('row', { name: 'laps' }).getByRole('cell').allInnerTexts();
    expect(laps).toEqual(['laps', '9', '12']);
    await expect.poll(() => changes.getByText('column', { exact: true }).count()).toBe(0);
    await looks('adopt');
    await page.getByRole('button', { name: 'Adopt the template' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show the changes' }).waitFor({ state: 'detached' });
    expect((await call('GET', configurationPath())).configuration).toEqual({ column: 'speed', laps: 12 });
  });

  test('is not offered a newer template while the session is frozen, which accepts no change', async () => {
    await importTemplate({ column: 'gear' }, true);
    await page.reload();
    const show = page.getByRole('button', { name: 'Show the changes' });
    await show.waitFor();
    await call('POST', `/api/v2/sessions/${session.id}/freeze`);
    await page.reload();
    await page.getByText('Frozen', { exact: true }).first().waitFor();
    await panel().waitFor();
    await expect.poll(() => show.count()).toBe(0);
    expect(browser.offences).toEqual([]);
  });
});
