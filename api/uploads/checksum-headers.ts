/** The headers by which the bytes of one request are checked, for the reference. */
import { textHeader } from '../../http/schemas.ts';

const sha256 = 'KlhPUBAEkdyjsXEAwA5BcJsoIK7IrdFKdUaUOKwaoTk=';

export const checksumHeaders = {
  'content-md5': textHeader('Base64 of the MD5 of the body; checked.', 'nfayejDJNFXO8DiaIG2bsQ=='),
  'x-amz-checksum-sha256': textHeader('Base64 of the SHA-256 of the body; checked.', sha256),
  'content-digest': textHeader(
    'The SHA-256 of the body in the form of RFC 9530; checked. Other algorithms are ignored.',
    `sha-256=:${sha256}:`,
  ),
  'repr-digest': textHeader('As `Content-Digest`.', `sha-256=:${sha256}:`),
};
