/** What uniqueness, sign-in and look-ups go by: trimmed, NFC, in lower case. */
export const usernameKey = (username: string): string => username.trim().normalize('NFC').toLowerCase();
export const emailKey = usernameKey;
