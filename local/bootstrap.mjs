// The way in on a fresh clone: plain JavaScript that runs on Node 20 before any package is installed.
// It installs packages, prepares the servers and the web console, and hands over to TypeScript under Node 24.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildConsole } from './prepare/console.mjs';
import { installPackages, markLive } from './prepare/packages.mjs';
import { checkout, isProgram, programName } from './prepare/places.mjs';
import { postgresPrograms } from './prepare/postgres.mjs';
import { PlainError, say } from './prepare/progress.mjs';
import { obtainServers, serverPrograms } from './prepare/servers.mjs';
import { dataFolder, markStarting, waitForStart } from './prepare/starting.mjs';

const LEAST_NODE_MAJOR = 24;
const TAKES_NO_ARGUMENTS = new Set(['start', 'prepare', 'console']);
const PREPARES_ONLY = new Set(['prepare', 'console']);
const PARENT_POLL_MILLISECONDS = 250;
const USAGE = `Usage: node local/bootstrap.mjs <command> [arguments]
  start                  the whole platform on this machine
  demo                   a recording from upload to dashboard, against a running start
  test [arguments]       types, lint and tests; arguments go to vitest
  stack --data-dir DIR   only the three servers, for tests that share them (TEST_STACK_DIR=DIR)
  prepare                only install and build
  console                only build the web console, if it changed
  <file.ts> [arguments]  any other script of the checkout`;

const SCRIPTS = {
  start: 'local/start.ts',
  demo: 'cli/demo.ts',
  test: 'local/run-tests.ts',
  stack: 'local/run-stack.ts',
};
const NEEDS_SERVERS = new Set(['start', 'test', 'stack', 'prepare']);
const NEEDS_CONSOLE = new Set(['start', 'prepare', 'console']);

/** Node 24: the one that came with the packages, else this one when it is new enough. */
function nodeProgram() {
  const bundled = join(checkout, 'node_modules', '.bin', programName('node'));
  if (isProgram(bundled)) return bundled;
  if (Number(process.versions.node.split('.')[0]) >= LEAST_NODE_MAJOR) return process.execPath;
  throw new PlainError(
    `The packages include no Node ${LEAST_NODE_MAJOR} for ${process.platform} ${process.arch}, and this is Node ` +
      `${process.versions.node}. Install Node ${LEAST_NODE_MAJOR} or newer and start again.`,
  );
}

/** The servers that are no package of npm. @param without the parts that the caller brings */
function serverNames(without) {
  const names = { objectStore: 'versitygw', temporal: 'temporal' };
  return Object.keys(names).flatMap((part) => (without.includes(part) ? [] : [names[part]]));
}

/** Finds the servers, or brings them; `without` names those that the caller brings. */
async function prepareServers(without) {
  const postgres = without.includes('postgres') ? undefined : await postgresPrograms();
  return { postgres, ...(await serverPrograms(serverNames(without))) };
}

/** What the person's own settings replace. */
function replacedBySettings() {
  const settings = { postgres: 'DATABASE_URL', temporal: 'TEMPORAL_ADDRESS', objectStore: 'S3_ENDPOINT' };
  return Object.keys(settings).filter(
    (part) => process.env[settings[part]] || process.env[`${settings[part]}_FILE`],
  );
}

function scriptFile(command) {
  const file = Object.hasOwn(SCRIPTS, command) ? SCRIPTS[command] : command;
  const path = resolve(checkout, file);
  if (!path.endsWith('.ts') || !existsSync(path))
    throw new PlainError(`Unknown command "${command}".\n${USAGE}`);
  return path;
}

/** Runs the script, passes signals on and ends as it ends. */
function handOver(script, args) {
  // Over the channel the script notices when this process is killed outright, and stops what it started.
  // A signal of any process of the same user opens no debugger: the start knows all keys.
  // What Node compiles of the checkout and its packages is kept, so that later starts take half the time.
  const compiled = process.env.NODE_COMPILE_CACHE ?? join(checkout, 'node_modules', '.cache', 'compiled');
  const child = spawn(nodeProgram(), ['--disable-sigusr1', script, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  whenNpmIsGone(() => child.kill('SIGTERM'));
  child.on('error', (error) => fail(error));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** npm passes a signal to its shell alone, which ends without a signal to us. This process then has another parent. */
function whenNpmIsGone(stop) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, PARENT_POLL_MILLISECONDS);
}

function fail(error) {
  say(error instanceof PlainError ? error.message : (error.stack ?? String(error)));
  process.exit(1);
}

const isHelp = (argument) => argument === '--help' || argument === '-h';

async function prepareCheckout(command) {
  await installPackages();
  if (NEEDS_CONSOLE.has(command)) await buildConsole(nodeProgram());
}

async function main([command, ...args]) {
  const isAlone = TAKES_NO_ARGUMENTS.has(command);
  if (command === undefined || isHelp(command) || (isAlone && args.some(isHelp))) {
    say(USAGE);
    process.exit(command === undefined ? 1 : 0);
  }
  if (isAlone && args.length > 0) {
    const advice = 'Its settings are variables, such as PORT=9000 npm start.';
    throw new PlainError(`"${command}" takes no arguments, such as "${args[0]}". ${advice}`);
  }
  // Asked by the TypeScript (local/programs.ts): where the servers are, as JSON.
  if (command === 'servers') return process.stdout.write(`${JSON.stringify(await prepareServers(args))}\n`);
  const script = PREPARES_ONLY.has(command) ? undefined : scriptFile(command);
  if (command === 'start') markStarting(dataFolder());
  if (command === 'demo') await waitForStart(dataFolder());
  const without = replacedBySettings();
  // The first start compiles for a minute, and installs the packages meanwhile.
  const obtaining = NEEDS_SERVERS.has(command) ? obtainServers(serverNames(without)) : Promise.resolve();
  await Promise.all([obtaining, prepareCheckout(command)]);
  if (NEEDS_SERVERS.has(command)) await prepareServers(without);
  if (script === undefined) return;
  markLive();
  handOver(script, args);
}

main(process.argv.slice(2)).catch(fail);
