import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

/**
 * Builds the console to `web/dist`. The API serves that folder: files under `assets/` carry a hash of their
 * content in the name and may be cached for ever, `index.html` answers every console address.
 *
 * For work on the console itself, `npx vite web` serves it with the API of a started platform behind it;
 * `API_ORIGIN` names another one than http://127.0.0.1:8080.
 */
const apiOrigin = process.env.API_ORIGIN ?? 'http://127.0.0.1:8080';

/** Vite's helper around each `import()`, replaced by ours. */
const loadsParts: Plugin = {
  name: 'load-part',
  enforce: 'pre',
  apply: 'build',
  load(id) {
    if (id !== '\0vite/preload-helper.js') return null;
    const module = fileURLToPath(new URL('src/ui/load-part.ts', import.meta.url));
    return `export { loadPart as __vitePreload } from ${JSON.stringify(module)}`;
  },
};

export default defineConfig({
  plugins: [loadsParts],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    // The content security policy is default-src 'self': nothing may become a data: address.
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    // The browsers of the target preload modules themselves.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Every page uses some of these small parts. A file for each cost a request, and its own start of the compression.
      output: {
        codeSplitting: {
          groups: [
            {
              name: 'ui',
              // A range of days is asked for above long lists alone.
              test: /\/(src\/(ui\/(?!date-range)|save\.ts|configuration\/kept-drafts|palette\/page-actions|session\/(why|scroll-to-chosen))|client\/session-outputs)/,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '^/(api|user_data|docs|projects|session|config|metrics)(/|$)': apiOrigin } },
});
