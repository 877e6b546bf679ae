/** `sdp runner init`: a folder with a runner that passes its own test. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { kits, longCommand, nodeHint, templateFolder } from '../own-files.ts';

export type Language = 'python' | 'typescript';

const nameForm = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const nameInTemplates = /my-runner/g;

/**
 * @param name of the runner type and its node template; default: made from the folder's name
 * @returns the folder, the name and the files in it
 */
export async function makeRunner(directory: string, language: Language, name: string | undefined) {
  const folder = resolve(directory);
  const chosen = name ?? nameOf(basename(folder));
  if (!nameForm.test(chosen) || chosen.length < 2 || chosen.length > 64) {
    throw new UsageError(
      `'${chosen}' cannot be the name of a runner: 2 to 64 lowercase letters, digits and single hyphens, a letter first. Use --name.`,
    );
  }
  await refuseFull(folder, directory);
  const files: string[] = [];
  for (const part of ['shared', language]) {
    for (const file of await readdir(join(templateFolder, part))) {
      const text = await readFile(join(templateFolder, part, file), 'utf8');
      // npm leaves a file named .gitignore out of packages.
      const made = file === 'gitignore' ? '.gitignore' : file;
      await writeFile(join(folder, made), filled(text, chosen, language), { flag: 'wx' });
      files.push(made);
    }
  }
  return { folder, name: chosen, language, files: files.sort() };
}

async function refuseFull(folder: string, directory: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0) throw new UsageError(`The folder ${directory} is not empty.`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTDIR' && code !== 'EEXIST') throw error;
    throw new UsageError(`${directory} is not a folder.`);
  }
}

function nameOf(folderName: string): string {
  return folderName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-$/g, '');
}

function filled(text: string, name: string, language: Language): string {
  return text
    .replaceAll(nameInTemplates, name)
    .replaceAll('KIT_FOLDER', kits[language])
    .replaceAll('SDP_COMMAND', longCommand)
    .replaceAll(' NODE_HINT', nodeHint === '' ? '' : `\n${nodeHint}`);
}
