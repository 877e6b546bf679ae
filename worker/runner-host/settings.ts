/** Variables of the host of deployed runners. */
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import { logLevel, secretText, webAddress, wholeNumber } from '../../domain/settings.ts';
import { allowances } from './confinement.ts';

export const runnerHostSettings = z.object({
  /** Folder of the runners' modules, which the operator fills. */
  SDK_RUNNERS_DIR: z.string({ error: 'must name a folder' }),
  /** The key for this host's calls to the API; both need the same value. */
  RUNNER_HOST_KEY: secretText(32),
  /** Address at which this host and its runners reach the API; absent: this machine, at `PORT`. */
  SDK_RUNNERS_URL: webAddress().optional(),
  PORT: wholeNumber(1, 65_535).default(8080),
  /** Number of processes of each runner type. */
  SDK_RUNNERS_PROCESSES: wholeNumber(1, limits.deployedProcessesPerType).default(1),
  /** Maximum number of processes of this host, of all runner types together. */
  SDK_RUNNERS_MAX_PROCESSES: wholeNumber(1, limits.deployedProcessesPerHost).default(20),
  /** JavaScript memory of one process, in megabytes. */
  SDK_RUNNERS_MEMORY_MB: wholeNumber(32, 1_048_576).default(512),
  /** How long tasks may continue when their process is stopped; then it has ten more seconds to end. */
  SDK_RUNNERS_GRACE_SECONDS: wholeNumber(0, 3_600).default(15),
  /** A process that holds no task and claims none for this long, although it could, is restarted. */
  SDK_RUNNERS_HANG_SECONDS: wholeNumber(10, limits.deployedSilentSeconds).default(60),
  /** User and group id of deployed runners when the host runs as root; use an id of no other process. */
  SDK_RUNNERS_UID: wholeNumber(1, 2_147_483_647).default(64_123),
  /**
   * Extra permissions of deployed runners, separated by commas, beyond reading their folder, writing temporary files and
   * using the network. Each weakens the limits that Node enforces.
   */
  SDK_RUNNERS_ALLOW: z
    .string()
    .default('')
    .transform((value) =>
      value
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    )
    .pipe(
      z.array(z.enum(allowances), {
        error: `must name some of ${allowances.join(', ')}, separated by commas`,
      }),
    ),
  LOG_LEVEL: logLevel(),
  /** File that the host writes when it is ready, and every ten seconds from then on. */
  READY_FILE: z.string().optional(),
});

export type RunnerHostSettings = z.output<typeof runnerHostSettings>;
