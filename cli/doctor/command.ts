/** `sdp doctor`: checks each part in turn, reports what is wrong and what to do. */
import type { Bearer } from '../../client/api-client.ts';
import { isTransient } from '../../client/back-off.ts';
import { doesNotAnswer, isOfUnknownAuthority } from '../../client/errors.ts';
import { type AddCommand, examples } from '../cli.ts';
import { bearerFor, type Place, placeOf } from '../connection.ts';
import { exitCodes } from '../errors.ts';
import { findPlatform } from '../find-platform.ts';
import { table } from '../output.ts';
import { ownVersion } from '../own-version.ts';
import { PlatformClient } from '../platform-client.ts';
import { ask, type Finding, fault, ok, type Probed, probe, skipped, warning } from './finding.ts';
import { workers } from './workers.ts';

/** With a larger difference, times from devices and runners look wrong. */
const clockToleranceMs = 5_000;
/** The version of the interface that this command line was written for. */
const spokenVersion = '2';

export const addDoctor: AddCommand = (program, cli) => {
  program
    .command('doctor')
    .description('Checks every part of the platform and the sign-in; prints each fault and its remedy.')
    .addHelpText('after', examples('doctor', 'doctor --url https://platform.example.org --json'))
    .action(async () => {
      const findings = await examine(cli.url);
      const isWell = findings.every(({ state }) => state !== 'wrong');
      cli.print({ ok: isWell, findings }, () =>
        [
          table(findings, {
            PART: ({ part }) => part,
            STATE: ({ state }) => state,
            FINDING: ({ finding }) => finding,
          }),
          ...findings.filter(({ advice }) => advice !== '').map(({ part, advice }) => `\n${part}: ${advice}`),
        ].join('\n'),
      );
      if (!isWell) process.exitCode = exitCodes.failed;
    });
};

async function examine(url: string | undefined): Promise<Finding[]> {
  const versions = `sdp ${ownVersion}, Node ${process.versions.node}`;
  const place = await placeOf(url).catch((error: Error) => error);
  if (place instanceof Error) {
    return [
      ok('command line', versions),
      fault('address', place.message, 'Name the platform with --url or SDP_URL.'),
    ];
  }
  const { address, from } = place;
  const found = [ok('command line', versions), ok('address', `${address}, from ${from}`)];
  const health = await ask(`${address}/api/v2/health`).catch((error: Error) => error);
  if (health instanceof Error) {
    const advice = isOfUnknownAuthority(health)
      ? 'Name the file of the authority that issued its certificate in NODE_EXTRA_CA_CERTS.'
      : 'Start the platform (npm start), or check the address, the network and the proxies.';
    return [...found, fault('API', doesNotAnswer(health), advice)];
  }
  return [
    ...found,
    api(health),
    ...(await Promise.all([storage(address), version(address), signInService(address)])),
    clock(health),
    await signIn(address),
    await workers(address),
    await temporal(place),
  ];
}

function api({ status, text, tookMs }: Probed): Finding {
  if (status === 200 && /"status"\s*:\s*"ok"/.test(text)) return ok('API', `answers in ${tookMs} ms`);
  if (status === 503) {
    return fault('API', 'answers, but its database does not', 'Check PostgreSQL and DATABASE_URL.');
  }
  return fault('API', `answered ${status}`, 'Another service may answer here. Check the address.');
}

async function storage(address: string): Promise<Finding> {
  const part = 'database and storage';
  const answer = await probe(`${address}/health_check`);
  if (answer?.status === 200) return ok(part, 'both answer');
  const advice = 'If the API is fine, check the object store and its settings (S3_ENDPOINT, ...).';
  return fault(part, answer === undefined ? 'no answer in time' : `answered ${answer.status}`, advice);
}

async function signInService(address: string): Promise<Finding> {
  const part = 'authentication';
  const answer = await probe(`${address}/api/authorization/health`);
  if (answer?.status === 200) return ok(part, 'answers');
  const advice = 'Check the authentication service, AUTH_URL and AUTH_SERVICE_KEY.';
  return fault(part, answer === undefined ? 'no answer in time' : `answered ${answer.status}`, advice);
}

async function version(address: string): Promise<Finding> {
  const part = 'interface';
  const answer = await probe(`${address}/api/v2/openapi.json`);
  const [, found] = /"version"\s*:\s*"([^"]+)"/.exec(answer?.text.slice(0, 100_000) ?? '') ?? [];
  if (found === spokenVersion) return ok(part, `version ${found}`);
  return warning(
    part,
    found === undefined ? 'has no version' : `version ${found}`,
    `This command line supports version ${spokenVersion}. Use the one from the platform's checkout.`,
  );
}

/** A `Date` header has whole seconds: compares the middle of that second with the middle of the call. */
function clock({ headers, startedAtMs, tookMs }: Probed): Finding {
  const server = Date.parse(headers.get('date') ?? '') + 500;
  if (Number.isNaN(server)) return skipped('clock', 'no Date');
  const differenceMs = startedAtMs + tookMs / 2 - server;
  const finding = `${(Math.abs(differenceMs) / 1000).toFixed(1)} s ${differenceMs < 0 ? 'behind' : 'ahead of'} the platform`;
  if (Math.abs(differenceMs) <= clockToleranceMs + tookMs / 2) return ok('clock', finding);
  return warning('clock', finding, 'Synchronise the clock of this machine or of the platform (NTP).');
}

async function signIn(address: string): Promise<Finding> {
  const part = 'sign-in';
  const again = 'Sign in with `sdp login`, or set SDP_TOKEN.';
  try {
    const bearer = await bearerFor(address);
    if (bearer === undefined) return warning(part, 'not signed in', again);
    const { name, mustChangePassword } = await whoIs(address, bearer);
    return mustChangePassword
      ? fault(part, `${name}; the password must be changed`, 'Change it with `sdp password`.')
      : ok(part, name);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fault(
      part,
      reason,
      isTransient(error) ? 'The platform cannot check it now. See to the other parts first.' : again,
    );
  }
}

async function whoIs(address: string, bearer: Bearer) {
  const token = (await bearer.token()) ?? '';
  const platform = new PlatformClient(address, bearer);
  if (token.startsWith('hrt_')) {
    await platform.call('GET /api/v2/runner/whoami');
    return { name: 'a runner token, valid', mustChangePassword: false };
  }
  const person = await platform.call('POST /api/authorization/validate', { body: { token } });
  const name = `${person.username} (${person.role})${person.isOfflineToken ? ', offline token' : ''}`;
  return { name, mustChangePassword: person.forceChangePasswordNextSignin };
}

/** The address of Temporal's UI is known when `npm start` runs the platform. */
async function temporal({ address }: Place): Promise<Finding> {
  const part = 'Temporal UI';
  const { temporalUiUrl } = await findPlatform(address);
  if (temporalUiUrl === undefined) {
    return skipped(
      part,
      'known only for a platform that `npm start` runs here (DATA_DIR: its data folder, if not .data)',
    );
  }
  const answer = await probe(temporalUiUrl);
  if (answer !== undefined && answer.status < 400) return ok(part, temporalUiUrl);
  const advice = 'Uploads continue, tasks wait. See the logs in the data folder, or restart the platform.';
  return fault(part, `${temporalUiUrl} does not answer`, advice);
}
