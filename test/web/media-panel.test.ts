/** A person's job in a real browser: the pictures and the video of a drive beside its curves. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { writeLink } from '../../web/src/dashboard/panels/link.ts';
import { newPanel } from '../../web/src/dashboard/panels/model.ts';
import { accessibilityFaults, appearances, wear } from './support/axe.ts';
import {
  describeInBrowser,
  openBrowser,
  picture,
  type TestBrowser,
  tooWide,
  untilTrue,
} from './support/browser.ts';
import { type DriveSession, driveSession } from './support/drive.ts';
import { wholePlatform } from './support/platform.ts';
import { signInAs } from './support/sign-in.ts';

const { api, administrator, token } = await wholePlatform();
const start = Date.UTC(2026, 2, 14, 9, 30);

/** Three seconds of a canvas, as a browser records it. */
const filmed = `new Promise((resolve, reject) => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const context = canvas.getContext('2d');
  const recorder = new MediaRecorder(canvas.captureStream(10), { mimeType: 'video/webm' });
  const parts = [];
  let frame = 0;
  const timer = setInterval(() => {
    context.fillStyle = frame % 2 ? 'red' : 'blue';
    context.fillRect(0, 0, 64, 64);
    frame += 1;
    if (frame > 30) recorder.stop();
  }, 100);
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onerror = reject;
  recorder.onstop = () => {
    clearInterval(timer);
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(',')[1]);
    reader.readAsDataURL(new Blob(parts));
  };
  recorder.start();
})`;

