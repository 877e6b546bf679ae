/** The numbered SQL files of `store/migrations` as MikroORM migrations. A file is never edited after it has landed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationObject } from '@mikro-orm/core';
import { Migration } from '@mikro-orm/migrations';

const folder = join(import.meta.dirname, '../migrations');

export const migrationsList: MigrationObject[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((file) => ({
    name: file.slice(0, -'.sql'.length),
    class: class extends Migration {
      override up(): void {
        this.addSql(readFileSync(join(folder, file), 'utf8'));
      }
    },
  }));
