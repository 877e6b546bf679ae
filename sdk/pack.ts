/**
 * `node pack.ts [folder]`: makes a package of the kit for `npm install`, compiled and with types, because Node runs no
 * TypeScript below node_modules. It includes the used files of `client/`. Needs the TypeScript compiler of this
 * checkout. Prints the name of the file.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const usage = `Usage: node sdk/pack.ts [folder]
Makes a package of the runner kit that npm installs, in the folder (default: this one), and prints the file's name.`;

const [wanted = '.', ...others] = process.argv.slice(2);
const isHelp = wanted === '--help' || wanted === '-h';
if (isHelp || others.length > 0 || wanted.startsWith('-')) {
  (isHelp ? console.log : console.error)(usage);
  process.exit(isHelp ? 0 : 1);
}
const kit = fileURLToPath(new URL('.', import.meta.url));
const folder = resolve(wanted);
mkdirSync(folder, { recursive: true });
const staging = mkdtempSync(join(tmpdir(), 'sdp-runner-'));
try {
  compile();
  copyFileSync(join(kit, 'README.md'), join(staging, 'README.md'));
  writeFileSync(join(staging, 'package.json'), JSON.stringify(compiledPackage(), null, 2));
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: staging });
  console.log(join(folder, packed.toString('utf8').trim()));
} finally {
  rmSync(staging, { recursive: true, force: true });
}

function compile(): void {
  const compiler = resolve(kit, '../node_modules/typescript/bin/tsc');
  const options = ['--project', join(kit, 'tsconfig.pack.json'), '--outDir', staging];
  execFileSync(process.execPath, [compiler, ...options], { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** The same package with compiled files in the place of the sources. */
function compiledPackage(): object {
  const own = JSON.parse(readFileSync(join(kit, 'package.json'), 'utf8'));
  return {
    ...own,
    exports: {
      '.': { types: './sdk/index.d.ts', default: './sdk/index.js' },
      './testing': { types: './sdk/testing.d.ts', default: './sdk/testing.js' },
      './package.json': './package.json',
    },
    bin: { 'sdp-runner': './sdk/main.js' },
    files: ['sdk', 'client'],
  };
}
