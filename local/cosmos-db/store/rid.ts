/** Resource ids (`_rid`): bytes in base64, with '-' for '/'. */

export function ridText(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('/', '-');
}

export function ridBytes(rid: string): Buffer {
  return Buffer.from(rid.replaceAll('-', '/'), 'base64');
}
