/** Regenerates the published contract of the runner routes: `npm run generate:runner-api`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '../../http/openapi/openapi.ts';
import { routes } from '../routes.ts';
import { documentInfo } from './info.ts';
import { runnerApiYaml } from './runner-api.ts';

const file = fileURLToPath(new URL('../../sdk/runner-api.v1.yaml', import.meta.url));
writeFileSync(file, runnerApiYaml(openApiDocument(routes, documentInfo)));
process.stdout.write(`${file}\n`);
