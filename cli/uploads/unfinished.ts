/** Addresses of unfinished uploads, each in a file of its own, so that a later command goes on with them. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PreviousUpload, UrlStorage } from 'tus-js-client';
import { secretFile } from '../credentials.ts';

const fileOf = (fingerprint: string) =>
  join(secretFile('uploads'), `${createHash('sha256').update(fingerprint).digest('hex')}.json`);

export const unfinishedUploads: UrlStorage = {
  async findAllUploads() {
    return [];
  },
  async findUploadsByFingerprint(fingerprint) {
    const file = fileOf(fingerprint);
    try {
      return [{ ...(JSON.parse(await readFile(file, 'utf8')) as PreviousUpload), urlStorageKey: file }];
    } catch {
      // None, or one whose writing was interrupted: the file is sent from its beginning.
      return [];
    }
  },
  async removeUpload(urlStorageKey) {
    await rm(urlStorageKey, { force: true });
  },
  async addUpload(fingerprint, upload) {
    const file = fileOf(fingerprint);
    try {
      await mkdir(secretFile('uploads'), { recursive: true, mode: 0o700 });
      await writeFile(file, JSON.stringify(upload), { mode: 0o600 });
      return file;
    } catch {
      // A full disk: this command still goes on where the line breaks, a later one from the beginning.
      return '';
    }
  },
};
