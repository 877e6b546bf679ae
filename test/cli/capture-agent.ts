/** Shared by the tests of both agents of capture machines: folders of files, and the lives of an agent that is killed. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { ask } from '../support/api.ts';
import type { RunnerStage, StageGraph } from '../support/runner.ts';
import { brokenLineTo } from './broken-line.ts';

export const mebibyte = 1024 * 1024;
export const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** Makes a folder of files, each a minute younger than the one before. Returns its path. */
export function captures(path: string, files: Readonly<Record<string, Buffer | string>>): string {
  mkdirSync(path);
  const names = Object.keys(files);
  for (const [index, file] of names.entries()) {
    writeFileSync(join(path, file), files[file]!);
    const at = Date.now() / 1000 - (names.length - index) * 60;
    utimesSync(join(path, file), at, at);
  }
  return path;
}

/** Linux has a file system of its own here. */
const otherDisk = '/dev/shm';
const other = statSync(otherDisk, { throwIfNoEntry: false });
export const hasOtherDisk = other !== undefined && other.dev !== statSync(tmpdir()).dev;

/** Makes a folder on another file system, for one test. */
export function archiveElsewhere(): string {
  const path = mkdtempSync(join(otherDisk, 'sdp-agent-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The outputs of the graph's input node. */
export async function outputsOf({ api, people }: RunnerStage, graph: StageGraph) {
  const path = `/api/v2/node-instance/${graph.nodes.input}/outputs`;
  const { body } = await ask(api.url, 'GET', path, { token: people.adminToken });
  return Array.isArray(body)
    ? (body as { id: number; outputIdentifier: string; sha256: string; metadata: unknown }[])
    : [];
}

export interface Life {
  kill(signal: 'SIGKILL'): unknown;
  /** Whether it ended well; false when it was killed. */
  readonly isDone: Promise<boolean>;
}

/** Lives of an agent, each killed one request later than the one before, first before it is sent and then after. */
export async function livesOf(
  apiUrl: string,
  requests: number,
  live: (url: string) => Life,
): Promise<number> {
  let running: Life | undefined;
  let lives = 0;
  let request = 0;
  const url = await brokenLineTo(apiUrl, () => {
    request += 1;
    if (request !== 1 + (lives % requests)) return undefined;
    running?.kill('SIGKILL');
    return lives % (2 * requests) < requests ? 'before' : 'after';
  });
  for (let isDone = false; !isDone; lives++) {
    request = 0;
    running = live(url);
    isDone = await running.isDone;
    expect(lives).toBeLessThan(80);
  }
  return lives;
}
