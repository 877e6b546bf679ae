/** Accessibility of a page by axe, and the appearances in which every page is drawn. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Appearance {
  readonly name: string;
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

/** Both colour schemes on a desk, and the smallest phone that is still sold, in dark. */
export const appearances: readonly Appearance[] = [
  { name: 'light', colorScheme: 'light', width: 1440 },
  { name: 'dark', colorScheme: 'dark', width: 1440 },
  { name: 'phone', colorScheme: 'dark', width: 360 },
];

export async function wear(page: Page, appearance: Appearance): Promise<void> {
  await page.emulateMedia({ colorScheme: appearance.colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width: appearance.width, height: 900 });
}

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; failureSummary?: string }[];
}

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Findings of axe by WCAG 2.2 A and AA and by good practice: one line for each element. Of a page in its other
 * colours, the contrast is all that is new.
 */
export async function accessibilityFaults(page: Page, rules: 'every' | 'contrast'): Promise<string[]> {
  if ((await page.evaluate('typeof window.axe')) === 'undefined') await page.evaluate(axeSource);
  const violations = (await page.evaluate(`axe.run(document, {
    runOnly: ${JSON.stringify(rules === 'every' ? everyRule : ['color-contrast'])},
    resultTypes: ['violations'],
    // There are no frames, and no rule that is asked for reads style sheets.
    iframes: false,
    preload: false,
  }).then(({ violations }) => violations)`)) as Violation[];
  const found = violations.flatMap(({ id, help, nodes }) =>
    nodes
      .slice(0, 3)
      .map((node) => `${id}: ${help}\n  ${node.html.slice(0, 160)}\n  ${node.failureSummary ?? ''}`),
  );
  return rules === 'every' ? [...found, ...(await unnamedControls(page))] : found;
}

const namedRoles = new Set([
  'button',
  'link',
  'checkbox',
  'combobox',
  'searchbox',
  'tab',
  'textbox',
  'menuitem',
]);

/** Controls without a name in Chromium's own tree, which is what people hear. axe reads names where that has none. */
async function unnamedControls(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const unnamed = nodes.filter(
      ({ ignored, role, name }) => !ignored && namedRoles.has(String(role?.value)) && !name?.value,
    );
    return await Promise.all(
      unnamed.map(async ({ role, backendDOMNodeId: backendNodeId }) => {
        const { outerHTML } = await session.send('DOM.getOuterHTML', { backendNodeId: backendNodeId! });
        return `A ${role?.value} has no name: ${outerHTML.slice(0, 300)}`;
      }),
    );
  } finally {
    await session.detach();
  }
}
