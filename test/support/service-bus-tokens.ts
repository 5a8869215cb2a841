import { createHmac } from 'node:crypto';

/** What a token is made of. */
export interface TokenParts {
  readonly resource: string;
  readonly keyName: string;
  readonly key: string;
  readonly expiresAt: number;
}

/** Signs a shared access token as an application that hands out tokens would. */
export function signToken({ resource, keyName, key, expiresAt }: TokenParts): string {
  const encoded = encodeURIComponent(resource);
  const expiry = Math.floor(expiresAt / 1000);
  const signature = createHmac('sha256', key).update(`${encoded}\n${expiry}`).digest('base64');
  return `SharedAccessSignature sr=${encoded}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=${keyName}`;
}

/** A connection string with this key. */
export function connectionStringOf(port: number, keyName: string, key: string): string {
  const account = `SharedAccessKeyName=${keyName};SharedAccessKey=${key}`;
  return `Endpoint=sb://127.0.0.1:${port};${account};UseDevelopmentEmulator=true`;
}
