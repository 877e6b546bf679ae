import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Drivers that the servers link and that never run here: stores of other clouds, databases, queues and directories. What
 * they import is a fifth of the build. Each part is left out where its text is found, so another version of a server
 * builds with them again.
 */
const DRIVERS = [
  {
    module: 'go.temporal.io/server',
    file: 'common/archiver/provider/provider.go',
    without: [
      /^\t"go\.temporal\.io\/server\/common\/archiver\/(gcloud|s3store)"\n/gm,
      /^\tcase (gcloud|s3store)\.URIScheme:\n(?:(?!\t(?:case |default:)).*\n)+/gm,
    ],
  },
  {
    module: 'go.temporal.io/server',
    file: 'common/persistence/visibility/defs.go',
    without: [
      /^\t"go\.temporal\.io\/server\/common\/persistence\/sql\/sqlplugin\/(mysql|postgresql)"\n/gm,
      /(mysql|postgresql)\.PluginName(PGX)?, /g,
    ],
  },
  {
    module: 'go.temporal.io/server',
    file: 'common/persistence/visibility/store/sql/query_converter_factory.go',
    without: [
      /^\t"go\.temporal\.io\/server\/common\/persistence\/sql\/sqlplugin\/(mysql|postgresql)"\n/gm,
      /^\tcase (mysql|postgresql)\.PluginName.*:\n.*\n/gm,
    ],
  },
  {
    module: 'github.com/versity/versitygw',
    file: 'cmd/versitygw/main.go',
    without: [/^\t\t(azure|test)Command\(\),\n/gm],
    files: ['cmd/versitygw/azure.go', 'cmd/versitygw/test.go'],
  },
  {
    module: 'github.com/versity/versitygw',
    file: 'auth/iam.go',
    without: [/^\tcase o\.(LDAPServer|VaultEndpoint)URL != "":\n(?:\t\t.*\n)+/gm],
    files: ['auth/iam_ldap.go', 'auth/iam_vault.go'],
  },
];

/**
 * Takes the drivers of a module out of its sources.
 * @param folder where the sources lie; it must be a copy that nothing else reads
 * @returns true when something was there to be taken out
 */
export function removeUnusedDrivers(module, folder) {
  let isChanged = false;
  for (const { file, without, files = [] } of DRIVERS.filter((driver) => driver.module === module)) {
    const path = join(folder, file);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (!without.every((part) => text.search(part) >= 0)) continue;
    // The files of Go's modules are read-only. A new file can be written in place of each.
    for (const unused of [file, ...files]) rmSync(join(folder, unused), { force: true });
    writeFileSync(
      path,
      without.reduce((rest, part) => rest.replaceAll(part, ''), text),
    );
    isChanged = true;
  }
  return isChanged;
}
