import { spawn } from 'node:child_process';
import { PlainError } from './progress.mjs';

const KEPT_CHARACTERS = 8_000;

/**
 * Runs a program to its end. Its output is kept, not shown; when it fails, the error carries the end of it.
 * Resolves to stdout.
 */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let tail = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      tail = (tail + chunk).slice(-KEPT_CHARACTERS);
    });
    child.stderr.on('data', (chunk) => {
      tail = (tail + chunk).slice(-KEPT_CHARACTERS);
    });
    const onSignal = (signal) => child.kill(signal);
    // Another part of the preparation may fail meanwhile, which ends this process.
    const onExit = () => child.kill();
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('exit', onExit);
    child.on('error', (error) => reject(new PlainError(`${command} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal).off('exit', onExit);
      if (code === 0) resolve(stdout);
      else
        reject(
          new PlainError(
            `${command} ${args.join(' ')} ended with ${signal ?? `code ${code}`}:\n${tail.trim()}`,
          ),
        );
    });
  });
}
