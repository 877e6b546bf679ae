/** What the routes share that answer a question with derived channels. */
import { access } from '../../domain/access/access.ts';
import type { Call } from '../../http/call.ts';
import type { Principal } from '../identity/auth-client.ts';
import type { Services } from '../services.ts';
import { invalidDerivedSchema } from './question-schema.ts';
import { dimensionParams } from './schema.ts';

/** What the POST routes that only read have in common. */
export const questionRoute = {
  tags: ['Dashboards'],
  access: access.dashboardRead,
  audit: { notHere: 'Read-only.' },
  readOnly: true,
  params: dimensionParams,
  errors: ['dimensionNotFound', 'upstreamFailed', 'invalidRequest'],
  errorBodies: { invalidRequest: invalidDerivedSchema },
  refusals: { params: 'dimensionNotFound' },
} as const;

export type QuestionContext = {
  readonly params: { readonly id: number };
  readonly services: Services;
  readonly signal: AbortSignal;
  readonly principal: Principal;
  readonly request: Pick<Call, 'remoteAddress' | 'headers'>;
};
