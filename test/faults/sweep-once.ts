/** Removes the objects in the queue of deletions, in a separate process. */
import { Database } from '../../store/connection/database.ts';
import { objectSettings } from '../../store/objects/object-store.ts';
import { ObjectStores } from '../../store/objects/object-stores.ts';
import { sweepAbandonedObjects } from '../../store/objects/pending-objects.ts';

const database = await Database.open({ databaseUrl: process.env.DATABASE_URL ?? '', poolSize: 2 });
const stores = new ObjectStores(objectSettings.parse(process.env));
await sweepAbandonedObjects(database, stores, { olderThanSeconds: 3_600 });
stores.close();
await database.close();
