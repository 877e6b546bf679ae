/** The metadata of an output as a header. */

/**
 * UTF-8 bytes, one character each, as HTTP wants them. No header may hold DEL, which JSON text may.
 * @param json without line breaks
 */
export function metadataHeader(json: string): string {
  return Buffer.from(json.replaceAll('\u007f', '\\u007f'), 'utf8').toString('latin1');
}
