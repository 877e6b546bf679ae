import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsError } from '../domain/settings.ts';
import { collectAfterStart } from '../store/objects/buffer-garbage.ts';
import { endOnUnexpected } from '../telemetry/unexpected.ts';
import { writeDurably } from './data-folder.ts';
import { type FirstAdministrator, migrate } from './migrate.ts';
import { onEnd } from './parent.ts';
import { fatalSentences, PlainError } from './plain-error.ts';
import { platformProcesses, runnerHostProcess } from './platform.ts';
import { listenErrorCode, localAddress } from './ports.ts';
import { readyBlock } from './ready-block.ts';
import { readStartSettings, type StartSettings, secretsOfStart } from './settings.ts';
import { type Stack, type StackFacts, startStack } from './stack.ts';
import type { Supervised } from './supervised.ts';

/** Thrown between two steps of the start when the person has asked to stop meanwhile. */
class Stopped extends Error {}

/** Children get 35 seconds each, and the servers end after them. */
const STOP_SECONDS = 120;

const say = (line: string) => console.log(line);

/** `npm start`: servers, schema, API and workers, until Ctrl-C. */
async function main(): Promise<void> {
  const settings = readStartSettings(process.env);
  const platform = new Platform(settings);
  let isEnding = false;
  const end = async (code: number) => {
    if (isEnding) return;
    isEnding = true;
    await platform.stop();
    process.exit(code);
  };
  endOnUnexpected(fatalSentences, () => platform.stop(), STOP_SECONDS);
  onEnd(() => {
    say('\nStopping ...');
    void end(0);
  });
  process.on('exit', () => isEnding && say(`Stopped. The data remain in ${settings.dataDir}.`));
  try {
    await platform.start();
  } catch (error) {
    if (isEnding) return;
    printError(error);
    await end(1);
  }
}

/** Everything that one `npm start` runs. */
class Platform {
  readonly #settings: StartSettings;
  #stack: Promise<Stack> | undefined;
  #processes: Supervised[] = [];
  #runnerHost: Supervised | undefined;
  #isStopping = false;
  /** A start that is refused because another one has the folder leaves what that one wrote. */
  #holdsFolder = false;

  constructor(settings: StartSettings) {
    this.#settings = settings;
  }

