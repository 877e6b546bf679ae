/** A real Chromium for tests of the console. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { afterAll, describe } from 'vitest';
import { eventually, patienceMs } from '../../support/eventually.ts';
import { findChromium } from './chromium.ts';

const checkout = fileURLToPath(new URL('../../..', import.meta.url));
/** Screenshots of each page, for review. */
const artefacts = join(checkout, 'test-results', 'web');

/** How late a page that stays too wide is reported. */
const widthLimitMs = 30_000;
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const program = findChromium();
const opened = new Set<TestBrowser>();

/** A `describe` whose tests need a browser. Files with one are left out where there is none: `left-out.ts`. */
export function describeInBrowser(name: string, tests: () => void): void {
  describe(name, () => {
    afterAll(async () => {
      for (const browser of opened) await browser.close();
      opened.clear();
    });
    tests();
  });
}

/** One for all tests of a process; it ends with the process. Each gets a context as empty as a new profile. */
let running: Promise<Browser> | undefined;
/** Its sources do not change while tests run. */
let built: Promise<void> | undefined;

/** A page of the console, in a context that is closed when the tests of {@link describeInBrowser} have ended. */
export async function openBrowser(
  site: string,
  options?: BrowserOptions,
): Promise<{ browser: TestBrowser; page: Page }> {
  built ??= buildConsole();
  await built;
  if ((await running)?.isConnected() !== true) running = launch(program!);
  const browser = await contextIn(await running!, site, options);
  opened.add(browser);
  return { browser, page: await browser.newPage() };
}

/** Builds `web/dist` where its sources changed since. */
export async function buildConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(checkout, 'local/bootstrap.mjs'), 'console'], {
    cwd: checkout,
  });
}

export interface TestBrowser {
  readonly context: BrowserContext;
  /**
   * What must never happen, from all pages so far: requests to other places, breaches of the content security policy, errors in
   * the console's own code.
   */
  readonly offences: string[];
  /** A new tab. It shares localStorage with the others, not sessionStorage. */
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

interface BrowserOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  /** A screen that is touched, too. */
  readonly touch?: boolean;
}

/** Starts Chromium with an empty profile. */
export async function startBrowser(
  program: string,
  origin: string,
  options?: BrowserOptions,
): Promise<TestBrowser> {
  const browser = await launch(program);
  return { ...(await contextIn(browser, origin, options)), close: () => browser.close() };
}

const launch = (program: string) => chromium.launch({ executablePath: program, headless: true, args: flags });

async function contextIn(
  browser: Browser,
  origin: string,
  options: BrowserOptions = {},
): Promise<TestBrowser> {
  const context = await browser.newContext({
    hasTouch: options.touch ?? false,
    viewport: { width: options.width ?? 1440, height: 900 },
    colorScheme: options.colorScheme ?? 'light',
    timezoneId: 'Europe/Vienna',
    locale: 'en-GB',
    // What moves for ever is drawn 60 times a second.
    reducedMotion: 'reduce',
    acceptDownloads: true,
  });
  context.setDefaultTimeout(patienceMs);
  await answerLate(context);
  await drawLate(context);
  const offences: string[] = [];
  let closed = false;
  context.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('blob:') && url !== 'about:blank') {
      offences.push(`request to ${url}`);
    }
  });
  context.on('weberror', (error) => offences.push(`error in the page: ${error.error().stack}`));
  context.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) offences.push(message.text());
  });
  return {
    context,
    offences,
    newPage: () => context.newPage(),
    close: async () => {
      // Tests close some browsers themselves, before the end of a file closes them all.
      if (closed) return;
      closed = true;
      // Answers that tests change may be under way: their errors must not fail the run.
      const routed = [context, ...context.pages()];
      await Promise.all(routed.map((place) => place.unrouteAll({ behavior: 'ignoreErrors' })));
      await context.close();
    },
  };
}

/**
 * With `LATE_ANSWERS_MS=1500` half of the requests of pages wait up to that long: finds the tests that pass only where answers
 * come at once.
 */
