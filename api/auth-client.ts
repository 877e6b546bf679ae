/** The only way to identities (architecture 11). */
import type { Role } from '../domain/access.ts';

/** A person, or a device of a person, whose token the authentication service has just found valid. */
export type Principal = {
  readonly kind: 'access' | 'offline';
  readonly userId: string;
  readonly username: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly title: string;
  readonly company: string;
  readonly email: string;
  readonly role: Role;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly isActive: boolean;
  readonly isRegistrationComplete: boolean;
  readonly hasAcceptedDataPrivacy: boolean;
  readonly mustChangePassword: boolean;
  /** The token as sent, to ask the authentication service in the caller's own name. Never stored or logged. */
  readonly bearer: string;
};

export type AuthClient = {
  /**
   * The person behind an access or offline token, checked now; null when the token is unknown, expired or revoked.
   * Throws the `unavailable` problem when the check cannot be made.
   */
  identify(bearer: string, requestId: string): Promise<Principal | null>;
};
