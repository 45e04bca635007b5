/** The header that makes an answer a download. */

/**
 * `Content-Disposition` with the name in both forms. Source: RFC 6266, section 4.3, and RFC 8187, section 3.2.
 */
export function dispositionOf(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(fileName).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
