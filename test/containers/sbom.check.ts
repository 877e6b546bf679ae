/** Compares the bill of materials of the servers that are built here with what these programs report. */
import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { findPrograms } from '../../local/programs.ts';
import {
  type Bom,
  billOfMaterials,
  containerServers,
  licenceFaults,
  ownServers,
  serverLicenceExceptions,
} from '../../local/sbom.ts';
import { programs } from './project.ts';

let bom: Bom;
let servers: Record<string, string>;
beforeAll(async () => {
  const own = await findPrograms({ postgres: true, temporal: false, objectStore: false });
  servers = {
    'github.com/temporalio/cli': own.temporal!,
    'github.com/versity/versitygw': own.versitygw!,
    'github.com/caddyserver/caddy/v2': programs.caddy!,
    'go.temporal.io/server': programs['temporal-server']!,
  };
  bom = await billOfMaterials([...(await ownServers()), ...(await containerServers(programs))]);
});

describe('the bill of materials', () => {
  test('lists exactly the modules that are linked into a server', () => {
    const linked = new Set<string>();
    for (const [name, program] of Object.entries(servers)) {
      const text = execFileSync('go', ['version', '-m', program], { encoding: 'utf8' });
      const modules = [...text.matchAll(/^\t(?:mod|dep)\t(\S+)\t(\S+)/gm)].map(([, path, version]) => ({
        path,
        purl: `pkg:golang/${path}@${version}`,
      }));
      expect(modules.length, name).toBeGreaterThan(50);
      for (const { purl } of modules) linked.add(purl);
      const server = modules.find(({ path }) => path === name);
      const dependencies = bom.dependencies.find(({ ref }) => ref === server?.purl)?.dependsOn ?? [];
      // With Go's own packages, and without itself.
      expect(dependencies, name).toHaveLength(modules.length);
      linked.add(dependencies.find((purl) => purl.startsWith('pkg:golang/stdlib@'))!);
    }
    const held = bom.components.map(({ purl }) => purl).filter((purl) => purl.startsWith('pkg:golang/'));
    expect(held.sort()).toEqual([...linked].sort());
  });

  test('names the licence of each, and none requires more than notices and the sources of changes', () => {
    expect(licenceFaults(bom)).toEqual([]);
    const names = new Set(bom.components.map(({ name }) => name));
    expect(Object.keys(serverLicenceExceptions).filter((name) => !names.has(name))).toEqual([]);
    const licencesOf = (name: string) =>
      bom.components
        .find((component) => component.name === name)
        ?.licenses?.map(({ license }) => license?.id);
    // Looked up by hand.
    expect(licencesOf('stdlib')).toEqual(['BSD-3-Clause']);
    expect(licencesOf('go.temporal.io/server')).toEqual(['MIT']);
    expect(licencesOf('github.com/versity/versitygw')).toEqual(['Apache-2.0']);
    expect(licencesOf('github.com/go-sql-driver/mysql')).toEqual(['MPL-2.0']);
  });
});
