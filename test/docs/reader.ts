/** A reader who types the commands of a page into one shell, block after block, and reads their output. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { compileCache } from '../support/caches.ts';
import type { TestProcess } from '../support/processes.ts';
import { type Block, checkout, type Page } from './pages.ts';

export interface Reader {
  /** A folder of the test's own, in which the reader's shell runs as in a checkout. */
  readonly folder: string;
  /** Replacements for values of the pages: the address, the password. */
  readonly replacements: readonly (readonly [string, string])[];
  /** The block that every page begins with. */
  readonly setup: Block;
  readonly startScript: (file: string, variables: Readonly<Record<string, string>>) => TestProcess;
}

/** Files of the checkout that the commands use. */
const ofCheckout = ['api', 'cli', 'domain', 'local', 'node_modules', 'package.json', 'sdk', 'test'];

const opened = (line: number) => `::: line ${line} :::`;

/** Runs all commands of a page. Throws with all that was printed when one of them fails. */
export async function runCommands(page: Page, reader: Reader): Promise<string> {
  const folder = join(reader.folder, page.path.replaceAll(/\W/g, '-'));
  mkdirSync(folder, { recursive: true });
  for (const name of ofCheckout) symlinkSync(join(checkout, name), join(folder, name));
  for (const { info, language, text } of page.blocks)
    if (info !== '' && language !== 'sh') writeFileSync(join(folder, info), `${replaced(text, reader)}\n`);
  const commands = page.blocks.filter(({ language, notRun }) => language === 'sh' && notRun === null);
  const own = commands.some(({ info }) => info === 'setup') ? [] : [{ ...reader.setup, line: 0 }];
  const script = ['set -euo pipefail', `cd '${folder}'`, ...[...own, ...commands].map(shellOf)].join('\n');
  const file = join(folder, 'commands.sh');
  // Every process that the page has left running ends with it.
  writeFileSync(
    file,
    `trap 'kill $(jobs -p) 2> /dev/null || :; wait || :' EXIT\n${replaced(script, reader)}\n`,
  );
  const child = reader.startScript(file, {
    PATH: `${resolve('node_modules/.bin')}:${process.env.PATH}`,
    XDG_CONFIG_HOME: join(folder, 'config'),
    NODE_COMPILE_CACHE: compileCache,
    PYTHONDONTWRITEBYTECODE: '1',
    npm_config_update_notifier: 'false',
    DATA_DIR: folder,
  });
  const code = await child.ended;
  expect(code, `${page.path}:\n${child.log()}`).toBe(0);
  return child.log();
}

function shellOf(block: Block): string {
  return `echo '${opened(block.line)}'\n${block.text}`;
}

const replaced = (text: string, { replacements }: Reader) =>
  replacements.reduce((result, [from, to]) => result.replaceAll(from, to), text);

/** The `text` block right after commands shows what they print: these lines in this order, however wide, `…` for anything. */
export function checkPrinted(page: Page, printed: string, reader: Reader): number {
  let checked = 0;
  for (const [at, block] of page.blocks.entries()) {
    const before = page.blocks[at - 1];
    if (block.language !== 'text' || block.notRun !== null) continue;
    if (before?.language !== 'sh' || before.notRun !== null)
      throw new Error(`${page.path}:${block.line}: a text block belongs behind the commands that print it.`);
    const start = printed.indexOf(opened(before.line));
    const end = printed.indexOf('\n::: line ', start + 1);
    const part = printed.slice(start, end < 0 ? undefined : end);
    const lines = replaced(block.text, reader)
      .split('\n')
      .filter((line) => line.trim() !== '');
    const pattern = lines.map(patternOf).join('[\\s\\S]*?');
    expect(part, `${page.path}:${block.line}`).toMatch(new RegExp(pattern));
    checked += 1;
  }
  return checked;
}

const patternOf = (line: string) =>
  line
    .trim()
    .split('…')
    .map((text) =>
      text
        .trim()
        .replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
        .replaceAll(/ +/g, ' +'),
    )
    .join('.*');
