/** Commands that start a runner on a person's own machine. Pure: tested without a browser. */

export type Language = 'typescript' | 'python';

/** As `sdp runner init` writes it. */
export function manifestOf(name: string) {
  return {
    manifestVersion: 1,
    feature: { name, version: '0.1.0', ownershipType: 'ThirdParty' },
    runnerTypes: [{ name, runtime: 'external' }],
    nodeTemplates: [
      {
        name,
        runnerType: name,
        type: 'Processing',
        description: 'The greatest value of one column of each recording.',
        incremental: true,
        reprocess: 'all',
        configurationSchema: {
          type: 'object',
          properties: { column: { type: 'string', minLength: 1 } },
          additionalProperties: false,
        },
      },
    ],
  };
}

/** Lines for a shell: the folder with program and manifest, and the program with its token. */
export function commandsOf(name: string, language: Language, url: string, token: string): string {
  const program = language === 'python' ? '.venv/bin/sdp-runner runner.py' : 'npx sdp-runner runner.ts';
  return [
    `sdp runner init ${name}${language === 'python' ? ' --python' : ''}`,
    `cd ${name}`,
    '# README.md says how to install the kit',
    `SDP_URL=${url} SDP_RUNNER_TOKEN=${token} ${program}`,
  ].join('\n');
}