async function answerLate(context: BrowserContext): Promise<void> {
  const maxMs = Number(process.env.LATE_ANSWERS_MS ?? 0);
  if (maxMs === 0) return;
  await context.route('**/*', async (route) => {
    if (Math.random() < 0.5) await sleep(Math.random() * maxMs);
    // The page may have gone meanwhile.
    await route.continue().catch(() => undefined);
  });
}

/** The time after which Preact runs effects where no frame is drawn. */
const effectsMs = 35;

/**
 * With `LATE_FRAMES_MS=400` frames are drawn that much later, and so are the effects that wait for one: finds the tests that
 * pass only where they are quick, and what is lost in the console when it comes before them.
 */
async function drawLate(context: BrowserContext): Promise<void> {
  const laterMs = Number(process.env.LATE_FRAMES_MS ?? 0);
  if (laterMs === 0) return;
  await context.addInitScript(`{
    const { requestAnimationFrame, setTimeout } = window;
    window.requestAnimationFrame = (draw) => setTimeout(() => requestAnimationFrame(draw), ${laterMs});
    window.setTimeout = (work, ms, ...rest) => setTimeout(work, ms === ${effectsMs} ? ${laterMs} : ms, ...rest);
  }`);
}

/**
 * Waits until an expression is true in the page. In place of `page.waitForFunction`, which evaluates again from a timer of the
 * page: there the console's content security policy refuses it, so that it fails whenever the first look comes too early.
 */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  await eventually(expression, () => page.evaluate<boolean>(expression));
}

const cameras = new WeakMap<Page, Promise<CDPSession>>();

/**
 * With `PICTURES=true` keeps a picture of the page under this name, as it is drawn right now: larger and made faster than
 * Playwright's own.
 */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.PICTURES !== 'true') return;
  const camera = cameras.get(page) ?? page.context().newCDPSession(page);
  cameras.set(page, camera);
  const taken = await (await camera).send('Page.captureScreenshot', {
    format: 'png',
    optimizeForSpeed: true,
  });
  mkdirSync(artefacts, { recursive: true });
  writeFileSync(join(artefacts, `${name}.png`), taken.data, 'base64');
}

/** Goes to an address within the console, as its links do, by way of an address where nothing is: every part is new. */
export async function goWithin(page: Page, address: string): Promise<void> {
  for (const next of ['/no/such/page', address]) {
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(next)}); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    if (next !== address) await page.getByText('Page not found').waitFor();
  }
}

/**
 * Elements beyond the right edge of the window, which need sideways scrolling. Charts take a new width a moment after the
 * window has it.
 */
export async function tooWide(page: Page): Promise<string[]> {
  let found: string[] = [];
  const isNarrow = async () => {
    found = (await page.evaluate(`(() => {
      if (document.documentElement.scrollWidth <= innerWidth) return [];
      const wide = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > innerWidth);
      return ['page of ' + document.documentElement.scrollWidth, ...wide.map((element) => element.outerHTML.slice(0, 80))];
    })()`)) as string[];
    return found.length === 0;
  };
  await eventually('the page is narrow enough', isNarrow, widthLimitMs).catch(() => undefined);
  return found;
}

interface DroppedFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** Drops a file on an element, as a person does with the mouse. */
export async function dropFile(page: Page, selector: string, file: DroppedFile): Promise<void> {
  await drag(page, selector, file, ['dragenter', 'dragover', 'drop']);
}

/** Drags a file onto an element, and leaves it there. */
export async function dragOver(page: Page, selector: string): Promise<void> {
  await drag(page, selector, { name: 'a.csv', type: 'text/csv', text: 'a' }, ['dragenter']);
}

async function drag(
  page: Page,
  selector: string,
  { name, type, text }: DroppedFile,
  events: readonly string[],
): Promise<void> {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: ${JSON.stringify(type)} }));
    return transfer;
  })()`);
  for (const event of events) await page.dispatchEvent(selector, event, { dataTransfer });
}
