/** `sdp templates`: session templates as files (contract: Template definition file). */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import type { PlatformClient } from './platform-client.ts';

interface Template {
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

/** @param connect opens the platform that the options name; called when a command runs */
export function templatesCommand(connect: () => Promise<PlatformClient>): Command {
  const templates = new Command('templates').description('Session templates.');
  templates
    .command('import')
    .description('Imports a template definition file; every fault is listed with its path.')
    .argument('<file>', 'a JSON file; - reads the standard input')
    .option('--update-if-exists', 'update the template of this name when its graph is the same')
    .action(async (file: string, options: { updateIfExists?: boolean }) => {
      const document = prepare(await read(file), file, options.updateIfExists === true);
      const platform = await connect();
      const { id, name, created } = await platform.postDocument<Template & { created: boolean }>(
        '/api/v2/admin/session-templates',
        document,
      );
      console.log(`${created ? 'Created' : 'Updated'} session template ${id} (${name}).`);
    });
  templates
    .command('list')
    .description('Lists all session templates: id, name and description.')
    .action(async () => {
      const platform = await connect();
      for (const { id, name, description } of await platform.get<Template[]>(
        '/api/v2/session/session_templates',
      )) {
        console.log([String(id).padStart(5), name, description].filter((part) => part !== '').join('  '));
      }
    });
  return templates;
}

async function read(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read (${code}).`);
  }
}

/** The document goes as it stands, so that the platform sees whatever is wrong with it. */
function prepare(document: string, file: string, updateIfExists: boolean): string {
  const withoutMark = document.replace(/^\ufeff/, '');
  if (!updateIfExists) return withoutMark;
  let parsed: unknown;
  try {
    parsed = JSON.parse(withoutMark);
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return withoutMark;
  return JSON.stringify({ ...parsed, updateIfExists: true });
}