  async start(): Promise<void> {
    const { dataDir, ports, external, port, host } = this.#settings;
    say('Starting database, Temporal and object store ...');
    let administrator: FirstAdministrator | undefined;
    try {
      this.#stack = startStack({
        dataDir,
        log: say,
        ports,
        external,
        beforeServers: async () => {
          this.#holdsFolder = true;
          await requirePort(port, host);
        },
        onDatabase: async (database) => {
          administrator = await this.#migrate(database);
        },
        onStorage: (storage) => this.#startProcesses(storage),
      });
      this.#announce(await this.#unlessStopped(this.#stack), administrator);
    } catch (error) {
      // The password is made once; it must not be lost because something else went wrong.
      if (administrator?.password !== undefined) say(`First sign-in: ${firstSignIn(administrator)}`);
      throw error;
    }
  }

  /** As the owner of the tables, where the database is the embedded one. */
  async #migrate({ environment, roles }: StackFacts): Promise<FirstAdministrator | undefined> {
    const { dataDir, adminPassword } = this.#settings;
    say('Migrating the database ...');
    const own = { ...withOwn(environment, process.env), ...(roles && { DATABASE_URL: roles.owner }) };
    return await migrate(own, join(dataDir, 'logs', 'migrate.log'), adminPassword);
  }

  /**
   * While Temporal still starts: API and workers wait for it, and spend most of their start on loading. Those of a call
   * before wait at an address that Temporal did not get.
   */
  async #startProcesses(storage: StackFacts): Promise<void> {
    const { dataDir, port, host } = this.#settings;
    await this.#stopProcesses();
    if (this.#isStopping) throw new Stopped();
    say('Starting API and workers ...');
    const environment = this.#environment(storage);
    const options = { environment, dataDir, address: localAddress(host, port), log: say };
    this.#processes = platformProcesses(options);
    this.#runnerHost = runnerHostProcess(options);
    const all = [...this.#processes, ...(this.#runnerHost ? [this.#runnerHost] : [])];
    await Promise.all(all.map((child) => child.start()));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#holdsFolder) rmSync(this.#runningFile, { force: true });
    await this.#stopProcesses();
    const stack = await this.#stack?.catch(() => undefined);
    await stack?.stop();
  }

  /** Deployed runners release their tasks while the API is running; the servers stop last. */
  async #stopProcesses(): Promise<void> {
    await this.#runnerHost?.stop();
    await Promise.all(this.#processes.map((child) => child.stop()));
  }

  get #runningFile(): string {
    return join(this.#settings.dataDir, 'running.json');
  }

  async #unlessStopped<T>(work: Promise<T>): Promise<T> {
    const result = await work;
    if (this.#isStopping) throw new Stopped();
    return result;
  }

  /** The variables of every process of the platform; the person's own take precedence. */
  #environment({ environment, roles }: StackFacts): Record<string, string> {
    const { port, host, dataDir, publicUrl, sdkRunnersDir } = this.#settings;
    const made: Record<string, string> = {
      ...environment,
      ...(roles && { DATABASE_URL: roles.application, REPORT_DATABASE_URL: roles.report }),
      WORKFLOW_CACHE_DIR: join(dataDir, 'workflow-cache'),
      SERIES_CACHE_DIR: join(dataDir, 'series-cache'),
      REGISTER_DEFAULT_DATA_SOURCE: 'true',
      SDK_RUNNERS_URL: localAddress(host, port),
    };
    return {
      ...withOwn(made, process.env),
      PORT: String(port),
      HOST: host,
      DATA_DIR: dataDir,
      PUBLIC_URL: publicUrl,
      TEMP_DIR: this.#settings.tempDir ?? emptyFolder(join(dataDir, 'temp')),
      ...(sdkRunnersDir === undefined ? {} : { SDK_RUNNERS_DIR: sdkRunnersDir }),
    };
  }

  #announce(stack: Stack, administrator: FirstAdministrator | undefined): void {
    const { publicUrl, port, host, dataDir } = this.#settings;
    const temporalUiUrl = stack.environment.TEMPORAL_UI_URL;
    const address = localAddress(host, port);
    writeDurably(
      this.#runningFile,
      `${JSON.stringify({ address, publicUrl, temporalUiUrl, pid: process.pid })}\n`,
    );
    const signIn = administrator === undefined ? undefined : firstSignIn(administrator);
    collectAfterStart();
    say(readyBlock({ publicUrl, host, temporalUiUrl, dataDir, signIn }));
  }
}

/** The person's variables take precedence over ours, given directly or by a file. */
function withOwn(made: Record<string, string>, given: NodeJS.ProcessEnv): Record<string, string> {
  const own = Object.entries(given).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  const environment = { ...made };
  for (const [name, value] of own) {
    const named = name.replace(/_FILE$/, '');
    // Secrets that the start has read are among ours already, with the file's content; the password is not passed on.
    if (named === 'ADMIN_PASSWORD' || (named !== name && secretsOfStart.has(named))) continue;
    if (named !== name) delete environment[named];
    environment[name] = value;
  }
  return environment;
}

function firstSignIn({ username, password }: FirstAdministrator): string {
  return password === undefined
    ? `${username}, with the password of ADMIN_PASSWORD`
    : `${username} / ${password}  (shown once)`;
}

async function requirePort(port: number, host: string): Promise<void> {
  const code = await listenErrorCode(port, host);
  if (code === undefined) return;
  if ((await listenErrorCode(0, host)) !== undefined) {
    throw new PlainError(
      `HOST: cannot listen on ${host}. Use an address of this machine, or remove the variable.`,
    );
  }
  if (code === 'EACCES')
    throw new PlainError(`PORT: this user may not listen on port ${port}. Choose one above 1023.`);
  throw new PlainError(
    `PORT: port ${port} is in use by another program. Stop it, or choose another: PORT=${port + 1} npm start`,
  );
}

function emptyFolder(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function printError(error: unknown): void {
  if (error instanceof SettingsError) for (const line of error.lines) console.error(line);
  else console.error(error instanceof Error ? error.message : error);
}

main().catch((error: unknown) => {
  printError(error);
  process.exit(1);
});
