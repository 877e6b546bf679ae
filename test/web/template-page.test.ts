/** The page of a session template, in a real browser. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { runnerStage } from '../support/runner.ts';
import { inputNode, ship, tabularNode, templateFile } from '../support/templates.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import {
  describeInBrowser,
  dropFile,
  goWithin,
  openBrowser,
  picture,
  type TestBrowser,
  tooWide,
  untilTrue,
} from './support/browser.ts';
import { signInAs } from './support/sign-in.ts';

const stage = await runnerStage();
const { api, people } = stage;
const call = async (path: string, json: object, token = people.adminToken) => {
  const { status, body } = await ask(api.url, 'POST', path, { token, json });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
};
const send = (name: string, nodes: readonly object[], extra: object = {}, token?: string) =>
  call(
    '/api/v2/admin/session-templates',
    templateFile(name, nodes, { updateIfExists: true, ...extra }),
    token,
  );
const nodes = (inputFormat: string) => [
  inputNode('in'),
  { ...tabularNode('read-table', 'in'), DefaultConfiguration: { inputFormat } },
];

describeInBrowser('the page of a session template', () => {
  let browser: TestBrowser;
  let page: Page;
  let id: number;

  beforeAll(async () => {
    await ship(stage.database);
    ({ id } = await send('lap-analysis', nodes('csv'), {}, people.Developer.token));
    await send('lap-analysis', nodes('auto'), { TemplateVersion: '2' });
    await send('wider-analysis', [...nodes('auto'), tabularNode('more', 'in')]);
    const DefaultSessionTemplateId = id;
    const project = await call('/projects', { Title: 'Red Bull Ring', DefaultSessionTemplateId });
    for (const Name of ['Stint 1', 'Stint 2'])
      await call('/session', { Name, ProjectId: project.id, SessionTemplateId: id });
    const feed = { urlPath: 'track-1/laps', inputNode: 'in', dataSource: 'platform' };
    await call('/api/v2/admin/ingests', { ...feed, projectId: project.id, sessionTemplateId: id });
    ({ browser, page } = await openBrowser(api.url));
    await signInAs(page, `${api.url}/templates`, people.Administrator);
  });

  const version = (number: number) => page.getByRole('row').filter({ hasText: `Version ${number}` });
  const differences = () => page.getByRole('list', { name: 'Differences' });
  const editor = () => page.getByRole('dialog').getByLabel('Definition', { exact: true });
  const check = () => page.getByRole('button', { name: 'Check' }).click();
  const submit = () => page.getByRole('button', { name: 'Make the version' }).click();

  test('is reached from the templates, and has the graph, the versions and who made each', async () => {
    const listed = page.getByRole('list', { name: 'Templates' }).getByRole('link');
    await page.getByRole('searchbox').fill('wider');
    await expect.poll(() => listed.count()).toBe(1);
    expect(await listed.innerText()).toContain('Wider analysis');
    expect(new URL(page.url()).search).toBe('?search=wider');
    await page.getByRole('searchbox').fill('');
    await page.getByRole('link', { name: /^Lap analysis/ }).click();
    await page.getByRole('link', { name: 'Versions and use' }).click();
    await page.getByRole('heading', { name: 'Lap analysis version 2' }).waitFor();
    await page.getByRole('button', { name: /^Read table/ }).waitFor();
    const buttons = (await page.locator('.graph-tools').boundingBox())!;
    const nodes = await page
      .locator('.node')
      .evaluateAll((found) => found.map((one) => one.getBoundingClientRect().top));
    expect(Math.min(...nodes)).toBeGreaterThan(buttons.y + buttons.height);
    // Nodes of a template have no state.
    expect(await page.locator('.node', { hasText: 'Not started' }).count()).toBe(0);
    const developer = await ask(api.url, 'GET', `/api/v2/session/session_templates/${id}/versions/1`, {
      token: people.adminToken,
    });
    await expect.poll(() => version(1).innerText()).toContain(developer.body.createdBy.name);
    await version(2).waitFor();
    await page.getByText('2 versions', { exact: true }).waitFor();
    await picture(page, 'template-page');
  });

  test('says what uses it, with links to those sessions', async () => {
    const use = page.getByRole('complementary', { name: 'Use' });
    await use.getByRole('link', { name: '2', exact: true }).waitFor();
    for (const name of ['1: track-1/laps', 'Red Bull Ring']) await use.getByRole('link', { name }).waitFor();
    await expect
      .poll(async () => (await use.innerText()).replace(/\s+/g, ' '))
      .toBe('Use Sessions 2 Running 0 Failed 0 Ingests 1: track-1/laps Default of Red Bull Ring');
    await use.getByRole('link', { name: '2', exact: true }).click();
    await page.getByRole('link', { name: 'Stint 2' }).waitFor();
    expect(new URL(page.url()).search).toBe(`?template=${id}`);
    await page.goBack();
  });

  test('shows what a version changed, since another one, and since another template', async () => {
    await differences().getByText('has another configuration').waitFor();
    await expect
      .poll(async () => (await differences().innerText()).replace(/\s+/g, ' '))
      .toBe(
        'The label differs Before 1 Afterwards 2 Read table has another configuration ' +
          'Settings of Read table Setting Before Afterwards inputFormat "csv" "auto"',
      );
    await version(1).getByRole('link').click();
    await page.getByText('This is the first version, with 2 nodes.').waitFor();
    await page.getByLabel('Compare with').selectOption({ label: 'Wider analysis' });
    await differences().getByText('is removed').waitFor();
    expect(new URL(page.url()).search).toMatch(/^\?version=1&sinceTemplate=\d+$/);
    await page.goBack();
    await page.getByText('This is the first version').waitFor();
    await goWithin(page, `/templates/${id}`);
  });

  test('makes a version of a changed definition; each fault is shown at its place', async () => {
    await page.getByRole('button', { name: 'New version' }).click();
    const text = await editor().inputValue();
    await editor().fill(text.replace('"input-node"', '"no-such-node"').replace('"auto"', '7'));
    await submit();
    const faults = page.getByRole('dialog').getByRole('alert');
    await faults.getByText('2 faults: no version was made').waitFor();
    await expect.poll(() => page.locator('.json-mark').count()).toBe(2);
    const chosen = () =>
      editor().evaluate((field) => {
        const { value, selectionStart, selectionEnd } = field as unknown as {
          value: string;
          selectionStart: number;
          selectionEnd: number;
        };
        return value.slice(selectionStart, selectionEnd);
      });
    await expect.poll(() => chosen()).toBe('"no-such-node"');
    await faults.getByRole('button', { name: /^Line/ }).last().click();
    await expect.poll(() => chosen()).toBe('7');
    await picture(page, 'template-faults');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await editor().fill(text.replace('"auto"', '7'));
    await check();
    await faults.getByText('1 fault: no version was made').waitFor();
    await editor().fill(text);
    await check();
    await page.getByRole('dialog').getByText('Nothing differs from version 2.').waitFor();
    await editor().fill('{ "Name": ');
    await expect.poll(() => page.locator('.json-mark').count()).toBe(0);
    await submit();
    await faults.getByText('This is not JSON').waitFor();
    await editor().fill(text.replace('"auto"', '"json"'));
    await check();
    await page.getByText('The definition is valid. It makes version 3.').waitFor();
    await expect.poll(() => version(3).count()).toBe(0);
    await submit();
    await page.getByText('Version 3 was made.').waitFor();
    await version(3).waitFor();
    await differences().getByText('"json"').waitFor();
  });

  test('makes no version when nothing differs, and says why another graph needs another name', async () => {
    await page.getByRole('button', { name: 'New version' }).click();
    await submit();
    await page.getByText('Nothing differs from version 3').waitFor();
    await page.getByRole('button', { name: 'New version' }).click();
    const definition = JSON.parse(await editor().inputValue());
    definition.Nodes.push(tabularNode('more', 'in'));
    await editor().fill(JSON.stringify(definition));
    await submit();
    await page.getByRole('dialog').getByText('choose a new name').waitFor();
    await editor().fill(JSON.stringify({ ...definition, Name: 'laps-and-more' }));
    await submit();
    await page.getByRole('heading', { name: 'Laps and more version 1' }).waitFor();
    await page.getByText('This is the first version, with 3 nodes.').waitFor();
  });

  test('saves the definition as a file', async () => {
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Definition' }).click();
    expect((await downloading).suggestedFilename()).toBe('laps-and-more.json');
  });

  test('imports a definition from a file, after a check that says what it would make', async () => {
    await goWithin(page, '/templates');
    await page.getByRole('button', { name: 'Import a definition' }).click();
    await editor().waitFor();
    await check();
    await page.getByRole('dialog').getByText('1 fault: nothing was imported').waitFor();
    const content = (name: string) => JSON.stringify(templateFile(name, nodes('csv')), null, 2);
    const choose = (name: string) =>
      page.getByLabel('Template definition file').setInputFiles({
        name: 'template.json',
        mimeType: 'application/json',
        buffer: Buffer.from(content(name)),
      });
    await choose('lap-analysis');
    await check();
    await page.getByRole('dialog').getByText('with the same name already exists').waitFor();
    // Anywhere on the page: the browser would leave it to show the file.
    await dropFile(page, '#main', {
      name: 'a.json',
      type: 'application/json',
      text: content('sector-analysis'),
    });
    await check();
    await page.getByText('It makes the new template sector-analysis.').waitFor();
    await picture(page, 'template-import');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('region', { name: 'Template Sector analysis' }).waitFor();
    await goWithin(page, `/templates/${id}`);
  });

  test('replaces the version that somebody else made only when it is said again', async () => {
    const newest = async () => {
      const path = `/api/v2/session/session_templates/${id}/versions`;
      return (await ask(api.url, 'GET', path, { token: people.adminToken })).body.totalCount as number;
    };
    const before = await newest();
    await goWithin(page, `/templates/${id}`);
    await page.getByRole('button', { name: 'New version' }).click();
    await editor().waitFor();
    await send('lap-analysis', nodes('tsv'), { TemplateVersion: '2' }, people.Developer.token);
    await editor().fill(
      (await editor().inputValue()).replace(/"Description": "[^"]*"/, '"Description": "Of laps"'),
    );
    await submit();
    await page.getByText(`Someone made version ${before + 1} meanwhile.`).waitFor();
    expect(await newest()).toBe(before + 1);
    await submit();
    await page.getByText(`Version ${before + 2} was made.`).waitFor();
  });

  test('is for Instructors to read, without a control that is refused', async () => {
    const tab = await browser.newPage();
    const refused: string[] = [];
    tab.on('response', (response) => {
      if ([401, 403].includes(response.status())) refused.push(response.url());
    });
    await signInAs(tab, `${api.url}/templates/${id}`, people.Instructor);
    await tab.getByRole('complementary', { name: 'Use' }).getByRole('link', { name: '2' }).waitFor();
    await expect.poll(() => tab.getByRole('button', { name: 'New version' }).count()).toBe(0);
    await tab.goto(`${api.url}/templates/999999`);
    await tab.getByText('Template not found').waitFor();
    expect(refused).toEqual([]);
    await tab.close();
  });

  test.each(appearances)('is accessible and fits in $name', async (appearance) => {
    await wear(page, appearance);
    await goWithin(page, `/templates/${id}`);
    await differences().waitFor();
    await untilTrue(page, 'document.querySelectorAll(".node").length === 2');
    await picture(page, `template-${appearance.name}`);
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    await page.getByRole('button', { name: 'New version' }).click();
    await editor().waitFor();
    await picture(page, `template-editor-${appearance.name}`);
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  test('asked nothing of other places, and broke nothing', () => expect(browser.offences).toEqual([]));
});
