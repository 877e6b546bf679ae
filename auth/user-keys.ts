/** The keys for uniqueness, sign-in and lookups: trimmed, NFC, in lower case. */
export const usernameKey = (username: string): string => username.trim().normalize('NFC').toLowerCase();
export const emailKey = usernameKey;
