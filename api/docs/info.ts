/** The opening of the API reference. */
import { roles } from '../../domain/access/access.ts';
import { leakedTokenPattern, tokenPrefixes } from '../../domain/access/token-format.ts';
import { limits } from '../../domain/limits.ts';
import type { DocumentInfo } from '../../http/openapi/openapi.ts';

const kilobytes = (bytes: number) => `${bytes / 1024} KB`;

export const documentInfo: DocumentInfo = {
  title: 'Simulation Data Platform',
  version: '2',
  description: [
    'Create projects and sessions, upload data to a session, follow its processing and download the results.',
    'Addresses: a route listed without `/api/v2` is served as listed, under `/api/v2` and under `/api/v2.0`. One ' +
      'listed under `/api/v2` is also served under `/api/v2.0`. Those of the authentication service are served under ' +
      '`/api/authorization` only. A response does not change within a version, but may gain fields. GET ' +
      'routes also answer HEAD. Another method on a known path is 405 with `Allow`, an unknown path 404.',
    'Callers: `Authorization: Bearer <token>`, unless a route says otherwise. Access tokens ' +
      `(\`${tokenPrefixes.access}...\`) live ${limits.accessTokenHours} hours, offline tokens (\`${tokenPrefixes.offline}...\`) ` +
      `${limits.offlineTokenMonths} months, runner tokens (\`${tokenPrefixes.runner}...\`) as long as requested at creation. The ` +
      `role of the account decides access: ${roles.join(', ')}. A missing, invalid or expired token is 401. A role without ` +
      'access is 403 or 401, as documented for each route. An offline token outside its scope is 403.',
    'JSON bodies: UTF-8, not compressed, at most 1 MB and ' +
      `${limits.jsonDepthLevels} levels, no key twice in one object. Unknown fields are ignored. Free JSON such as ` +
      `\`Metadata\` is an object of at most ${kilobytes(limits.freeJsonBytes)} and ${limits.freeJsonDepthLevels} levels. ` +
      `Names have 1 to ${limits.nameCharacters} characters, descriptions up to ${limits.descriptionCharacters}. Ids are ` +
      'positive and below 2^53; other integers are signed 32-bit unless a range is given. Numbers in free JSON are doubles: ' +
      'integers beyond 2^53, such as times in nanoseconds, lose digits unless they are sent as text.',
    'Query parameters: each at most once; several values are one text, with commas between them. Unknown ones are ignored.',
    'Times are ISO 8601. They are parsed strictly, with any offset, and written in UTC with milliseconds and `Z`.',
    'Errors: `{ "status": "error", "message": "..." }`; runner routes add a stable `code`. An id of the wrong form in a ' +
      'path is a missing resource. Every response has `X-Request-Id`: the one of the request when it has 1 to ' +
      `${limits.requestIdCharacters} characters of \`A-Za-z0-9._-\`, else a new one.`,
    'Repeats: every POST whose repeat would make something more, or replace a secret again, accepts `Idempotency-Key`, 1 to ' +
      `${limits.idempotencyKeyCharacters} visible characters, in double quotes or bare. For ${limits.idempotencyKeyKeptHours} hours the ` +
      'same request of the same caller is executed once, and repeats get the first response: status, body and headers. ' +
      'A different request under the key is 422. A repeat while the first is in progress is 409 with `Retry-After`. If the response shows ' +
      'a secret once, a repeat creates nothing and is 409. Responses of 4xx and 5xx are not kept: a repeat is executed again, ' +
      'unless something was created.',
    `This pattern finds leaked tokens in text: \`${leakedTokenPattern}\`.`,
  ].join('\n\n'),
  tags: [
    { name: 'Health', description: 'Connectivity of the service.' },
    { name: 'Authentication', description: 'Access tokens: sign in, refresh, sign out, validate, revoke.' },
    { name: 'Offline tokens', description: 'Tokens for capture devices, valid for twelve months.' },
    { name: 'Users', description: 'People and their accounts.' },
    { name: 'Projects', description: 'Groups of sessions.' },
    { name: 'Session templates', description: 'Graphs of nodes from which sessions are created.' },
    { name: 'Sessions', description: 'Create, follow, search, update and close sessions.' },
    { name: 'Shared sessions', description: 'One session for all capture machines of an exercise.' },
    { name: 'Node outputs', description: 'Upload to the nodes of a session and download from them.' },
    { name: 'Node configuration', description: 'Configurations of nodes and their revisions.' },
    { name: 'Annotations', description: 'Moments and ranges of a session, with words.' },
    { name: 'Runs', description: 'Runs of nodes with their attempts: list, retry, cancel.' },
    { name: 'Webhooks', description: 'Events that are pushed, signed as Standard Webhooks says.' },
    { name: 'Managed ingest', description: 'Upload URLs that create or feed sessions.' },
    { name: 'Dashboards', description: 'Charts and values that nodes publish.' },
    {
      name: 'Reports',
      description: 'Tables over dashboards, scenarios and people: define and download.',
    },
    { name: 'Data sources', description: 'Object stores for the bytes of outputs.' },
    {
      name: 'Configuration',
      description: 'Typed entries by name; public entries can be read by every user.',
    },
    { name: 'Runner', description: 'For runners: claim tasks, read inputs, write outputs, report outcomes.' },
    { name: 'Runner administration', description: 'Tokens and manifests of runners.' },
    { name: 'Audit', description: 'Log of writes: user, action, time and network.' },
    { name: 'Retention', description: 'Deletion of old sessions and outputs.' },
    { name: 'Reference', description: 'The OpenAPI documents and this reference.' },
  ],
};
