import { isLoopback } from './ports.ts';

/** What a person needs to know once everything runs. */
export interface ReadyFacts {
  publicUrl: string;
  /** Address that the API listens on. */
  host: string;
  temporalUiUrl: string | undefined;
  dataDir: string;
  /** Only at the first start. */
  signIn: string | undefined;
}

/** The one block that `npm start` ends with. */
export function readyBlock(facts: ReadyFacts): string {
  const rows: [string, string | undefined][] = [
    ['Console and API', facts.publicUrl],
    ['API description', `${facts.publicUrl}/docs`],
    ['Listening on', listening(facts.host)],
    ['Temporal', facts.temporalUiUrl],
    ['Data and logs', facts.dataDir],
    ['First sign-in', facts.signIn],
    ['Next to try', 'npm run demo   (in another terminal)'],
    ['Stop', 'Ctrl-C'],
  ];
  const lines = rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`  ${label.padEnd(17)}${value}`],
  );
  return `\nThe platform is ready.\n\n${lines.join('\n')}\n`;
}

function listening(host: string): string {
  return isLoopback(host)
    ? `${host}: only this machine can connect; to allow others: HOST=0.0.0.0 npm start`
    : `${host}: plain HTTP, open to the network; passwords and tokens are sent unencrypted`;
}
