/** Work on the pages of the console, by keyboard where a step says so. Run by appearance.test.ts on its platform. */
import { expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { picture, untilTrue } from './browser.ts';
import { opener, type Work } from './open-page.ts';
import { signInAs } from './sign-in.ts';
import { operatorTests } from './work-of-operators.ts';
import { machines, recording, upload } from './world.ts';

/** Registers the tests; `work` is asked when they run. */
export function workTests(work: () => Work): void {
  const open = opener(work);
  const queryTests = () => {
    test('a query is written by keyboard only, is shared by its address, and shows where it is wrong', async () => {
      const page = await open('/sessions?query=');
      await page.getByText('29 sessions').waitFor();
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await page.getByLabel('Operator of this group').first().focus();
      // From the group to its condition: field, comparison, value.
      await press('Tab', 'Tab', 'Tab');
      await page.keyboard.type('Circuit 2');
      await press('Tab', 'Tab', 'Enter');
      // The new condition has the focus on its field, whose last choice is the metadata.
      await page.locator('select[aria-label="Field of condition 2"]:focus').waitFor();
      await press('End', 'Tab');
      // The type of the value follows the suggestions.
      await untilTrue(page, 'document.activeElement.list?.options.length > 0');
      await page.keyboard.type('vehicle.speed');
      // Sessions have numbers there, so the type is chosen.
      await press('Tab', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Tab', 'Tab');
      await page.keyboard.type('105');
      await picture(page, 'query-by-keyboard');
      await press('Enter');
      await page.getByText('6 sessions').waitFor();
      const address = page.url();
      await page.goto('about:blank');
      await page.goto(address);
      await page.getByText('6 sessions').waitFor();
      expect(await page.getByLabel('Value of condition 2').inputValue()).toBe('105');

      await page.getByLabel('Field of condition 1').selectOption({ label: 'Session id' });
      await page.getByLabel('Value of condition 1').fill('no-such-id');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByRole('group', { name: 'Condition 1' }).waitFor();
      await page.locator('.query-fault').getByText('value must be a UUID').waitFor();
      await picture(page, 'query-fault');
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.getByText('29 sessions').waitFor();
    });
  };

  const timelineTests = () => {
    test('the timeline is moved by keys, keeps its view in the address, and has everything as text', async () => {
      const page = await open('/shared-sessions?status=open');
      await page.getByText('1 shared session', { exact: true }).waitFor();
      await page.locator('.timeline-body').focus();
      await page.keyboard.press('+');
      await untilTrue(page, 'location.search.includes("start=")');
      const zoomed = page.url();
      await page.keyboard.press('ArrowRight');
      await untilTrue(page, `location.href !== ${JSON.stringify(zoomed)}`);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const people = page.getByRole('list', { name: 'Participants of Formation approach' });
      expect(await people.getByRole('listitem').count()).toBe(3);
      await people.getByText('from 14 Mar 2026 10:30:20').waitFor();
      await page
        .getByText('Window from 14 Mar 2026 10:30:00 to 14 Mar 2026 10:35:00')
        .waitFor({ state: 'attached' });
      await page.locator('.timeline-body').focus();
      await page.keyboard.press('Escape');
      await untilTrue(page, '!location.search.includes("start=")');
      await page.getByLabel('State').selectOption('closed');
      await page.getByRole('link', { name: 'Formation take-off' }).waitFor();
      await page.getByLabel('From').fill('2026-03-15');
      await page.getByText('No matching shared sessions').waitFor();
    });
  };

  const machineTests = () => {
    test('machines stand side by side on one time axis and one scale, by an address that others open', async () => {
      const page = await open(`/dashboards/${work().world.dashboardId}`);
      await page.getByRole('button', { name: 'Hide speed (simulator-1.csv)' }).waitFor();
      await page.getByRole('button', { name: 'Side by side' }).click();
      const charts = page.locator('.machine-columns .chart');
      await charts.nth(8).waitFor();
      expect(await page.locator('.chart-lead').allTextContents()).toEqual([
        ...machines.map((name) => `${name}.csv`),
        ...machines.map((name) => `${name}.csv`),
        ...machines.map((name) => `${name}.csv`),
      ]);
      // Heads have lines of words, not of letters.
      await untilTrue(
        page,
        '[...document.querySelectorAll(".chart-lead, .machine-columns h2")].every((part) => part.offsetHeight < 40)',
      );
      await page.getByRole('checkbox', { name: 'simulator-2.csv' }).uncheck();
      await untilTrue(page, 'document.querySelectorAll(".machine-columns .chart").length === 6');
      // A measure is chosen once for every machine.
      await page.locator('.channel', { hasText: 'altitude' }).locator('input').uncheck();
      await page.locator('.channel', { hasText: 'gear' }).locator('input').uncheck();
      await untilTrue(page, 'document.querySelectorAll(".machine-columns .chart").length === 2');
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await untilTrue(page, 'location.search.includes("from=")');
      const address = page.url();
      await page.goto('about:blank');
      await page.goto(address);
      await page.locator('.chart[aria-busy="false"] .chart-plot:not([data-points="0"])').nth(1).waitFor();
      expect(await charts.count()).toBe(2);
      await charts.first().locator('.chart-plot').focus();
      await page.keyboard.press('End');
      // One cursor for all: each machine shows its own value of the same moment.
      await untilTrue(
        page,
        '[...document.querySelectorAll(".legend-value")].every((value) => value.textContent !== "")',
      );
      await picture(page, 'dashboard-two-machines');
    });
  };

  const previewTests = () => {
    test('an output is previewed as table, chart, JSON and text', async () => {
      const { stage, world } = work();
      await upload(
        stage,
        world.inputNode,
        'laps.json',
        '{"laps":[{"n":1,"s":92.4},{"n":2,"s":91.8}]}',
        'laps',
        'application/json',
      );
      const page = await open(`/sessions/${world.sharedId}?node=${world.inputNode}`);
      await page.getByRole('button', { name: 'Preview of laps.json' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('cell', { name: '92.4' }).waitFor();
      await page.getByRole('tab', { name: 'Table' }).focus();
      await page.keyboard.press('ArrowRight');
      await dialog.getByRole('img', { name: /Curve of s over n, from 91.8 to 92.4/ }).waitFor();
      await page.keyboard.press('ArrowRight');
      await dialog.getByText('"s": 92.4').waitFor();
      await page.keyboard.press('End');
      await dialog.getByText('{"laps":[{"n":1').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.goto(`${stage.api.url}/sessions/${world.sharedId}?node=${world.recordingNode}`);
      await page
        .getByRole('button', { name: /^Preview of/ })
        .last()
        .click();
      await dialog.getByRole('cell', { name: 'altitude' }).waitFor();
      await page.getByRole('tab', { name: 'Chart' }).click();
      await dialog.getByRole('img', { name: /Curve of speed \[km\/h\] over time/ }).waitFor();
      await picture(page, 'preview-recording');
    });

    test('a recording is uploaded by keyboard only', async () => {
      const { world } = work();
      const page = await open(`/sessions/${world.sharedId}?node=${world.inputNode}`);
      // Awaited early: the browser needs a moment until it hands choosers over.
      const choosing = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Preview of laps.json' }).waitFor();
      await page.getByRole('button', { name: 'choose files' }).focus();
      await page.keyboard.press('Enter');
      await (await choosing).setFiles({
        name: 'by-keyboard.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(recording(4)),
      });
      await page.getByText(/, stored/).waitFor();
      await page.getByRole('button', { name: 'Preview of by-keyboard.csv' }).waitFor();
    });
  };

  const traineeTests = () => {
    test('a Trainee sees their own sessions and dashboards, and no refused control', async () => {
      const { stage, browser, world } = work();
      const refused: string[] = [];
      const tab = await browser.newPage();
      tab.on('response', (response) => {
        if (response.status() === 401 || response.status() === 403) refused.push(response.url());
      });
      await signInAs(tab, stage.api.url, stage.people.Trainee);
      await tab.getByRole('heading', { name: 'Your sessions' }).waitFor();
      await tab.getByRole('link', { name: 'Formation approach', exact: true }).waitFor();
      expect(await tab.locator('tbody .row-link').allTextContents()).toEqual([
        'Formation take-off',
        'Formation approach',
      ]);
      await picture(tab, 'sessions-trainee');
      await tab.getByRole('link', { name: 'Formation approach', exact: true }).click();
      await tab.getByRole('heading', { name: 'Formation approach' }).waitFor();
      await tab.locator('.timeline-person').nth(2).waitFor();
      for (const name of ['Reprocess', 'Retry all failed']) {
        expect(await tab.getByRole('button', { name }).count(), name).toBe(0);
      }
      const metadata = tab.getByRole('region', { name: 'Metadata' });
      await metadata.getByRole('button', { name: /^(Edit|Add) metadata$/ }).click();
      await metadata.getByRole('button', { name: 'Add metadata' }).click();
      await metadata
        .getByLabel(/^Name of/)
        .last()
        .fill('seat');
      await metadata
        .getByLabel(/^Value of/)
        .last()
        .fill('left');
      await metadata.getByRole('button', { name: 'Save metadata' }).click();
      await metadata.getByText('left').waitFor();
      const sessions = tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Sessions' });
      await sessions.click();
      await tab.getByRole('button', { name: 'New session' }).click();
      await tab.getByLabel('Name').fill('On my own');
      await tab.getByRole('button', { name: 'Create session' }).click();
      await tab.getByRole('heading', { name: 'On my own' }).waitFor();
      await sessions.click();
      await tab.getByRole('link', { name: 'On my own' }).waitFor();
      expect(await tab.locator('tbody .row-link').allTextContents()).toEqual([
        'On my own',
        'Formation take-off',
        'Formation approach',
      ]);
      // Nothing can be run again there.
      await tab.goto(`${stage.api.url}/sessions/${world.failedId}`);
      await tab.getByRole('link', { name: 'Show the failed node' }).waitFor();
      await tab.goto(`${stage.api.url}/shared-sessions`);
      await tab.getByText('Your role has no access to this page').waitFor();
      const others = await ask(stage.api.url, 'GET', '/api/v2/session', {
        token: stage.people.Trainee.token,
      });
      expect([others.status, refused]).toEqual([403, []]);
      await tab.close();
    });
  };

  queryTests();
  timelineTests();
  machineTests();
  previewTests();
  operatorTests(work);
  traineeTests();
}
