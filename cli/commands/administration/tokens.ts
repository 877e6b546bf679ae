/** `sdp tokens`: offline tokens of devices and tokens of runners. A new one is shown once. */
import { Option } from 'commander';
import type { OfflineTokenCreated, RunnerTokenRequest } from '../../../client/types.ts';
import { type AddCommand, type Cli, collectOption, examples, uuid, wholeNumber } from '../../cli.ts';
import { table, time } from '../../output.ts';

function printToken(cli: Cli, made: OfflineTokenCreated): void {
  cli.printSecret(made, made.token, `The token is shown once. It expires ${time(made.expiresAt)}.`);
}

export const addTokens: AddCommand = (program, cli) => {
  const tokens = program.command('tokens').description('Device and runner tokens.');
  addOffline(tokens, cli);
  addRunner(tokens, cli);
};

const addOffline: AddCommand = (tokens, cli) => {
  const offline = tokens
    .command('offline')
    .description('Tokens for capture devices, valid for twelve months.');
  offline
    .command('create')
    .description('Creates an offline token of the caller.')
    .addHelpText('after', examples('tokens offline create'))
    .action(async () => {
      printToken(cli, await (await cli.connect()).call('POST /api/v2/admin/offline-tokens'));
    });
  offline
    .command('list')
    .description('Lists offline tokens without their values.')
    .addHelpText('after', examples('tokens offline list'))
    .action(async () => {
      const found = await (await cli.connect()).call('GET /api/v2/admin/offline-tokens');
      cli.print(found, () =>
        table(found, {
          ID: ({ secretId }) => secretId,
          OF: ({ username }) => username,
          'ENDS WITH': ({ tokenHint }) => tokenHint,
          EXPIRES: ({ expiresAt }) => time(expiresAt),
          'LAST USED': ({ lastUsedAt }) => time(lastUsedAt),
          REVOKED: ({ revoked }) => revoked,
        }),
      );
    });
  offline
    .command('revoke')
    .description('Revokes an offline token: it is refused from now on.')
    .argument('<id>', 'id of the token in the list', uuid)
    .addHelpText('after', examples('tokens offline revoke 7d0a3b52-4c1e-4f86-9d27-1e5f8a6b3c90'))
    .action(async (token: string) => {
      const platform = await cli.connect();
      await platform.call('DELETE /api/v2/admin/offline-tokens/{secretId}', { params: { secretId: token } });
      cli.print({ id: token, revoked: true }, () => 'Revoked.');
    });
};

interface RunnerTokenOptions {
  readonly type: readonly string[];
  readonly scope?: RunnerTokenRequest['scopes'];
  readonly hours?: number;
  readonly label?: string;
}

const addRunner: AddCommand = (tokens, cli) => {
  const runner = tokens.command('runner').description('Runner tokens.');
  runner
    .command('create')
    .description('Creates a token for runner types.')
    .addOption(
      new Option('--type <name>', 'a runner type; repeatable').argParser(collectOption).makeOptionMandatory(),
    )
    .option('--scope <name>', 'tasks or debug:read; repeatable (default: tasks)', collectOption)
    .option('--hours <number>', 'lifetime, up to 8760 (default: 720)', wholeNumber(1, 8_760))
    .option('--label <text>', 'where it is used')
    .addHelpText(
      'after',
      examples('tokens runner create --type lap-tools --hours 720 --label "Laboratory 3"'),
    )
    .action(async ({ type, scope, hours, label }: RunnerTokenOptions) => {
      const platform = await cli.connect();
      const body = { runnerTypes: type, scopes: scope, ttlHours: hours, label };
      printToken(cli, await platform.call('POST /api/v2/admin/runner-tokens', { body }));
    });
  addIssued(runner, cli);
};

const addIssued: AddCommand = (runner, cli) => {
  runner
    .command('list')
    .description('Lists runner tokens without their values: Developers see their own.')
    .addHelpText('after', examples('tokens runner list'))
    .action(async () => {
      const found = await (await cli.connect()).call('GET /api/v2/admin/runner-tokens');
      cli.print(found, () =>
        table(found, {
          ID: (one) => one.id,
          LABEL: ({ label }) => label,
          TYPES: ({ runnerTypes }) => runnerTypes.join(', '),
          SCOPES: ({ scopes }) => scopes.join(', '),
          'ENDS WITH': ({ tokenHint }) => tokenHint,
          EXPIRES: ({ expiresAt }) => time(expiresAt),
          'LAST USED': ({ lastUsedAt }) => time(lastUsedAt),
          REVOKED: ({ revoked }) => revoked,
        }),
      );
    });
  runner
    .command('revoke')
    .description('Revokes a runner token: its calls end, and its tasks are released.')
    .argument('<id>', 'id of the token in the list', uuid)
    .addHelpText('after', examples('tokens runner revoke 0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71'))
    .action(async (token: string) => {
      const platform = await cli.connect();
      await platform.call('DELETE /api/v2/admin/runner-tokens/{id}', { params: { id: token } });
      cli.print({ id: token, revoked: true }, () => 'Revoked.');
    });
};
