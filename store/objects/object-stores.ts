/** The stores of data sources. */
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { limits } from '../../domain/limits.ts';
import { openClient } from './client.ts';
import { accessOf, type DataSourceRow, type S3Access } from './data-sources.ts';
import { toObjectStoreError } from './errors.ts';
import { type ObjectStore, objectAt, openObjectStore } from './object-store.ts';
import { ObjectReach } from './reach.ts';
import { SecretBox } from './secrets.ts';
import { type ObjectVariables, platformAccess } from './settings.ts';
import { StagingArea } from './staging-area.ts';

interface OpenStore {
  /** The version of the row that it was opened for. */
  readonly version: string;
  readonly store: ObjectStore;
  /** Signs addresses for clients; undefined where they cannot reach the store. It sends nothing. */
  readonly signer: { readonly client: S3Client; readonly access: S3Access } | undefined;
}

/** The stores of all data sources, each with one client that is renewed when its row changed. */
export class ObjectStores {
  /** Place and keys of the data source `platform`. */
  readonly platformAccess: S3Access;
  /** For registering data sources. */
  readonly secrets: SecretBox;
  /** Where data sources may be. */
  readonly reach: ObjectReach;
  readonly #stores = new Map<number, OpenStore>();

  readonly #staging: StagingArea;
  readonly #downloadEndpoint: string | undefined;

  /**
   * @param staging where all of them buffer what they do not send at once
   * @param downloadEndpoint the address at which clients reach the store of `S3_ENDPOINT`
   */
  constructor(settings: ObjectVariables, staging = new StagingArea(), downloadEndpoint?: string) {
    this.#staging = staging;
    this.#downloadEndpoint = downloadEndpoint;
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
    return this.#opened(row).store;
  }

  /**
   * An address at which a client reads a whole object, or ranges of it, from the store itself, for
   * `limits.downloadAddressSeconds`. Undefined where clients cannot reach the store.
   * @param headers by lower-case name; the store answers with these of them
   * @throws ObjectStoreError when its keys cannot be decrypted, or nothing can be signed
   */
  async downloadAddress(
    row: DataSourceRow,
    objectKey: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<string | undefined> {
    const { signer } = this.#opened(row);
    if (signer === undefined) return undefined;
    const { bucket, key } = objectAt(signer.access, objectKey);
    const command = new GetObjectCommand({
      Bucket: bucket,
      Key: key,
      ResponseContentType: headers['content-type'],
      ResponseContentDisposition: headers['content-disposition'],
      ResponseContentEncoding: headers['content-encoding'],
      ResponseCacheControl: headers['cache-control'],
    });
    try {
      return await getSignedUrl(signer.client, command, { expiresIn: limits.downloadAddressSeconds });
    } catch (error) {
      throw toObjectStoreError(error);
    }
  }

  #opened(row: DataSourceRow): OpenStore {
    const known = this.#stores.get(row.id);
    // Each write encrypts anew, which distinguishes two writes within one millisecond.
    const version = `${row.updatedAt.getTime()} ${row.secretCiphertext}`;
    if (known?.version === version) return known;
    // The previous client is not closed: requests may be under way. Its idle connections time out.
    const access = this.#accessOf(row);
    const opened = { version, store: this.open(access), signer: this.#signerOf(access) };
    this.#stores.set(row.id, opened);
    return opened;
  }

  #signerOf(access: S3Access): OpenStore['signer'] {
    const endpoint = this.#downloadEndpoint;
    if (endpoint === undefined || access.endpoint !== this.platformAccess.endpoint) return undefined;
    return { client: openClient({ ...access, endpoint }, { inside: true }), access };
  }

  #accessOf(row: DataSourceRow): S3Access {
    try {
      return accessOf(row, this.platformAccess, this.secrets);
    } catch (error) {
      throw toObjectStoreError(error);
    }
  }

  close(): void {
    for (const { store, signer } of this.#stores.values()) {
      store.close();
      signer?.client.destroy();
    }
    this.#stores.clear();
  }
}
