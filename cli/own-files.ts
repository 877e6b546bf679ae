/** Files beside the command line: of the checkout, or of its package, which has the kits in folders of their own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const isCheckout = existsSync(join(root, 'sdk/main.ts'));

/** The files that `sdp runner init` copies. */
export const templateFolder = join(root, 'cli/templates');

/** The kits as folders that npm and pip install, and the program of the TypeScript kit. */
export const kits = isCheckout
  ? {
      typescript: join(root, 'sdk'),
      typescriptProgram: join(root, 'sdk/main.ts'),
      python: join(root, 'sdk/python'),
    }
  : {
      typescript: join(root, 'kits/typescript'),
      typescriptProgram: join(root, 'kits/typescript/sdk/main.js'),
      python: join(root, 'kits/python'),
    };

/** A word as a shell reads it. */
export const inShell = (word: string) =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** What a person types for `sdp`, as it is printed. */
export const command = isCheckout ? `npx --prefix '${root}' sdp` : 'sdp';

/** The same where `sdp` is not on the path. */
export const longCommand = isCheckout ? command : `node '${join(root, 'bin/sdp.mjs')}'`;

/** How the README of a runner says where Node comes from: a checkout brings one that is new enough. */
export const nodeHint = isCheckout
  ? `A checkout of the platform has one: \`export PATH="${join(root, 'node_modules/.bin')}:$PATH"\`.`
  : '';
