/** The pages that are made from the code: path and text. */
import { apiPage } from './api.ts';
import { configurationPage } from './configuration.ts';
import { errorsPage } from './errors.ts';
import { limitsPage } from './limits.ts';
import { manifestPage } from './manifest.ts';

export function referencePages(): Readonly<Record<string, string>> {
  return {
    'docs/reference/api.md': apiPage(),
    'docs/reference/configuration.md': configurationPage(),
    'docs/reference/errors.md': errorsPage(),
    'docs/reference/limits.md': limitsPage(),
    'docs/reference/manifest.md': manifestPage(),
  };
}