describeInBrowser('pictures and video of a drive', () => {
  let browser: TestBrowser;
  let page: Page;
  let drive: DriveSession;

  const upload = async (name: string, type: string, body: Buffer, metadata: object, of = drive) => {
    const { status } = await fetch(`${api.url}/api/v2/node-instance/${of.inputNode}/outputs/data`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': type,
        'x-platform-output-identifier': name,
        'x-platform-output-metadata': JSON.stringify(metadata),
      },
      body: new Uint8Array(body),
    });
    expect(status).toBe(201);
  };

  beforeAll(async () => {
    drive = await driveSession(api.url, token, { project: 'Red ring', name: 'Car 44' });
    ({ browser, page } = await openBrowser(api.url));
    await signInAs(page, `${api.url}/dashboards`, administrator);
    // A picture a minute; each is wider than the one before.
    for (const minute of [0, 1, 2]) {
      const png = await page.screenshot({ clip: { x: 0, y: 0, width: 100 + 10 * minute, height: 60 } });
      const capturedAt = new Date(start + minute * 60_000).toISOString();
      await upload(`nose-${minute}.png`, 'image/png', png, { capturedAt });
    }
    const film = Buffer.from(await page.evaluate<string>(filmed), 'base64');
    await upload('helmet.webm', 'video/webm', film, { offsetSeconds: 60 });
  });
  const shows = (output: string, of = drive) =>
    `${api.url}/dashboards/${of.dashboardId}?layout=${writeLink({
      id: null,
      form: {
        version: 1,
        x: null,
        split: null,
        derived: [],
        panels: [newPanel('lines', ['speed']), { ...newPanel('media', []), output }],
      },
    })}`;
  const curves = () => page.locator('.chart[aria-busy="false"] .chart-plot:not([data-points="0"])').first();
  const cursorTo = async (key: 'Home' | 'End') => {
    await curves().focus();
    await page.keyboard.press(key);
  };
  const isWide = (pixels: number) =>
    untilTrue(page, `document.querySelector('.media img')?.naturalWidth === ${pixels}`);

  test('a picture is the one that the cursor is at', async () => {
    await page.goto(shows('nose'));
    await curves().waitFor();
    await isWide(100);
    await cursorTo('End');
    await isWide(120);
    await page.getByText('nose-2.png (3 of 3)').waitFor();
    await cursorTo('Home');
    await isWide(100);
    await picture(page, 'media-picture');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
  });

  test('no more pictures than are shown stay in memory, and none once the panel is gone', async () => {
    const held = 'window.held';
    await page.evaluate(`(() => {
      window.held = 0;
      const [make, give] = [URL.createObjectURL, URL.revokeObjectURL];
      URL.createObjectURL = (blob) => { window.held += 1; return make.call(URL, blob); };
      URL.revokeObjectURL = (address) => { window.held -= 1; return give.call(URL, address); };
    })()`);
    await cursorTo('End');
    await isWide(120);
    await page.getByRole('button', { name: 'More for this layout' }).click();
    await page.getByRole('menuitem', { name: 'Close layout' }).click();
    await page.locator('.panel-grid').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate<number>(held)).toBeLessThanOrEqual(0);
  });

  test('a video is where the cursor is', async () => {
    await page.goto(shows('helmet'));
    await curves().waitFor();
    await untilTrue(page, `document.querySelector('.media video')?.readyState >= 2`);
    // It begins a minute after the curves do.
    await page.goto(`${shows('helmet')}&from=2026-03-14T09:31:00.000Z&to=2026-03-14T09:31:02.000Z`);
    await untilTrue(page, `document.querySelector('.media video')?.readyState >= 2`);
    await cursorTo('End');
    await untilTrue(page, `Math.abs(document.querySelector('.media video').currentTime - 2) < 0.5`);
    await cursorTo('Home');
    await untilTrue(page, `document.querySelector('.media video').currentTime < 0.2`);
    await picture(page, 'media-video');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
  });

  test('the preview of an output shows its picture or video, and says when it is none', async () => {
    await upload('broken.png', 'image/png', Buffer.from('no picture'), {});
    await page.goto(`${api.url}/sessions/${drive.sessionId}?node=${drive.inputNode}`);
    const preview = async (name: string) => {
      await page.getByRole('button', { name: `Preview of ${name}` }).click();
      return page.getByRole('dialog');
    };
    await (await preview('nose-1.png')).getByRole('img', { name: 'nose-1.png' }).waitFor();
    await untilTrue(page, `document.querySelector('.preview-media')?.naturalWidth === 110`);
    await picture(page, 'preview-picture');
    expect(await accessibilityFaults(page, 'every')).toEqual([]);
    await page.keyboard.press('Escape');
    await preview('helmet.webm');
    await untilTrue(page, `document.querySelector('video.preview-media')?.readyState >= 2`);
    await page.keyboard.press('Escape');
    await (await preview('broken.png')).getByText('The browser cannot show this picture').waitFor();
    await page.keyboard.press('Escape');
  });

  test('over numbered rows playback steps by rows, and pictures by hand', async () => {
    const csv = `speed\n${Array.from({ length: 500 }, (_, row) => row % 90).join('\n')}\n`;
    const rows = await driveSession(api.url, token, { project: drive.projectId, name: 'Bench', csv });
    for (const second of [0, 1]) {
      const png = await page.screenshot({ clip: { x: 0, y: 0, width: 100 + 10 * second, height: 60 } });
      await upload(`gauge-${second}.png`, 'image/png', png, { offsetSeconds: second }, rows);
    }
    await page.goto(shows('gauge', rows));
    await curves().waitFor();
    await cursorTo('Home');
    await isWide(100);
    await page.getByRole('button', { name: 'Step on' }).click();
    await page.getByText('row 1', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Next picture' }).click();
    await isWide(110);
    await cursorTo('End');
    await page.getByText('gauge-1.png (2 of 2)').waitFor();
    await page.getByRole('button', { name: 'Next picture' }).click();
    await isWide(100);
  });

  test('a panel is added by hand, and says when there is nothing to show', async () => {
    await page.goto(`${api.url}/dashboards/${drive.dashboardId}?layout=none`);
    await page.getByRole('button', { name: 'Add panel' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Type/).selectOption({ label: 'Picture or video' });
    await dialog.getByRole('textbox', { name: /^Outputs/ }).fill('rear');
    await dialog.getByRole('button', { name: 'Add panel' }).click();
    await page.getByText('This session has no pictures or video with “rear” in their name.').waitFor();
    for (const look of appearances) {
      await page.goto(shows(''));
      await wear(page, look);
      await page.locator('.media :is(img, video)').waitFor();
      expect(await tooWide(page), look.name).toEqual([]);
      await picture(page, `media-${look.name}`);
    }
    expect(browser.offences).toEqual([]);
  });
});
