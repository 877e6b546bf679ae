/**
 * `npm run conformance:bundle -- [file]`: writes the kit as one file (default `conformance.mjs`) that runs with plain
 * Node 20 or newer, without a checkout: `node conformance.mjs --runner "..."`. Prints the name of the file.
 */
import { chmodSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const [wanted = 'conformance.mjs', ...others] = process.argv.slice(2);
if (others.length > 0 || wanted.startsWith('-') || !wanted.endsWith('.mjs')) {
  console.error('Usage: npm run conformance:bundle -- [file.mjs]');
  process.exit(wanted === '--help' || wanted === '-h' ? 0 : 1);
}
const file = resolve(process.env.INIT_CWD ?? process.cwd(), wanted);
await build({
  configFile: false,
  envDir: false,
  publicDir: false,
  logLevel: 'warn',
  // Its packages go into the file too.
  ssr: { noExternal: true },
  build: {
    ssr: fileURLToPath(new URL('main.ts', import.meta.url)),
    target: 'node20',
    outDir: dirname(file),
    emptyOutDir: false,
    rolldownOptions: {
      output: {
        format: 'es',
        entryFileNames: basename(file),
        codeSplitting: false,
        banner: '#!/usr/bin/env node',
      },
    },
  },
});
chmodSync(file, 0o755);
console.log(file);
