/** How a program that variables configure was called: `--help` prints its usage, and nothing unknown is passed over. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * The options of this call. Ends the process after help, and with code 1 and the usage after anything unknown: a
 * program that went on would do its work, such as a migration, for a person who asked what it does.
 */
export function readCall<const Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
) {
  const help = { type: 'boolean', short: 'h' } as const;
  try {
    const { values } = parseArgs({ options: { ...options, help } });
    if ((values as { readonly help?: boolean }).help !== true) return values;
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(1);
  }
  console.log(usage);
  process.exit(0);
}
