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
    'Create projects and sessions, send data into a session, follow its processing and collect the results.',
    'Addresses: a route that is listed without `/api/v2` answers as listed, under `/api/v2` and under `/api/v2.0`; one ' +
      'that is listed under `/api/v2` also under `/api/v2.0`; those of the authentication service under ' +
      '`/api/authorization` alone. What a route answers does not change within a version, but may gain fields. GET ' +
      'routes answer HEAD too; another method on a known path is 405 with `Allow`, an unknown path 404.',
    'Callers: `Authorization: Bearer <token>`, unless a route says otherwise. Access tokens ' +
      `(\`${tokenPrefixes.access}...\`) live ${limits.accessTokenHours} hours, offline tokens (\`${tokenPrefixes.offline}...\`) ` +
      `${limits.offlineTokenMonths} months, runner tokens (\`${tokenPrefixes.runner}...\`) as long as they were made for. The ` +
      `role of the account decides: ${roles.join(', ')}. A token that is missing, wrong or expired is 401; a role that ` +
      'is not enough is 403 or 401, as each route tells; an offline token outside its scope is 403.',
    'JSON bodies: UTF-8, not compressed, at most 1 MB and ' +
      `${limits.jsonDepthLevels} levels, no key twice in one object. Unknown fields are ignored. Free JSON such as ` +
      `\`Metadata\` is an object of at most ${kilobytes(limits.freeJsonBytes)} and ${limits.freeJsonDepthLevels} levels. ` +
      `Names hold 1 to ${limits.nameCharacters} characters, descriptions up to ${limits.descriptionCharacters}. Ids are ` +
      'positive and below 2^53; other integers are signed 32-bit unless a range is given.',
    'Times are ISO 8601. They are read strictly, with any offset, and written in UTC with milliseconds and `Z`.',
    'Errors: `{ "status": "error", "message": "..." }`; runner routes add a stable `code`. An id of the wrong form in a ' +
      'path is a missing resource. Every answer carries `X-Request-Id`: the one that was sent when it has 1 to ' +
      `${limits.requestIdCharacters} characters of \`A-Za-z0-9._-\`, else a new one.`,
    'Repeats: every POST that creates takes `Idempotency-Key`, 1 to ' +
      `${limits.idempotencyKeyCharacters} visible characters in double quotes or bare. For ${limits.idempotencyKeyKeptHours} hours the ` +
      'same caller’s same request under it is done once, and repeats get the first answer: status, body and headers. ' +
      'Another request under the key is 422; while one is under way it is 409 with `Retry-After`; where the answer shows ' +
      'a secret once, a repeat makes nothing and is 409. Answers of 4xx and 5xx are not kept: a repeat is done anew, ' +
      'unless something was made.',
    `Tokens that leaked into text are found by \`${leakedTokenPattern}\`.`,
  ].join('\n\n'),
  tags: [
    { name: 'Health', description: 'Whether the service can be reached.' },
    { name: 'Authentication', description: 'Access tokens: sign in, refresh, sign out, validate, revoke.' },
    { name: 'Offline tokens', description: 'Tokens of twelve months for capture devices.' },
    { name: 'Users', description: 'People and their accounts.' },
    { name: 'Projects', description: 'What sessions belong to.' },
    { name: 'Session templates', description: 'Graphs of nodes from which sessions are made.' },
    { name: 'Sessions', description: 'Make, follow, search, change and end them.' },
    { name: 'Shared sessions', description: 'One session for all capture machines of an exercise.' },
    { name: 'Node outputs', description: 'Bytes into the nodes of a session and out of them.' },
    { name: 'Runs', description: 'What nodes did, attempt by attempt; trying again, and cancelling.' },
    { name: 'Managed ingest', description: 'Upload URLs that make or feed sessions.' },
    { name: 'Dashboards', description: 'What nodes publish for people to look at.' },
    {
      name: 'Reports',
      description: 'Tables over dashboards, scenarios and people, to be defined and downloaded.',
    },
    { name: 'Data sources', description: 'The object stores that hold the bytes of outputs.' },
    { name: 'Configuration', description: 'Typed entries by name, public ones for everybody.' },
    { name: 'Runner', description: 'What runners call: claim tasks, read inputs, write outputs, report.' },
    { name: 'Runner administration', description: 'Tokens and manifests of runners.' },
    { name: 'Audit', description: 'Who did what, when and from where.' },
    { name: 'Retention', description: 'What is removed when it is old enough.' },
    { name: 'Reference', description: 'This description.' },
  ],
};
