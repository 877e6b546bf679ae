/** What operators do on the pages of the console. Run by appearance.test.ts on its platform, through work.ts. */
import { expect, test } from 'vitest';
import { picture } from './browser.ts';
import { chooseAction, opener, type Work } from './open-page.ts';

export function operatorTests(work: () => Work): void {
  const open = opener(work);

  test('a manifest shows its faults with their paths, and is then published and listed', async () => {
    const page = await open('/manifests');
    await page.getByRole('button', { name: 'Manifest of lap-tools' }).click();
    const dialog = page.getByRole('dialog');
    const text = await dialog
      .getByLabel('Manifest', { exact: true })
      .or(dialog.locator('textarea'))
      .first()
      .inputValue();
    const manifest = JSON.parse(text);
    manifest.nodeTemplates[0].maxAttempts = 99;
    await dialog.locator('textarea').fill(JSON.stringify(manifest));
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByText('$.nodeTemplates[0].maxAttempts').waitFor();
    await picture(page, 'manifest-fault');
    manifest.nodeTemplates[0].maxAttempts = 5;
    manifest.feature.version = '1.5.0';
    await dialog.locator('textarea').fill(JSON.stringify(manifest));
    await dialog.getByRole('button', { name: 'Publish' }).click();
    await dialog.getByText('Published.').waitFor();
    await dialog.locator('.form-end').getByRole('button', { name: 'Close' }).click();
    await page
      .getByRole('heading', { name: 'lap-tools 1.5.0' })
      .or(page.getByText('1.5.0'))
      .first()
      .waitFor();
  });

  test('a report is created, refused with an invalid expression, previewed and downloaded', async () => {
    const page = await open('/reports');
    await page.getByRole('button', { name: 'New report' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Exercises');
    await dialog.getByLabel('Scenario', { exact: true }).check();
    const preview = dialog.getByRole('region', { name: 'Preview' });
    await preview.getByRole('cell', { name: 'Circuit 1', exact: true }).waitFor();
    await dialog.getByLabel('Sessions without a dashboard too').uncheck();
    await preview.getByRole('columnheader', { name: 'Scenario' }).waitFor();
    await preview.getByRole('cell', { name: 'Formation approach' }).first().waitFor();
    await picture(page, 'report-picked');
    await dialog.getByText('Advanced: expressions, order, filters').click();
    await dialog.getByLabel('Heading of column 1').fill('Exercise');
    await dialog.getByLabel('Expression of column 1').fill('session.name');
    await preview.getByText("'session' is unknown at position 0.").waitFor();
    await dialog.getByRole('button', { name: 'Create report' }).click();
    await dialog.locator('.form > .notice').getByText("'session' is unknown at position 0.").waitFor();
    await dialog.getByLabel('Expression of column 1').fill('');
    await dialog.getByLabel('Expression of column 1').pressSequentially('dimension.sess');
    await dialog.getByRole('option', { name: 'dimension.sessionName' }).waitFor();
    await picture(page, 'report-completion');
    await page.keyboard.press('Escape');
    await dialog.getByRole('listbox', { name: 'Names' }).waitFor({ state: 'detached' });
    await dialog.getByLabel('Expression of column 1').pressSequentially('ionN');
    await page.keyboard.press('Enter');
    expect(await dialog.getByLabel('Expression of column 1').inputValue()).toBe('dimension.sessionName');
    await dialog.getByLabel('Search columns').fill('speed');
    await dialog.getByRole('checkbox', { name: 'Highest speed [km/h]' }).check();
    await preview.getByRole('columnheader', { name: 'Highest speed [km/h]' }).waitFor();
    await preview
      .getByRole('cell', { name: /^1\d\d\.\d+$/ })
      .first()
      .waitFor();
    await dialog.getByLabel('Sessions without a dashboard too').check();
    await dialog.getByRole('textbox', { name: /^Sessions/ }).fill('formation');
    await preview.getByRole('cell', { name: 'Circuit 1', exact: true }).waitFor({ state: 'detached' });
    await picture(page, 'report-channels');
    await dialog.getByRole('button', { name: 'Create report' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Preview of Exercises' }).click();
    await page.getByRole('cell', { name: 'Formation approach' }).first().waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download Exercises as xlsx' }).click();
    expect((await downloading).suggestedFilename()).toMatch(/^Exercises_\d{8}_\d\d\.\d\d\.xlsx$/);
  });

  test('a report that cannot be sent leads to its empty field, and its columns are moved by keys alone', async () => {
    const page = await open('/reports');
    await page.getByRole('button', { name: 'New report' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Columns');
    const advanced = dialog.getByText('Advanced: expressions, order, filters');
    await advanced.click();
    await dialog.getByRole('button', { name: 'Column', exact: true }).click();
    const button = (name: string) => dialog.getByRole('button', { name });
    await button('Move column 3 up').press('Enter');
    await dialog.locator(':focus[aria-label="Move column 2 up"]').press('Enter');
    await dialog.locator(':focus[aria-label="Move column 1 down"]').waitFor();
    await advanced.click();
    await dialog.getByLabel('Heading of column 1').waitFor({ state: 'hidden' });
    await button('Create report').click();
    await expect
      .poll(() => dialog.getByLabel('Heading of column 1').and(page.locator(':focus')).count())
      .toBe(1);
    for (const _ of ['warns', 'closes']) await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('a report is scheduled, written at once, and its file is saved', async () => {
    const page = await open('/reports');
    await page.getByRole('button', { name: 'Schedule a report' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Report/).selectOption({ label: 'Session list' });
    await dialog.getByLabel(/^Project/).selectOption({ label: 'Formation training' });
    await dialog.getByLabel(/^Time zone/).fill('Mars/Olympus');
    await dialog.getByRole('button', { name: 'Create schedule' }).click();
    // By the name that the form gives it.
    await dialog.getByText('Time zone must be a name such as Europe/Berlin or UTC.').waitFor();
    await dialog.getByLabel(/^Time zone/).fill('Europe/Berlin');
    await dialog.getByLabel('Time', { exact: true }).focus();
    await page.keyboard.type('6:30');
    await picture(page, 'report-schedule-form');
    await dialog.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('Every Monday at 06:30, Europe/Berlin').waitFor();
    await page.getByRole('button', { name: 'Run now: Session list' }).click();
    await page.getByText('Ready').waitFor();
    await picture(page, 'report-schedule');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Download the file of/ }).click();
    expect((await downloading).suggestedFilename()).toMatch(/^SessionList_\d{8}_\d\d\.\d\d\.xlsx$/);
    await open(`/project-list/${work().world.projectId}`);
    const kept = page.getByRole('row', { name: /^SessionList_.*\.xlsx/ });
    const again = page.waitForEvent('download');
    await kept.getByRole('button', { name: /^Download SessionList/ }).click();
    expect((await again).suggestedFilename()).toMatch(/^SessionList_\d{8}_\d\d\.\d\d\.xlsx$/);
    await page.getByText('Newest files of its sessions').click();
    const recording = page.getByRole('row', { name: /^simulator-3\.csv, recording/ });
    await recording.getByRole('link', { name: 'Formation approach' }).waitFor();
    const data = page.waitForEvent('download');
    await recording.getByRole('button', { name: /^Download/ }).click();
    expect((await data).suggestedFilename()).toMatch(/^simulator-3\.csv, recording\.parquet$/);
    await picture(page, 'project-files');
    await page.getByLabel('Key figure').selectOption({ label: 'figures of outputs …' });
    await page
      .locator('.project-trend')
      .getByRole('link', { name: /^Formation approach: / })
      .waitFor();
    await page.getByLabel('Key figure').selectOption('outputs: Highest speed [km/h]');
    // It is of the newest recording: another test may have uploaded one.
    await page
      .locator('.project-trend')
      .getByRole('link', { name: /^Formation approach: 1[24]9\.998/ })
      .waitFor();
    await picture(page, 'project-output-figure');
    await open('/reports');
    await page.getByRole('button', { name: 'Delete: Session list' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No schedules yet').waitFor();
  });

  test('a session leads to its workflow, and is closed for good', async () => {
    const { world } = work();
    const page = await open(`/sessions/${world.sharedId}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    const workflow = page.getByRole('menuitem', { name: 'Open the workflow in Temporal' });
    expect(await workflow.getAttribute('href')).toBe(
      `http://127.0.0.1:8233/namespaces/default/workflows/session-${world.sharedId}`,
    );
    await page.keyboard.press('Escape');
    await chooseAction(page, 'Close');
    await page.getByLabel('Reason').fill('The exercise is over.');
    await page.getByRole('button', { name: 'Close the session' }).click();
    await page.getByText('Closed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    expect(await page.getByRole('menuitem', { name: 'Close', exact: true }).count()).toBe(0);
  });

  test('a project is created and a session in it, which opens and is deleted', async () => {
    const page = await open('/project-list');
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Title').fill('Night flights');
    await dialog.getByRole('button', { name: 'Create project' }).click();
    await dialog.waitFor({ state: 'detached' });
    const search = page.getByRole('searchbox', { name: 'Search by title or description' });
    await search.fill('day');
    await page.getByText('No project matches “day”').waitFor();
    await search.fill('night');
    await page.getByRole('link', { name: 'Night flights' }).click();
    await page.getByText('No sessions yet').waitFor();
    await page.getByRole('link', { name: 'All sessions' }).click();
    await page.getByText('No matching sessions').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'New session' }).click();
    await dialog
      .getByLabel('Project')
      .locator('option:checked', { hasText: 'Night flights' })
      .waitFor({ state: 'attached' });
    await dialog.getByLabel('Name').fill('First night');
    await dialog.getByRole('button', { name: 'Create session' }).click();
    await page.getByRole('heading', { name: 'First night' }).waitFor();
    await chooseAction(page, 'Delete');
    await dialog.getByRole('button', { name: 'Delete the session' }).click();
    await page.getByText('This session has been deleted').waitFor();
  });
}
