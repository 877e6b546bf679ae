/**
 * `node cli/pack.ts [folder]`: makes a package of the command line for `npm install` and `npx`: one file of plain
 * JavaScript without dependencies, and beside it what `sdp runner` needs, the templates and both kits. Prints the name
 * of the package.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const [wanted = '.', ...others] = process.argv.slice(2);
if (others.length > 0 || wanted.startsWith('-')) {
  console.error('Usage: npm run sdp:pack -- [folder]');
  process.exit(wanted === '--help' || wanted === '-h' ? 0 : 1);
}
const source = fileURLToPath(new URL('.', import.meta.url));
const folder = resolve(process.env.INIT_CWD ?? process.cwd(), wanted);
mkdirSync(folder, { recursive: true });
const staging = mkdtempSync(join(tmpdir(), 'sdp-cli-'));
try {
  await bundle(join(staging, 'bin'));
  addRunnerFiles(staging);
  copyFileSync(join(source, 'README.md'), join(staging, 'README.md'));
  writeFileSync(join(staging, 'package.json'), JSON.stringify(description(), null, 2));
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: staging });
  console.log(join(folder, packed.toString('utf8').trim()));
} finally {
  rmSync(staging, { recursive: true, force: true });
}

async function bundle(outDir: string): Promise<void> {
  await build({
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    // Its packages go into the file too.
    ssr: { noExternal: true },
    build: {
      ssr: join(source, 'sdp.ts'),
      target: 'node20',
      minify: true,
      emptyOutDir: true,
      outDir,
      rolldownOptions: {
        output: {
          format: 'es',
          entryFileNames: 'sdp.mjs',
          codeSplitting: false,
          banner: '#!/usr/bin/env node',
        },
      },
    },
  });
  chmodSync(join(outDir, 'sdp.mjs'), 0o755);
}

/** As `own-files.ts` finds them. */
function addRunnerFiles(staging: string): void {
  const [templates, typescript, python] = ['cli/templates', 'kits/typescript', 'kits/python'].map((part) =>
    join(staging, part),
  ) as [string, string, string];
  cpSync(join(source, 'templates'), templates, { recursive: true });
  mkdirSync(typescript, { recursive: true });
  const packed = execFileSync(process.execPath, [join(source, '../sdk/pack.ts'), staging], {
    encoding: 'utf8',
  });
  const archive = packed.trim().split('\n').at(-1)!;
  execFileSync('tar', ['xzf', archive, '-C', typescript, '--strip-components=1']);
  rmSync(archive);
  for (const part of ['pyproject.toml', 'README.md', 'src'])
    cpSync(join(source, '../sdk/python', part), join(python, part), {
      recursive: true,
      filter: (file) => !file.includes('__pycache__'),
    });
}

function description(): object {
  const { version, license } = JSON.parse(readFileSync(join(source, '../package.json'), 'utf8'));
  return {
    name: '@simulation-data-platform/cli',
    version,
    description: 'Command line of the Simulation Data Platform.',
    license,
    type: 'module',
    engines: { node: '>=20.18' },
    bin: { sdp: './bin/sdp.mjs' },
    files: ['bin', 'cli', 'kits'],
  };
}
