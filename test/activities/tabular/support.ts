/** Shared by the tests of the tabular conversion: a folder, a conversion, and the written rows. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBValue } from '@duckdb/node-api';
import { expect } from 'vitest';
import type { TabularConfiguration } from '../../../activities/builtin/tabular/configuration.ts';
import {
  type Conversion,
  type ConvertInput,
  convertTabular,
} from '../../../activities/builtin/tabular/convert/convert.ts';
import { TabularError } from '../../../activities/builtin/tabular/errors.ts';

export const vegaFolder = new URL('../../../node_modules/vega-datasets/data/', import.meta.url).pathname;

export class TabularBench {
  readonly folder: string;
  readonly workDir: string;
  readonly outputPath: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.workDir = join(folder, 'work');
    this.outputPath = join(folder, 'recording.parquet');
  }

  static async open(): Promise<TabularBench> {
    const folder = await mkdtemp(join(tmpdir(), 'sdp-tabular-'));
    const bench = new TabularBench(folder);
    await mkdir(bench.workDir);
    return bench;
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Converts a text, bytes, or the file at a path; checks that nothing temporary is left. */
  async convert(
    content: string | Uint8Array | { path: string },
    configuration: TabularConfiguration = {},
    more: Partial<ConvertInput> = {},
  ): Promise<Conversion> {
    await rm(this.outputPath, { force: true });
    let inputPath = join(this.folder, 'upload');
    if (typeof content === 'object' && 'path' in content) inputPath = content.path;
    else await writeFile(inputPath, content);
    try {
      return await convertTabular({
        inputPath,
        contentType: null,
        outputIdentifier: 'upload-1',
        source: { outputId: 7, outputIdentifier: 'upload-1' },
        configuration,
        outputPath: this.outputPath,
        workDir: this.workDir,
        memoryLimitBytes: 512 * 1024 * 1024,
        ...more,
      });
    } finally {
      expect(await readdir(this.workDir)).toEqual([]);
    }
  }

  /** Converts a file that must fail, and returns the error. */
  async fails(
    content: string | Uint8Array | { path: string },
    configuration: TabularConfiguration = {},
    more: Partial<ConvertInput> = {},
  ): Promise<TabularError> {
    const error = await this.convert(content, configuration, more).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof TabularError)) throw error ?? new Error('The conversion succeeded.');
    expect(error.message).not.toContain(this.folder);
    expect(error.message.length).toBeLessThan(400);
    expect(await readdir(this.folder)).not.toContain('recording.parquet');
    return error;
  }

  /** The written rows as objects by channel id, with the time under the key `t`. */
  async rows(conversion: Conversion): Promise<Record<string, unknown>[]> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const { channels } = conversion.description;
    const columns = ['t', ...channels.map((channel) => channel.column)].join(', ');
    const reader = await connection.runAndReadAll(`SELECT ${columns} FROM read_parquet($1)`, [
      this.outputPath,
    ]);
    const rows = reader.getRows().map((row) => {
      const entries = channels.map((channel, index): [string, unknown] => [
        channel.id,
        plain(row[index + 1]),
      ]);
      return Object.fromEntries([['t', Number(row[0])], ...entries]);
    });
    connection.closeSync();
    instance.closeSync();
    return rows;
  }
}

function plain(value: DuckDBValue | undefined): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
