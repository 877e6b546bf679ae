import type { Logger } from 'pino';
import type { Database } from '../store/connection/database.ts';
import type { PendingObjects } from '../store/objects/held-objects.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';

/** The worker's resources for activities that read and write objects. */
export interface ActivityServices {
  readonly database: Database;
  readonly objects: ObjectStores;
  readonly pending: PendingObjects;
  readonly log: Logger;
}
