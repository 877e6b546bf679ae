/** `sdp config`: the configuration of a node. */
import type { NodeConfigurationRevisions } from '../../client/types.ts';
import { type AddCommand, examples, id, parseDocument, readDocument } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { table, time } from '../output.ts';
import type { PlatformClient } from '../platform-client.ts';

const path = '/api/v2/node-instance/{nodeInstanceId}/configuration';

export const addConfig: AddCommand = (program, cli) => {
  const config = program.command('config').description('Configurations of nodes.');
  config
    .command('show')
    .description('Shows the configuration that the next run of a node gets.')
    .argument('<nodeInstanceId>', 'the node instance', id)
    .option('--revisions', 'list every change instead, newest first, with who and when')
    .addHelpText('after', examples('config show 102', 'config show 102 --revisions'))
    .action(async (nodeInstanceId: number, options: { revisions?: boolean }) => {
      const platform = await cli.connect();
      const params = { nodeInstanceId };
      if (options.revisions === true) {
        const found = await platform.call(`GET ${path}/revisions`, { params });
        return cli.print(found, () => revisionTable(found));
      }
      const found = await platform.call(`GET ${path}`, { params });
      cli.print(found, () => described(found));
    });
  config
    .command('set')
    .description('Changes the configuration of a node, for every run that is not yet claimed.')
    .argument('<nodeInstanceId>', 'the node instance', id)
    .argument('[values...]', 'key=value, the value as JSON or else as text; dots lead into objects')
    .option('--file <file>', 'replace the whole configuration by this JSON file; - reads the standard input')
    .option('--rerun', 'reprocess the node with it')
    .addHelpText(
      'after',
      examples(
        'config set 102 inputFormat=csv maxLaps=7 --rerun',
        'config set 102 --file configuration.json',
      ),
    )
    .action(async (nodeInstanceId: number, values: string[], options: SetOptions) => {
      const { file, rerun = false } = options;
      if ((file === undefined) === (values.length === 0))
        throw new UsageError('Give either key=value, once or several times, or --file.');
      const changes = values.map(assignment);
      const replacement = file === undefined ? undefined : await readConfiguration(file);
      const platform = await cli.connect();
      const params = { nodeInstanceId };
      const request = replacement ? { configuration: replacement } : await changed(platform, params, changes);
      const { headers, configuration } = { headers: undefined, ...request };
      const saved = await platform.call(`PUT ${path}`, { params, headers, body: { configuration, rerun } });
      cli.print(saved, () => `${described(saved)}${rerun ? '\nThe node runs again with it.' : ''}`);
    });
};

interface SetOptions {
  readonly file?: string;
  readonly rerun?: boolean;
}
type Configuration = Readonly<Record<string, unknown>>;
interface Assignment {
  readonly keys: readonly string[];
  readonly value: unknown;
}

const described = ({ revision, configuration }: { revision: number; configuration: Configuration }) =>
  `Revision ${revision}\n${JSON.stringify(configuration, null, 2)}`;

const revisionTable = ({ revisions }: NodeConfigurationRevisions) =>
  table(revisions, {
    REVISION: ({ revision }) => revision,
    CHANGED: ({ changedAt }) => time(changedAt),
    BY: ({ changedBy, changedByName }) => changedByName ?? changedBy ?? 'the session template',
    CONFIGURATION: ({ configuration }) => JSON.stringify(configuration),
  });

/** The present configuration with the changes, for its revision alone. */
async function changed(
  platform: PlatformClient,
  params: { readonly nodeInstanceId: number },
  changes: readonly Assignment[],
) {
  const present = await platform.call(`GET ${path}`, { params });
  return {
    headers: { 'if-match': `"${present.revision}"` },
    configuration: changes.reduce<Configuration>(
      (configuration, { keys, value }) => withValue(configuration, keys, value),
      present.configuration,
    ),
  };
}

function assignment(text: string): Assignment {
  const at = text.indexOf('=');
  const keys = text.slice(0, Math.max(at, 0)).split('.');
  if (keys.includes('')) throw new UsageError(`'${text}' is no key=value.`);
  return { keys, value: parsed(text.slice(at + 1)) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function withValue(
  object: Configuration,
  [key = '', ...rest]: readonly string[],
  value: unknown,
): Configuration {
  if (rest.length === 0) return { ...object, [key]: value };
  const inner = Object.hasOwn(object, key) ? object[key] : undefined;
  return { ...object, [key]: withValue(isObject(inner) ? inner : {}, rest, value) };
}

const isObject = (value: unknown): value is Configuration =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function readConfiguration(file: string): Promise<Configuration> {
  const configuration = parseDocument(await readDocument(file), file);
  if (isObject(configuration)) return configuration;
  throw new Error(`${file} holds no JSON object.`);
}
