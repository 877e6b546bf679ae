/**
 * Secrets under `SECRETS_KEY`: those that must be read again (keys of object stores) by AES-256-GCM, those that are only
 * compared (ingest secrets) by HMAC-SHA-256.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const version = 'v1';
const ivBytes = 12;
const tagBytes = 16;

/** Thrown when a stored secret cannot be read: another `SECRETS_KEY`, another purpose, or damaged text. */
export class SecretUnreadable extends Error {
  constructor(cause?: unknown) {
    super(
      'A stored secret cannot be decrypted with this SECRETS_KEY.',
      cause === undefined ? undefined : { cause },
    );
    this.name = 'SecretUnreadable';
  }
}

/** Encrypts and decrypts secrets; the text made is `v1.` and base64url of nonce, tag and ciphertext. */
export class SecretBox {
  readonly #key: Buffer;
  /** As a key object: every call with a runner token makes a digest, and bytes are imported anew each time. */
  readonly #digestKey: KeyObject;

  /** @param secretsKey value of `SECRETS_KEY`, any text with enough randomness in it; the key proper is derived from it */
  constructor(secretsKey: string) {
    if (secretsKey.length < 16) throw new Error('SECRETS_KEY must hold at least 16 characters.');
    this.#key = Buffer.from(hkdfSync('sha256', secretsKey, '', 'platform stored secrets v1', 32));
    const digestKey = hkdfSync('sha256', secretsKey, '', 'platform secret digests v1', 32);
    this.#digestKey = createSecretKey(Buffer.from(digestKey));
  }

  /** The stored digest of a secret that only has to be recognised; 32 bytes. */
  digest(secret: string, purpose: string): Buffer {
    return createHmac('sha256', this.#digestKey).update(`${purpose}\0${secret}`).digest();
  }

  /** @param purpose what the secret is for; decryption needs the same, so that texts cannot be swapped */
  encrypt(secret: string, purpose: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv, { authTagLength: tagBytes });
    cipher.setAAD(Buffer.from(purpose));
    const ciphertext = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return `${version}.${Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
  }

  canDecrypt(text: string, purpose: string): boolean {
    try {
      this.decrypt(text, purpose);
      return true;
    } catch {
      return false;
    }
  }

  /** @throws SecretUnreadable */
  decrypt(text: string, purpose: string): string {
    const [prefix, body] = text.split('.', 2);
    const bytes = Buffer.from(body ?? '', 'base64url');
    if (prefix !== version || bytes.length < ivBytes + tagBytes) throw new SecretUnreadable();
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(purpose));
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
    } catch (cause) {
      throw new SecretUnreadable(cause);
    }
  }
}
