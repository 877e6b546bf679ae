// Neither XML nor spreadsheets allow these.
const unwritable =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Most texts have nothing that is escaped or left out. */
const plain = /^[\t\n\r !#-%'-;=?-~]*$/;

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as XML holds it. */
export function escapeXml(text: string): string {
  return plain.test(text)
    ? text
    : text.replace(unwritable, '').replace(/[&<>"]/g, (character) => entities[character]!);
}
