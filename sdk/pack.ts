/**
 * `node pack.ts [folder]`: makes a package of the kit that `npm install` takes, compiled and with types, because Node runs
 * no TypeScript below node_modules. Needs the TypeScript compiler of this checkout. Prints the file's name.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const kit = fileURLToPath(new URL('.', import.meta.url));
const folder = resolve(process.argv[2] ?? '.');
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
      '.': { types: './index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
    bin: { 'sdp-runner': './main.js' },
    files: ['index.js', 'index.d.ts', 'main.js', 'src'],
  };
}
