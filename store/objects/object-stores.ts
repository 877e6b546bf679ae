/** The stores of data sources. */
import { accessOf, type DataSourceRow, type S3Access } from './data-sources.ts';
import { toObjectStoreError } from './errors.ts';
import { type ObjectStore, openObjectStore } from './object-store.ts';
import { ObjectReach } from './reach.ts';
import { SecretBox } from './secrets.ts';
import { type ObjectVariables, platformAccess } from './settings.ts';
import { StagingArea } from './staging-area.ts';

/** The stores of all data sources, each with one client that is renewed when its row changed. */
export class ObjectStores {
  /** Place and keys of the data source `platform`. */
  readonly platformAccess: S3Access;
  /** For registering data sources. */
  readonly secrets: SecretBox;
  /** Where data sources may be. */
  readonly reach: ObjectReach;
  readonly #stores = new Map<number, { readonly version: string; readonly store: ObjectStore }>();

  readonly #staging: StagingArea;

  /** @param staging where all of them buffer what they do not send at once */
  constructor(settings: ObjectVariables, staging = new StagingArea()) {
    this.#staging = staging;
    this.platformAccess = platformAccess(settings);
    this.secrets = new SecretBox(settings.SECRETS_KEY);
    this.reach = new ObjectReach(settings.S3_ENDPOINT, settings.DATA_SOURCE_ENDPOINT_ALLOWLIST);
  }

  /** A store by its address and keys, for checks before a data source is registered. Close it. */
  open(access: S3Access): ObjectStore {
    return openObjectStore(access, this.#staging, this.reach.of(access.endpoint));
  }

  /** @throws ObjectStoreError when its keys cannot be decrypted */
  of(row: DataSourceRow): ObjectStore {
    const known = this.#stores.get(row.id);
    // Each write encrypts anew, which distinguishes two writes within one millisecond.
    const version = `${row.updatedAt.getTime()} ${row.secretCiphertext}`;
    if (known?.version === version) return known.store;
    // The previous client is not closed: requests may be under way. Its idle connections time out.
    const store = this.open(this.#accessOf(row));
    this.#stores.set(row.id, { version, store });
    return store;
  }

  #accessOf(row: DataSourceRow): S3Access {
    try {
      return accessOf(row, this.platformAccess, this.secrets);
    } catch (error) {
      throw toObjectStoreError(error);
    }
  }

  close(): void {
    for (const { store } of this.#stores.values()) store.close();
    this.#stores.clear();
  }
}
