/** The workflows of the bundle, by their type names. */
export { sessionRun } from './session-run.ts';
