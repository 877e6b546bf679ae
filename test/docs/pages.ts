/** The documentation as a reader's shell and browser see it: fenced blocks, links and anchors of every page. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../../', import.meta.url));

export interface Block {
  /** `sh`, `text`, ... */
  readonly language: string;
  /** The text after the language: `setup`, `runner`, or the name of the file that the block is to be saved as. */
  readonly info: string;
  readonly text: string;
  readonly line: number;
  /** Why it is not run, from the comment right before it; null when it is run. */
  readonly notRun: string | null;
}

export interface Page {
  /** From the checkout: `docs/quick-start.md`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** README.md and every page below docs/. */
export function allPages(): Page[] {
  const below = readdirSync(join(checkout, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  return ['README.md', ...below.sort()].map(readPage);
}

export function readPage(path: string): Page {
  const text = readFileSync(join(checkout, path), 'utf8');
  return { path, text, blocks: blocksOf(text) };
}

const notRunMark = /^<!-- not run: (.+) -->$/;

function blocksOf(text: string): Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [, language, info = ''] = /^```(\w+)(?: (.+))?$/.exec(lines[at] ?? '') ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`The block in line ${at + 1} has no end.`);
    const notRun = notRunMark.exec(lines[at - 1] ?? '')?.[1] ?? null;
    blocks.push({ language, info, text: lines.slice(at + 1, end).join('\n'), line: at + 1, notRun });
    at = end;
  }
  return blocks;
}

/** Blocks that a reader types, which no test runs. */
export function notRunOf({ blocks }: Page): Block[] {
  return blocks.filter(({ language, notRun }) => language === 'sh' && notRun !== null);
}

/** The file and the anchor that each link within the documentation leads to; links to elsewhere are left out. */
export function linksOf(
  page: Page,
): { readonly link: string; readonly file: string; readonly anchor: string }[] {
  const prose = page.text.replaceAll(/```[\s\S]*?\n```/g, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = '', anchor = ''] = link.split('#');
    const file = path === '' ? page.path : join(dirname(page.path), path);
    return [{ link, file: relative('.', file), anchor }];
  });
}

/** The anchors of a page, as GitHub and others make them of its headings, and those that it sets itself. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const prose = text.replaceAll(/```[\s\S]*?\n```/g, '');
  const headings = [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const plain = heading.replaceAll(/[`*]/g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const anchor = plain
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
  const own = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, name = '']) => name);
  return new Set([...headings, ...own]);
}
